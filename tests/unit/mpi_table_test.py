#!/usr/bin/env python3
"""Compares the MPI tables with the MPI libraries installed here.

For each library: every measured function exists under its MPI and PMPI name, unless it is optional,
has the number of arguments that the table gives it, and each role stands at an argument of the right
type and name; the constants of the flavour are those of mpi.h. Those of the standard ABI are also
compared with mpi_abi_values.txt, which needs no library. Every function that a header declares
is measured, or stands with a reason in not_measured.txt. Exits with 77 if a library is not installed (the
others are checked all the same).
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MPI_ROOM = Path(__file__).resolve().parents[2] / "mpi-attribution"
sys.path[:0] = [str(MPI_ROOM), str(Path(__file__).resolve().parents[1])]
sys.dont_write_bytecode = True
import mpi_tables as tables  # noqa: E402
import standard_abi  # noqa: E402

COMPILERS = {"Open MPI": "mpicc.openmpi", "MPICH": "mpicc.mpich"}

# role: (type, pattern of the parameter's name)
ROLE_PARAMETERS = {
    "root": ("int", r"root"),
    "big_count": ("MPI_Count", r"count|sendcount|origin_count"),
    "recv_big_count": ("MPI_Count", r"recvcount|result_count"),
    "big_counts": ("const MPI_Count*", r"sendcounts"),
    "recv_big_counts": ("const MPI_Count*", r"recvcounts"),
    "partitions": ("int", r"partitions"),
    "partition": ("int", r"partitions?|partition_low"),
    "last_partition": ("int", r"partition_high"),
    "partition_count": ("int", r"length"),
    "partition_list": ("(const )?int*", r"array_of_partitions|partition_list"),
    "tag_text": ("const char*", r"(string)?tag"),
    "counts": ("const int*", r"sendcounts"),
    "recv_counts": ("const int*", r"recvcounts"),
    "types": ("const MPI_Datatype*", r"sendtypes"),
    "recv_types": ("const MPI_Datatype*", r"recvtypes"),
    "sendbuf": ("const void*", r"sendbuf"),
    "recvbuf": ("void*", r"recvbuf"),
    "new_request": ("MPI_(Request|Message)*", r"request|message"),
    "request_at": ("MPI_(Request|Message)*", r"request|message"),
    "request": ("MPI_Request", r"request"),
    "requests": ("MPI_Request*", r"(array_of_)?requests"),
    "request_count": ("int", r"count|incount"),
    "probed": ("MPI_Message*", r"message"),
    "flag_at": ("int*", r"flag"),
    "index_at": ("int*", r"index|indx"),
    "ended_count_at": ("int*", r"outcount"),
    "ended": ("int*", r"array_of_indices"),
    "comm": ("MPI_Comm", r"comm(_old)?|old_comm|local_comm|intercomm"),
    "count": ("int", r"count|sendcount|origin_count"),
    "datatype": ("MPI_Datatype", r"datatype|sendtype|type|origin_datatype"),
    "peer": ("int", r"dest|source|target_rank|rank"),
    "tag": ("int", r"tag|sendtag|lock_type"),
    "recv_count": ("int", r"recvcount|result_count"),
    "recv_datatype": ("MPI_Datatype", r"recvtype|result_datatype"),
    "recv_peer": ("int", r"source"),
    "recv_tag": ("int", r"recvtag"),
    "new_comm": ("MPI_Comm*", r"\w*comm\w*"),
    "comm_at": ("MPI_Comm*", r"comm"),
    "name": ("const char*", r"comm_name"),
    "file": ("MPI_File", r"fh|mpi_fh"),
    "file_at": ("MPI_File*", r"fh|mpi_fh"),
    "new_file": ("MPI_File*", r"fh|mpi_fh"),
    "window": ("MPI_Win", r"win"),
    "window_at": ("MPI_Win*", r"win"),
    "new_window": ("MPI_Win*", r"win"),
    "new_session": ("MPI_Session*", r"session"),
    "session_at": ("MPI_Session*", r"session"),
    "type_at": ("MPI_Datatype*", r"datatype|type"),
    "op": ("MPI_Op", r"op"),
}

INTEGERS = {"handle_bytes": "sizeof(MPI_Comm)", "proc_null": "MPI_PROC_NULL",
            "any_source": "MPI_ANY_SOURCE", "any_tag": "MPI_ANY_TAG", "undefined": "MPI_UNDEFINED",
            "root": "MPI_ROOT", "in_place": "(long)MPI_IN_PLACE", "cartesian": "MPI_CART",
            "graph": "MPI_GRAPH", "distributed_graph": "MPI_DIST_GRAPH",
            **{f"thread_{level.lower()}": f"MPI_THREAD_{level}"
               for level in ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")},
            "t_memory": "MPI_T_ERR_MEMORY", "t_invalid": "MPI_T_ERR_INVALID",
            "t_invalid_index": "MPI_T_ERR_INVALID_INDEX",
            "t_invalid_session": "MPI_T_ERR_INVALID_SESSION",
            "t_invalid_handle": "MPI_T_ERR_INVALID_HANDLE",
            "t_out_of_handles": "MPI_T_ERR_OUT_OF_HANDLES", "t_no_write": "MPI_T_ERR_PVAR_NO_WRITE",
            "t_no_startstop": "MPI_T_ERR_PVAR_NO_STARTSTOP",
            "t_no_atomic": "MPI_T_ERR_PVAR_NO_ATOMIC", "t_size": "MPI_T_PVAR_CLASS_SIZE",
            "t_counter": "MPI_T_PVAR_CLASS_COUNTER", "t_aggregate": "MPI_T_PVAR_CLASS_AGGREGATE",
            "t_generic": "MPI_T_PVAR_CLASS_GENERIC", "t_user_basic": "MPI_T_VERBOSITY_USER_BASIC",
            "t_tuner_basic": "MPI_T_VERBOSITY_TUNER_BASIC",
            "t_mpidev_all": "MPI_T_VERBOSITY_MPIDEV_ALL", "t_no_object": "MPI_T_BIND_NO_OBJECT",
            "t_comm": "MPI_T_BIND_MPI_COMM", "t_local": "MPI_T_SCOPE_LOCAL"}
# Of MPICH 5.0: what a header declares and the library does not have.
NOT_EXPORTED = {("MPICH, standard ABI", "PMPI_File_close")}
# What public headers of the standard ABI declare, and no library that is supported has yet.
ONLY_IN_THE_STANDARD = {"MPI_Psend_init_c", "MPI_Precv_init_c"}
# Removed by MPI 3: Open MPI declares them in a way that prevents their use.
REMOVED_COMBINERS = {"hvector_integer", "hindexed_integer", "struct_integer"}
HANDLES = {"comm_null": "MPI_COMM_NULL", "comm_self": "MPI_COMM_SELF",
           "comm_world": "MPI_COMM_WORLD", "datatype_null": "MPI_DATATYPE_NULL",
           "no_op": "MPI_NO_OP", "request_null": "MPI_REQUEST_NULL", "byte": "MPI_BYTE",
           "errors_return": "MPI_ERRORS_RETURN", "char": "MPI_CHAR", "int": "MPI_INT",
           "unsigned_long": "MPI_UNSIGNED_LONG"}
# A handle of MPI_T: a number, or what a variable holds.
ALL_HANDLES = "t_all_handles"
HANDLE_TYPES = {"char": "MPI_Datatype", "int": "MPI_Datatype", "unsigned_long": "MPI_Datatype",
                "datatype_null": "MPI_Datatype", "no_op": "MPI_Op",
                "request_null": "MPI_Request", "byte": "MPI_Datatype",
                "errors_return": "MPI_Errhandler"}  # of the others: MPI_Comm


class Library:
    """An MPI that is installed here."""

    def __init__(self, name, flavour, compiler, libraries=(), environment=None):
        self.name, self.flavour = name, flavour
        self.compiler = compiler  # a command with its options
        self.libraries = list(libraries)
        self.environment = environment  # of programs

    def preprocess(self, text, *options):
        return subprocess.run([*self.compiler, "-E", "-P", *options, "-x", "c", "-"], input=text,
                              capture_output=True, text=True, check=True).stdout

    def build(self, source, program):
        subprocess.run([*self.compiler, "-w", str(source), *self.libraries, "-o", str(program)],
                       check=True)


def installed_libraries(folder):
    """And which that every machine of ours has are not installed."""
    found = [Library(flavour, flavour, [compiler]) for flavour, compiler in COMPILERS.items()
             if shutil.which(compiler)]
    absent = [compiler for compiler in COMPILERS.values() if shutil.which(compiler) is None]
    for abi in standard_abi.installed():
        place = abi.link_as_soname(folder / abi.name)
        found.append(Library(f"{abi.name}, standard ABI", "MPI standard ABI",
                             ["cc", f"-I{abi.include}"], [str(abi.library)],
                             {**os.environ, "LD_LIBRARY_PATH": str(place)}))
    return found, absent


def prototypes(library):
    """{name: [declaration of a parameter]} of mpi.h."""
    text = library.preprocess(
        "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n")
    # No attribute in mpi.h nests parentheses more than three deep.
    text = re.sub(r"__attribute__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", text)
    found = re.findall(r"\b(?:int|double|MPI_\w+)\s+\*?\s*(P?MPIX?_[A-Z]\w*)\s*\(([^;{}]*)\)\s*;", text)
    return {name: [] if parameters.strip() == "void" else parameters.split(",")
            for name, parameters in found}


def read_not_measured(path):
    """The patterns of names, and what is wrong with the list."""
    names, problems = [], []
    for place, line in tables.table_lines(path):
        if line.startswith("["):
            continue
        if line in names:
            problems.append(f"{place}: {line} is listed twice")
        names.append(line)
    return names, problems


def is_oldest(library):
    """Whether this is the oldest version of its library that is supported: what it has, all have. Of
    newer ones nothing follows for the table, which holds for all versions."""
    text = library.preprocess("#include <mpi.h>\nOMPI_MAJOR_VERSION MPICH_NUMVERSION")
    version = text.split()[-2:]
    return version[0] == "4" or (version[1].isdigit() and int(version[1]) < 40100000)


def check_coverage(declared, functions, not_measured, *, all_are_oldest):
    """Of all libraries: {name: parameters} by library."""
    measured = {function.name: function for function in functions}
    found = {name for names in declared.values() for name in names if not name.startswith("P")}
    for name in sorted(found - set(measured)):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in not_measured):
            yield f"{name} is neither measured nor in not_measured.txt"
    for pattern in not_measured:
        if pattern in measured:
            yield f"{pattern} is measured, and in not_measured.txt"
    if not all_are_oldest:
        return  # which functions are in all is not known
    for name, function in measured.items():
        libraries = [library for library, names in declared.items() if name in names]
        if function.optional and len(libraries) == len(declared):
            yield f"{name} is in every library, and stands behind [optional]"
        elif not libraries and name not in ONLY_IN_THE_STANDARD:
            yield f"{name} is in no library"


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
        if role == "big_count" and "partitions" in function.roles:
            expected_kind = "int|MPI_Count"  # uctrace_mpi_product
        kinds = re.sub(r"\*", r"\*", expected_kind)
        if not re.fullmatch(kinds, kind) or not re.fullmatch(expected_name, name):
            yield f"{function.name}: argument {position}, '{kind} {name}', cannot be its {role}"


def check_functions(declared, functions):
    for function in functions:
        if function.optional and function.name not in declared:
            continue
        for name in (function.name, "P" + function.name):
            if name not in declared:
                yield f"{name} is not in mpi.h"
            elif len(declared[name]) != len(function.roles):
                yield (f"{name} has {len(declared[name])} arguments, "
                       f"the table says {len(function.roles)}")
            elif name == function.name:  # PMPI parameters may have no names
                yield from check_roles(function, declared[name])


def declared_combiners(library):
    text = (library.preprocess("#include <mpi.h>\n")
            + library.preprocess("#include <mpi.h>\n", "-dM"))
    declared = set(re.findall(r"\bMPI_COMBINER_(\w+)", text))
    return [name for name in tables.COMBINERS
            if name not in REMOVED_COMBINERS and macro_of(name) in declared]


def macro_of(combiner):
    return "STRUCT" if combiner == "structure" else combiner.upper()


def probe_source(functions, combiners):
    """A program that prints the constants, and the names that the library does not export."""
    integers = "\n".join(f'printf("{key} %d\\n", (int){value});' for key, value in INTEGERS.items())
    handles = "\n".join(
        f'printf("{key} %#lx\\n", word(&(union handle){{.{key}_ = {value}}}));'
        for key, value in HANDLES.items())
    fields = "\n".join(
        f"{HANDLE_TYPES.get(key, 'MPI_Comm')} {key}_;" for key in HANDLES)
    combiners = "\n".join(
        f'printf("combiner_{name} %d\\n", (int)MPI_COMBINER_{macro_of(name)});'
        for name in combiners)
    names = "\n".join(f'missing("{f.name}"); missing("P{f.name}");' for f in functions)
    combiners += f"""
  unsigned long* held = dlsym(RTLD_DEFAULT, "MPI_T_PVAR_ALL_HANDLES");
  printf("{ALL_HANDLES} %#lx\\n", (unsigned long)MPI_T_PVAR_ALL_HANDLES);
  printf("held %#lx\\n", held ? *held : 0);"""
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
  {combiners}
  {names}
  for (int i = 1; i < argc; ++i) printf("symbol %s %#lx\\n", argv[i], (unsigned long)dlsym(RTLD_DEFAULT, argv[i]));
  MPI_Get_library_version(version, &length);
  printf("version %s\\n", strtok(version, "\\n"));
  return 0;
}}
"""


