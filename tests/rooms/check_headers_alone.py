"""Each header compiles alone: who includes it need include nothing before. One that a source of the same
name includes first was compiled so by the build, if that source is not compiled together with others; the other
headers are compiled here, with the options of a source that includes them.

    check_headers_alone.py BUILD [HEADER ...]"""

import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from os.path import relpath
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
NOT_ALONE = {
    # For one version of UCX each.
    "tests/scripted-transport/internals_1_13.hpp",
    "tests/scripted-transport/internals_1_18.hpp",
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


def options_of(entry):
    words = shlex.split(entry["command"])
    kept, passes_over = [], False
    for word in words:
        if passes_over:
            passes_over = False
        elif word in ("-o", "-c", "-MQ", "-MF", "-MT"):
            passes_over = True
        elif word not in ("-MD", "-MMD", "-Winvalid-pch"):
            kept.append(word)
    return kept


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


def failure_of(header, entry, folder):
    language = "c" if entry["file"].endswith(".c") else "cpp"
    source = folder / f"{header.replace('/', '_')}.{language}"
    source.write_text(f'#include "{header}"\n')
    # A header of static functions uses none of them.
    # Of a check of syntax a compiler cache keeps nothing, but it takes two thirds of the time of an object.
    command = [*options_of(entry), "-I" + relpath(ROOT, entry["directory"]), "-Wno-unused-function", "-Wno-unused-variable",
               *(["-Werror=implicit-function-declaration"] if language == "c" else []),
               "-fsyntax-only", relpath(source, entry["directory"])]
    done = subprocess.run(command, cwd=entry["directory"], check=False, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return f"{header}:\n{done.stderr}" if done.returncode != 0 else None


# Of test programs, which are compiled for each MPI beside the build.
FOR_C = {"directory": str(ROOT), "file": "none.c",
         "command": "mpicc.openmpi -I. -Itests/virtual-gpu/include -std=gnu11"}
FOR_CPP = {"directory": str(ROOT), "file": "none.cpp", "command": "c++ -I. -std=c++20"}


def main(build, *chosen):
    # A source that is compiled several times is looked through once.
    entries = {entry["file"]: entry for entry in json.loads(Path(build, "compile_commands.json").read_text())}
    known = includers(entries.values())
    together = compiled_together(build)
    headers = [h for h in chosen or headers_of_the_tree() if h not in NOT_ALONE and not is_included_first(h, together)]
    entry_of = {h: known.get(h, FOR_C if h.endswith(".h") else FOR_CPP) for h in headers}
    folder = Path(build, "headers-alone").resolve()
    folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(cpu_count()) as pool:
        failures = [f for f in pool.map(lambda h: failure_of(h, entry_of[h], folder), headers) if f]
    print(f"{len(headers)} headers compiled alone, {len(failures)} do not compile")
    print(*failures, sep="\n")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
