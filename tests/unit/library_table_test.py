#!/usr/bin/env python3
"""Compares the tables of libraries above UCX with the headers that are installed here.

Every function that a header declares is measured, or stands with a reason in the list of those that are not.
A measured one has the number of arguments that the table gives it, and each role stands at an argument of the
right type; elements are of the type that the header has; the library has the function. Exits with 77 if no
OpenSHMEM is installed (the table itself is checked all the same).
"""

import fnmatch
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOM = Path(__file__).resolve().parents[2] / "library-attribution"
sys.path[:0] = [str(ROOM)]
sys.dont_write_bytecode = True
import generate_wrappers  # noqa: E402
import library_tables as tables  # noqa: E402

NUMBERS_OF = {"float": "float", "double": "double", "long double": "long double"}
ROLE_TYPES = {
    "pe": r"int",
    "nelems": r"size_t",
    "count": r"int",
    "bytes": r"size_t",
    "scope": r"shmem_(ctx|team)_t",
    "new_scope": r"shmem_(ctx|team)_t\*",
}
ROLE_NAMES = {"pe": r"pe|PE_root"}
# The number of processes in an active set, which no role takes, is an int as well.
VALUES = r"value|cond"
RESULT_OF = {"": r"void\*?|int", "status": r"int"}
NAMES_OF_TYPES = {"unsigned": "unsigned int"}
ABSENT = {"shmem_broadcast", "shmemx_alltoall_global_nb"}  # declared, in no library


def declared(text):
    """{name: (result, [(type, name)])} of a preprocessed header, types without const and volatile."""
    functions = {}
    for result, name, parameters in re.findall(
            r"([\w\s*]+?)\b(shmemx?_\w+|_?(?:my|num)_pes?|start_pes|sh(?:mem)?(?:m|re)?alloc|shmemalign|shfree|globalexit)"
            r"\s*\(([^()]*)\)\s*;", text):
        arguments = []
        for parameter in re.split(r"\s*,\s*", parameters.strip()):
            parameter = re.sub(r"\b(const|volatile)\b", "", parameter)
            if found := re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", parameter, re.S):
                arguments.append((plain(found[1]), found[2]))
        functions[name] = plain(re.sub(r".*\b(extern|__attribute__)\b", "", result, flags=re.S)), arguments
    return functions


def plain(c_type):
    return re.sub(r"\s*\*", "*", " ".join(c_type.split()))


def header_functions(compiler):
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], text=True, capture_output=True, check=True,
                          input="#include <shmem.h>\n#include <shmemx.h>\n").stdout
    return declared(text)


def not_measured():
    for _, line in tables.table_lines(ROOM / "openshmem_not_measured.txt"):
        if not line.startswith("["):
            yield line


def types_differ(function, number, role, c_type):
    if role == "value":
        wanted = NAMES_OF_TYPES.get(function.element, function.element)
        return c_type != wanted and (wanted, c_type) not in SAME_TYPES
    return role in ROLE_TYPES and not re.fullmatch(ROLE_TYPES[role], c_type)


SAME_TYPES = set()


def differences(function, result, arguments):
    """What the header says otherwise than the table."""
    if len(arguments) != len(function.roles):
        yield f"{len(arguments)} arguments, not {len(function.roles)}"
        return
    for number, (role, (c_type, name)) in enumerate(zip(function.roles, arguments)):
        if types_differ(function, number, role, c_type):
            yield f"argument {number} is a {c_type}, not what {role} is"
        if role in ROLE_NAMES and not re.fullmatch(ROLE_NAMES[role], name):
            yield f"argument {number} is {name}, not a {role}"
        if role == "-" and name in ("pe", "PE_root", "ctx", "len", "nelems", "nlong", "nreduce", "size"):
            yield f"argument {number} ({name}) has no role"
        if role == "-" and c_type in ("float", "double", "long double"):
            yield f"argument {number} is a {c_type}: it needs the role value"
    pointers = {c_type.rstrip("*") for c_type, _ in arguments if c_type.endswith("*")} - {"void"}
    if function.element and not function.element.isdigit() and pointers:
        wanted = NAMES_OF_TYPES.get(function.element, function.element)
        if wanted not in pointers:
            yield f"its elements are {', '.join(sorted(pointers))}, not {wanted}"
        if function.result == "element" and result != wanted:
            yield f"it returns {result}, not {wanted}"
    if function.result in RESULT_OF and not re.fullmatch(RESULT_OF[function.result], result):
        yield f"it returns {result}"
    if result in ("float", "double", "long double") and function.result != "element":
        yield f"it returns a {result}: the wrapper must say so"