def run_probe(library, functions, symbols):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(probe_source(functions, declared_combiners(library)), encoding="utf-8")
        library.build(source, program)
        lines = subprocess.run([str(program), *symbols], capture_output=True, text=True, check=True,
                               env=library.environment)
    return [line.split(" ", 1) for line in lines.stdout.splitlines()]


def check_library(library, functions, constants):
    symbols = [constants[key] for key in HANDLES if not constants[key].startswith("0x")]
    own = [] if constants["own_symbol"] == "-" else [constants["own_symbol"]]
    answers = run_probe(library, functions, [*symbols, *own])
    for name in (text for key, text in answers if key == "missing"):
        if (library.name, name) in NOT_EXPORTED:
            continue
        yield f"{name} is not exported"
    actual = dict(pair for pair in answers if pair[0] not in ("missing", "symbol"))
    address = dict(text.split() for key, text in answers if key == "symbol")
    yield from (f"{symbol} is not exported" for symbol in own if int(address[symbol], 16) == 0)
    combiners = {key for key in actual if key.startswith("combiner_")}
    for key in (*INTEGERS, *combiners):
        if actual[key] != constants[key]:
            yield f"{key} is {actual[key]}, the table says {constants[key]}"
    for key in HANDLES:
        expected = address.get(constants[key], constants[key])
        if int(actual[key], 16) != int(expected, 16):
            yield f"{key} is {actual[key]}, the table says {constants[key]} ({expected})"
    expected = constants[ALL_HANDLES]
    expected = expected if expected.startswith("0x") else actual["held"]
    if int(actual[ALL_HANDLES], 16) != int(expected, 16):
        yield f"{ALL_HANDLES} is {actual[ALL_HANDLES]}, the table says {constants[ALL_HANDLES]}"
    if len(combiners) < 16:
        yield f"only {len(combiners)} MPI_COMBINER_* were found"
    versions = constants["versions"]
    if versions != "-" and not any(text in actual["version"] for text in versions.split("|")):
        yield f"version '{actual['version']}' holds none of {versions}"


