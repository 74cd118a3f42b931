#!/usr/bin/env python3
"""Compares the MPI tables with the MPI libraries installed here.

For each library: every measured function exists under its MPI and PMPI name, has the number of
arguments that the table gives it, and each role stands at an argument of the right type and name;
the constants of the flavour are those of mpi.h. Exits with 77 if a library is not installed (the
others are checked all the same).
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MPI_ROOM = Path(__file__).resolve().parents[2] / "mpi-attribution"
sys.path.insert(0, str(MPI_ROOM))
sys.dont_write_bytecode = True
import generate_wrappers as tables  # noqa: E402

COMPILERS = {"Open MPI": "mpicc.openmpi", "MPICH": "mpicc.mpich"}

# role: (type, pattern of the parameter's name)
ROLE_PARAMETERS = {
    "comm": ("MPI_Comm", r"comm(_old)?|old_comm|local_comm|intercomm"),
    "count": ("int", r"count|sendcount|origin_count"),
    "datatype": ("MPI_Datatype", r"datatype|sendtype|type|origin_datatype"),
    "peer": ("int", r"dest|source|target_rank|rank"),
    "tag": ("int", r"tag|sendtag"),
    "recv_count": ("int", r"recvcount|result_count"),
    "recv_datatype": ("MPI_Datatype", r"recvtype|result_datatype"),
    "recv_peer": ("int", r"source"),
    "recv_tag": ("int", r"recvtag"),
    "new_comm": ("MPI_Comm*", r"\w*comm\w*"),
    "comm_at": ("MPI_Comm*", r"comm"),
    "name": ("const char*", r"comm_name"),
    "window": ("MPI_Win", r"win"),
    "window_at": ("MPI_Win*", r"win"),
    "new_window": ("MPI_Win*", r"win"),
    "op": ("MPI_Op", r"op"),
}

INTEGERS = {"handle_bytes": "sizeof(MPI_Comm)", "proc_null": "MPI_PROC_NULL",
            "any_source": "MPI_ANY_SOURCE", "any_tag": "MPI_ANY_TAG", "undefined": "MPI_UNDEFINED"}
HANDLES = {"comm_null": "MPI_COMM_NULL", "comm_self": "MPI_COMM_SELF",
           "comm_world": "MPI_COMM_WORLD", "datatype_null": "MPI_DATATYPE_NULL",
           "no_op": "MPI_NO_OP"}
HANDLE_TYPES = {"datatype_null": "MPI_Datatype", "no_op": "MPI_Op"}  # of the others: MPI_Comm


def prototypes(compiler):
    """{name: [declaration of a parameter]} of mpi.h."""
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n",
                          capture_output=True, text=True, check=True).stdout
    # No attribute in mpi.h nests parentheses more than three deep.
    text = re.sub(r"__attribute__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", text)
    found = re.findall(r"\bint\s+(P?MPI_\w+)\s*\(([^;{}]*)\)\s*;", text)
    return {name: [] if parameters.strip() == "void" else parameters.split(",")
            for name, parameters in found}


def type_and_name(declaration):
    """Of a named parameter; an array counts as a pointer."""
    kind, name, dimensions = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)",
                                          " ".join(declaration.split())).groups()
    return re.sub(r"\s*\*\s*", "*", kind + "*" * dimensions.count("[")).strip(), name


def check_roles(function, parameters):
    for position, (role, declaration) in enumerate(zip(function.roles, parameters)):
        if role == "-":
            continue
        kind, name = type_and_name(declaration)
        expected_kind, expected_name = ROLE_PARAMETERS[role]
        if kind != expected_kind or not re.fullmatch(expected_name, name):
            yield f"{function.name}: argument {position}, '{kind} {name}', cannot be its {role}"


def check_functions(compiler, functions):
    declared = prototypes(compiler)
    for function in functions:
        for name in (function.name, "P" + function.name):
            if name not in declared:
                yield f"{name} is not in mpi.h"
            elif len(declared[name]) != len(function.roles):
                yield (f"{name} has {len(declared[name])} arguments, "
                       f"the table says {len(function.roles)}")
            elif name == function.name:  # PMPI parameters may have no names
                yield from check_roles(function, declared[name])


def probe_source(functions):
    """A program that prints the constants, and the names that the library does not export."""
    integers = "\n".join(f'printf("{key} %d\\n", (int){value});' for key, value in INTEGERS.items())
    handles = "\n".join(
        f'printf("{key} %#lx\\n", word(&(union handle){{.{key} = {value}}}));'
        for key, value in HANDLES.items())
    fields = "\n".join(
        f"{HANDLE_TYPES.get(key, 'MPI_Comm')} {key};" for key in HANDLES)
    names = "\n".join(f'missing("MPI_{f.name[4:]}"); missing("P{f.name}");' for f in functions)
    return f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
union handle {{ {fields} }};
static unsigned long word(const union handle* h) {{
  if (sizeof(MPI_Comm) == 4) {{ uint32_t w; memcpy(&w, h, 4); return w; }}
  uint64_t w; memcpy(&w, h, 8); return w;
}}
static void missing(const char* name) {{ if (!dlsym(RTLD_DEFAULT, name)) printf("missing %s\\n", name); }}
int main(int argc, char** argv) {{
  char version[MPI_MAX_LIBRARY_VERSION_STRING]; int length;
  {integers}
  {handles}
  {names}
  for (int i = 1; i < argc; ++i) printf("symbol %s %#lx\\n", argv[i], (unsigned long)dlsym(RTLD_DEFAULT, argv[i]));
  MPI_Get_library_version(version, &length);
  printf("version %s\\n", strtok(version, "\\n"));
  return 0;
}}
"""