def sizes_differ(library):
    """Elements with a number of bytes have the one of their name."""
    for function in library.functions:
        found = re.search(r"(?<!\w)shmem_\w*?(8|16|32|64|128)(_|$)", function.name)
        if found and function.element.isdigit() and int(function.element) * 8 != int(found[1]):
            yield f"{function.name}: an element has {function.element} bytes"


def check_header(library, compiler):
    measured = {function.name: function for function in library.functions}
    header = header_functions(compiler)
    if len(header) < 800:
        yield f"{compiler}: only {len(header)} functions were found in its header"
    patterns = list(not_measured())
    for name, (result, arguments) in sorted(header.items()):
        listed = any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        if name in measured and listed:
            yield f"{name} is measured, and listed as not measured"
        elif name in measured:
            yield from (f"{name}: {text}" for text in differences(measured[name], result, arguments))
        elif not listed:
            yield f"{name} is neither measured nor listed as not measured"
    yield from missing_in_library(measured, header, compiler)


def missing_in_library(measured, header, compiler):
    command = subprocess.run([compiler, "--showme:libdirs"], text=True, capture_output=True, check=True).stdout.split()
    found = [path for folder in command for path in Path(folder).glob("liboshmem.so")]
    if not found:
        return
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(found[0])], text=True, capture_output=True,
                             check=True).stdout
    exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
    for name in sorted(set(header) & set(measured) - exported - ABSENT):
        yield f"{name} is declared, measured, and not in {found[0].name}"


def check_generated(library):
    """What is passed on: floating numbers as such, and nothing else in their registers."""
    by_name = {function.name: function for function in library.functions}
    expected = {
        "shmem_double_p": ("Word", ["Word a0", "double a1", "Word a2"], "sizeof(double)"),
        "shmem_ctx_longdouble_g": ("long double", ["Word a0", "Word a1", "Word a2"], "sizeof(long double)"),
        "shmem_put128": ("Word", ["Word a0", "Word a1", "Word a2", "Word a3"], "a2 * 16"),
        "shmem_calloc": ("Word", ["Word a0", "Word a1"], "a0 * a1"),
        "shmem_int_sum_to_all": ("Word", [f"Word a{i}" for i in range(8)], "count_of(a2) * sizeof(int)"),
        "shmem_barrier_all": ("Word", [], None),
    }
    for name, (result, parameters, amount) in expected.items():
        function = by_name[name]
        made = (generate_wrappers.result_type(function), generate_wrappers.parameters(function),
                generate_wrappers.bytes_of(function))
        if made != (result, parameters, amount):
            yield f"{name}: the wrapper has {made}"


def check_faults():
    """A table that is wrong is refused."""
    for line, complaint in (("f put nelems", "elements"), ("f what -", "class"), ("f put what", "role"),
                            ("f init:what", "result"), ("f put pe pe", "twice"), ("{f,f} init", "twice"),
                            ("<none>_f init", "understood")):
        path = Path("/dev/stdin")
        script = (f"import sys; sys.path[:0] = [{str(ROOM)!r}]; import library_tables as t\n"
                  f"try: t.read_library({str(path)!r}); print('accepted')\n"
                  "except t.TableError as error: print(error)")
        told = subprocess.run([sys.executable, "-B", "-c", script], input=f"library L\n{line}\n", text=True,
                              capture_output=True, check=True).stdout
        if complaint not in told:
            yield f"{line!r}: {told}"


def main():
    library = tables.read_library(ROOM / "openshmem_functions.txt")
    faults = [*sizes_differ(library), *check_generated(library), *check_faults()]
    compiler = shutil.which("oshcc")
    if compiler is not None:
        faults += check_header(library, compiler)
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} faults")
    if compiler is None:
        print("no OpenSHMEM is installed: its header was not checked")
        sys.exit(77)


if __name__ == "__main__":
    main()