def constant_names():
    """{row of mpi_flavours.txt: the constant's name} of all that stand for a constant of mpi.h."""
    names = {key: value.replace("(long)", "") for key, value in {**INTEGERS, **HANDLES}.items()
             if "sizeof" not in value}
    names[ALL_HANDLES] = "MPI_T_PVAR_ALL_HANDLES"
    return names | {f"combiner_{name}": f"MPI_COMBINER_{macro_of(name)}" for name in tables.COMBINERS}


def check_standard_abi(flavours):
    """The column by the document: every constant, and no other."""
    path = Path(__file__).parent / "mpi_abi_values.txt"
    values = {name: int(value, 0) for _, line in tables.table_lines(path) for name, value in [line.split()]}
    (constants,) = [column for column in flavours.values() if column["abi"] == "standard"]
    for key, name in constant_names().items():
        expected = values.pop(name, None)
        actual = None if constants[key] == "-" else int(constants[key], 0)
        if actual != expected:
            yield f"{key} of the standard ABI is {actual}, the document has {expected} for {name}"
    if constants["handle_bytes"] != "8":
        yield f"handles of the standard ABI have 8 bytes, not {constants['handle_bytes']}"
    for name in values:
        yield f"{path.name}: {name} is of no row of mpi_flavours.txt"


