"""Each header compiles alone: an includer need not include anything before it. A header that a source of the same name
includes first was checked by the build, if that source is not compiled together with others; the other headers are
compiled here, with the options of a source that includes them: C++ by clang, if it is there, as what it precompiles
takes less than half of the time (precompiled.py).

    check_headers_alone.py BUILD [HEADER ...]"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from os import cpu_count
from os.path import relpath
from pathlib import Path

import precompiled

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
NOT_ALONE = {
    # For one version of UCX each.
    "tests/scripted-transport/internals_1_13.hpp",
    "tests/scripted-transport/internals_since_1_18.hpp",
    # With fail() and allocate() of common.h or of gpu_pair.h.
    "tests/programs/device_memory.h",
    # With check() and make_buffer() of ucp_pair.h.
    "tests/programs/vendor_memory.h",
}


def headers_of_the_tree():
    skipped = {".git", "build", "node_modules", "uctrace.data"}
    for path in sorted(ROOT.rglob("*.h*")):
        name = path.relative_to(ROOT)
        if path.suffix in (".h", ".hpp") and not skipped & set(name.parts):
            yield str(name)


def names_of(header):
    """How a source may include it."""
    return {header, Path(header).name}


def compiled_together(build):
    """Sources that scripts/compile-together gave to the compiler with others of their folder."""
    return {ROOT / name for unit in Path(build, "together").rglob("*.cpp") for name in INCLUDE.findall(unit.read_text())}


def is_included_first(header, together):
    source = next((s for s in (ROOT / header).parent.glob(Path(header).stem + ".c*") if s not in together), None)
    first = INCLUDE.search(source.read_text()) if source else None
    return first is not None and first.group(1) in names_of(header)


def compiles(compiler):
    """Clang may be installed, but find no C++ library, or one that is too new for it."""
    return shutil.which(compiler) and subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input="#include <filesystem>\n#include <ranges>\n",
        text=True, check=False, capture_output=True).returncode == 0


@cache
def clang():
    return next(filter(compiles, ("clang++", *(f"clang++-{version}" for version in (19, 16, 15, 14)))), None)


WITH_THEIR_WORD = ("-o", "-c", "-MQ", "-MF", "-MT")


def options_of(entry):
    """Without the options for the object file."""
    kept, passes_over = [], False
    for word in shlex.split(entry["command"]):
        if passes_over:
            passes_over = False
        elif word in WITH_THEIR_WORD:
            passes_over = True
        # A compiler cache does not cache a syntax check.
        elif word not in ("-MD", "-MMD", "-Winvalid-pch", "ccache") and not word.startswith("-fsanitize"):
            kept.append(word)
    return kept


def clang_options(entries):
    """{file of an entry: options}: few different ones, so that many share what is precompiled. Folders for objects, and
    folders of sources, are left out: no header includes by a bare name from them."""
    of = {entry["file"]: options_of(entry) for entry in entries if not entry["file"].endswith(".c")}
    folders = sorted({word for options in of.values() for word in options
                      if re.fullmatch(r"-I(/.*|.*/include|mpi-attribution|\.\.?)", word)})
    return {file: [*(word for word in options if re.match("-[DU]|-std=", word)), *folders, "-Wall", "-Wextra", "-Werror"]
            for file, options in of.items()}


def includers(entries):
    """{header: a compile command of a source that includes it, or of a header's includer}"""
    included = {}
    for entry in entries:
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        seen, unread = set(), [source]
        while unread:
            path = unread.pop()
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                for found in (ROOT / name, path.parent / name):
                    if found.is_file() and found not in seen:
                        seen.add(found)
                        unread.append(found)
        for path in seen:
            if path.resolve().is_relative_to(ROOT):
                included.setdefault(str(path.resolve().relative_to(ROOT)), entry)
    return included


class Compilation:
    """Of a header by itself, with the options of `entry`; in C++ by clang, if `clang_with` names its options."""

    def __init__(self, header, entry, clang_with):
        self.header, self.directory = header, entry["directory"]
        self.is_c = entry["file"].endswith(".c")
        self.may_precompile = entry["file"] in clang_with
        options = [clang(), "-Wno-unknown-attributes", *clang_with[entry["file"]]] if self.may_precompile else options_of(entry)
        self.command = [*options, "-I" + relpath(ROOT, self.directory)]

    def failure(self, folder, given):
        """The compiler's errors, or None. `given`: options for what is precompiled."""
        source = folder / f"{self.header.replace('/', '_')}.{'c' if self.is_c else 'cpp'}"
        source.write_text(f'#include "{self.header}"\n')
        # A header of static functions uses none of them.
        command = [*self.command, *given, "-Wno-unused-function", "-Wno-unused-variable",
                   *(["-Werror=implicit-function-declaration"] if self.is_c else []),
                   "-fsyntax-only", relpath(source, self.directory)]
        done = subprocess.run(command, cwd=self.directory, check=False, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return f"{self.header}:\n{done.stderr}" if done.returncode != 0 else None


def precompile(compilations, folder, pool):
    """{header: options for what is precompiled for it}"""
    by_options = {}
    for c in compilations:
        if c.may_precompile:
            by_options.setdefault((c.directory, *c.command), []).append(c)
    wanted = [(same[0], header, names) for same in by_options.values()
              for header, names in precompiled.choose(ROOT, [c.header for c in same]).items()]
    files, made = {}, {}
    for first, _, names in wanted:
        key = (first, names)
        if key not in files:
            files[key] = folder / f"precompiled_{len(files)}.pch"
            made[key] = pool.submit(precompiled.make, first.command, names, files[key], first.directory)
    return {header: ["-include-pch", str(files[first, names])]
            for first, header, names in wanted if made[first, names].result()}


# Of test programs, which are compiled for each MPI beside the build.
FOR_C = {"directory": str(ROOT), "file": "none.c",
         "command": "mpicc.openmpi -I. -Itests/virtual-gpu/include -std=gnu11"}
FOR_CPP = {"file": "none.cpp", "command": "c++ -std=c++20"}  # in the folder of the build


def main(build, *chosen):
    # A source that is compiled several times is scanned once.
    entries = {entry["file"]: entry for entry in json.loads(Path(build, "compile_commands.json").read_text())}
    known = includers(entries.values())
    together = compiled_together(build)
    headers = [h for h in chosen or headers_of_the_tree() if h not in NOT_ALONE and not is_included_first(h, together)]
    for_cpp = FOR_CPP | {"directory": str(Path(build).resolve())}
    clang_with = clang_options([*entries.values(), for_cpp]) if clang() else {}
    compilations = [Compilation(h, known.get(h, FOR_C if h.endswith(".h") else for_cpp), clang_with) for h in headers]
    folder = Path(build, "headers-alone").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with ThreadPoolExecutor(cpu_count()) as pool:
        given = precompile(compilations, folder, pool)
        answers = pool.map(lambda c: c.failure(folder, given.get(c.header, [])), compilations)
        failures = [failure for failure in answers if failure]
    print(f"C++ by {clang() or 'the compiler of the build'}")
    print(f"{len(headers)} headers compiled alone, {len(failures)} do not compile")
    print(*failures, sep="\n")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