def run_probe(compiler, functions, symbols):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(probe_source(functions), encoding="utf-8")
        subprocess.run([compiler, "-w", str(source), "-o", str(program)], check=True)
        lines = subprocess.run([str(program), *symbols], capture_output=True, text=True, check=True)
    return [line.split(" ", 1) for line in lines.stdout.splitlines()]


def check_library(compiler, functions, constants):
    symbols = [constants[key] for key in HANDLES if not constants[key].startswith("0x")]
    answers = run_probe(compiler, functions, symbols)
    for name in (text for key, text in answers if key == "missing"):
        yield f"{name} is not exported"
    actual = dict(pair for pair in answers if pair[0] not in ("missing", "symbol"))
    address = dict(text.split() for key, text in answers if key == "symbol")
    for key in INTEGERS:
        if actual[key] != constants[key]:
            yield f"{key} is {actual[key]}, the table says {constants[key]}"
    for key in HANDLES:
        expected = address.get(constants[key], constants[key])
        if int(actual[key], 16) != int(expected, 16):
            yield f"{key} is {actual[key]}, the table says {constants[key]} ({expected})"
    versions = constants["versions"]
    if versions != "-" and not any(text in actual["version"] for text in versions.split("|")):
        yield f"version '{actual['version']}' holds none of {versions}"


def main():
    functions = tables.read_functions(MPI_ROOM / "mpi_functions.txt")
    flavours = tables.read_flavours(MPI_ROOM / "mpi_flavours.txt")
    problems, absent = [], []
    for flavour, constants in flavours.items():
        compiler = COMPILERS[flavour]
        if shutil.which(compiler) is None:
            absent.append(compiler)
            continue
        found = [*check_functions(compiler, functions),
                 *check_library(compiler, functions, constants)]
        problems += [f"{flavour}: {problem}" for problem in found]
        print(f"{flavour}: {len(functions)} functions, {len(found)} problems")
    print(*problems, sep="\n", end="\n" if problems else "")
    if problems:
        return 1
    if absent:
        print(f"skipped: {', '.join(absent)} not installed")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