def check_combiners():
    """The order in which the table gives them is that of the log's format."""
    text = (MPI_ROOM.parent / "event-log/format/kinds.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum class Combiner[^{]*\{(.*?)\}", text, re.DOTALL)[1]
    names = re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", body), re.MULTILINE)
    if names != ["unknown", *tables.COMBINERS, "kCount"]:
        yield "mpi_tables.COMBINERS and log::Combiner differ"


def main():
    functions = tables.read_functions(MPI_ROOM / "mpi_functions.txt")
    flavours = tables.read_flavours(MPI_ROOM / "mpi_flavours.txt")
    not_measured, problems = read_not_measured(MPI_ROOM / "not_measured.txt")
    problems += [*check_combiners(), *check_standard_abi(flavours)]
    with tempfile.TemporaryDirectory() as folder:
        libraries, absent = installed_libraries(Path(folder))
        declared = {}
        for library in libraries:
            of_library = declared[library.name] = prototypes(library)
            present = [f for f in functions if not f.optional or f.name in of_library]
            found = [*check_functions(of_library, functions),
                     *check_library(library, present, flavours[library.flavour])]
            problems += [f"{library.name}: {problem}" for problem in found]
            print(f"{library.name}: {len(present)} functions, {len(found)} problems")
        all_are_oldest = not absent and all(map(is_oldest, libraries))
    problems += check_coverage(declared, functions, not_measured, all_are_oldest=all_are_oldest)
    print(*problems, sep="\n", end="\n" if problems else "")
    if problems:
        return 1
    if absent:
        print(f"skipped: {', '.join(absent)} not installed")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
