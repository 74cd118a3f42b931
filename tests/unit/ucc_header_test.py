#!/usr/bin/env python3
"""Compares what uctrace knows of UCC with headers: that of tests/stand-in-ucc, and an installed one, or that of the prefix
$UCTRACE_TEST_UCC.

Every function that a header declares is measured, or stands with a reason in the list of those that are not. A measured one
has the number of arguments that the table gives it. What ucc_arguments.cpp reads lies where it reads it. The stand-in's
header has what the real one has at the same places. Exits with 77 if no UCC is installed (its own header is checked
all the same).
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "library-attribution"
sys.path[:0] = [str(ROOM)]
sys.dont_write_bytecode = True
import library_tables as tables  # noqa: E402

STAND_IN = ROOT / "tests" / "stand-in-ucc" / "include"
# Where ucc_arguments.cpp reads.
READ = {
    "ucc_coll_args_t": {"mask": 0, "coll_type": 8, "src": 16, "dst": 56, "op": 96, "flags": 104, "root": 112},
    "ucc_coll_buffer_info_t": {"buffer": 0, "count": 8, "datatype": 16},
    "ucc_coll_buffer_info_v_t": {"buffer": 0, "counts": 8, "datatype": 24},
    "ucc_team_params_t": {"mask": 0, "ep": 32, "ep_range": 48, "team_size": 56, "oob.n_oob_eps": 104, "oob.oob_ep": 108},
}
READ_OF_EVENTS = {"ucc_ev_t": {"req": 24}}  # the stand-in has no events
VALUES = {"UCC_COLL_ARGS_FIELD_FLAGS": 1, "UCC_COLL_ARGS_FLAG_IN_PLACE": 1, "UCC_COLL_ARGS_FLAG_COUNT_64BIT": 4,
          "UCC_TEAM_PARAM_FIELD_EP": 4, "UCC_TEAM_PARAM_FIELD_EP_RANGE": 16, "UCC_COLLECTIVE_EP_RANGE_CONTIG": 0,
          "UCC_TEAM_PARAM_FIELD_TEAM_SIZE": 32, "UCC_TEAM_PARAM_FIELD_OOB": 128}
SIZES = {"INT8": 1, "INT16": 2, "INT32": 4, "INT64": 8, "INT128": 16, "UINT8": 1, "UINT16": 2, "UINT32": 4, "UINT64": 8,
         "UINT128": 16, "FLOAT16": 2, "FLOAT32": 4, "FLOAT64": 8, "BFLOAT16": 2, "FLOAT128": 16, "FLOAT32_COMPLEX": 8,
         "FLOAT64_COMPLEX": 16, "FLOAT128_COMPLEX": 32}
# Further fields that the test program fills in.
USED = ("ucc_team_params_t:ep_range,oob", "ucc_context_params_t:mask,oob", "ucc_lib_params_t:mask,thread_mode",
        "ucc_oob_coll_t:allgather,req_test,req_free,coll_info,n_oob_eps,oob_ep", "ucc_team_attr_t:mask,ep,size",
        "ucc_coll_buffer_info_v_t:displacements,mem_type", "ucc_coll_args_t:error_type,tag,cb,timeout")
KEPT_SIZES = ("ucc_context_params_t", "ucc_lib_params_t", "ucc_oob_coll_t", "ucc_team_attr_t")


def operation_names():
    text = (ROOT / "event-log" / "format" / "ucc_operations.hpp").read_text()
    names = re.search(r"kUccOperationNames\[\] = \{(.*?)\}", text, re.S)[1]
    return re.findall(r'"(\w+)"', names)


def element_bytes():
    text = (ROOM / "ucc_arguments.cpp").read_text()
    return [int(number) for number in re.findall(r"\d+", re.search(r"kElementBytes\[\] = \{(.*?)\}", text, re.S)[1])]


def compiled(include, body):
    """The output of a C program with this body over the header in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.c"
        source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <ucc/api/ucc.h>\n"
                          f"int main(void) {{\n{body}\nreturn 0;\n}}\n")
        options = [f"-I{include}"] if include else []
        subprocess.run(["cc", "-std=gnu11", *options, source, "-o", f"{folder}/program", "-Wl,--unresolved-symbols=ignore-all"],
                       check=True)
        return subprocess.run([f"{folder}/program"], check=True, capture_output=True, text=True).stdout


def declared(include):
    """{name: number of arguments}"""
    options = [f"-I{include}"] if include else []
    text = subprocess.run(["cc", "-E", "-P", *options, "-x", "c", "-"], input="#include <ucc/api/ucc.h>\n", text=True,
                          capture_output=True, check=True).stdout
    found = {}
    for name, parameters in re.findall(r"\b(ucc_[a-z_]+)\s*\(([^()]*)\)\s*[;{]", text):
        found.setdefault(name, len([p for p in parameters.split(",") if p.strip() not in ("", "void")]))
    # Calls that inline functions make are no declarations of their own.
    return {name: count for name, count in found.items() if re.search(rf"[\w*]\s+\*?{name}\s*\(", text)}


def differences_of_functions(include, whole):
    measured = {f.name: f for f in tables.read_library(ROOM / "ucc_functions.txt").functions}
    left = {line for _, line in tables.table_lines(ROOM / "ucc_not_measured.txt") if not line.startswith("[")}
    header = declared(include)
    if whole and len(header) < 35:
        yield f"only {len(header)} functions were found"
    for name, arguments in sorted(header.items()):
        if (name in measured) == (name in left):
            yield f"{name} is {'both' if name in left else 'neither'} measured and listed as not measured"
        elif name in measured and arguments != len(measured[name].roles):
            yield f"{name} has {arguments} arguments, the table {len(measured[name].roles)}"
    if whole:
        for name in sorted(set(measured) - set(header) - {"ucc_coll_task_init"}):
            yield f"{name} is measured, and no function of this UCC"


def offsets(structures):
    return "\n".join(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));'
                     for name, fields in structures.items() for field in fields)


def differences_of_layouts(include, structures):
    expected = [f"{name}.{field} {place}" for name, fields in structures.items() for field, place in fields.items()]
    yield from set(expected) ^ set(compiled(include, offsets(structures)).splitlines())
    for name, value in VALUES.items():
        if compiled(include, f'printf("%d", (int){name});') != str(value):
            yield f"{name} is not {value}"


def differences_of_values(include):
    names = operation_names()
    told = compiled(include, "".join(f'printf("%d ", (int)UCC_COLL_TYPE_{name.upper()});' for name in names)).split()
    if told != [str(1 << number) for number in range(len(names))]:
        yield f"bits of operations: {told}"
    numbers = compiled(include, "".join(f'printf("%d ", (int)UCC_DT_{name});' for name in SIZES)).split()
    if numbers != [str(number << 3) for number in range(len(SIZES))] or element_bytes() != list(SIZES.values()):
        yield f"datatypes: {numbers}, {element_bytes()}"


def differences_of_stand_in(include):
    structures = {}
    for text in USED:
        name, _, fields = text.partition(":")
        structures.setdefault(name, []).extend(fields.split(","))
    body = offsets(structures) + "".join(f'printf("{name} %zu\\n", sizeof({name}));' for name in KEPT_SIZES)
    yield from set(compiled(include, body).splitlines()) ^ set(compiled(STAND_IN, body).splitlines())
    larger = "".join(f'printf("%zu ", sizeof({name}));' for name in ("ucc_team_params_t", "ucc_coll_args_t"))
    for real, ours in zip(compiled(include, larger).split(), compiled(STAND_IN, larger).split()):
        if int(real) > int(ours):
            yield f"a structure has {real} bytes, the stand-in's {ours}"


def installed_header():
    """A folder, "" for the compiler's own, None: there is none."""
    prefix = os.environ.get("UCTRACE_TEST_UCC")
    if prefix:
        return f"{prefix}/include"
    found = subprocess.run(["cc", "-E", "-x", "c", "-"], input="#include <ucc/api/ucc.h>\n", text=True, capture_output=True,
                           check=False).returncode == 0
    return "" if found else None


def main():
    faults = [*differences_of_functions(STAND_IN, whole=False), *differences_of_layouts(STAND_IN, READ)]
    include = installed_header()
    if include is not None:
        faults += [*differences_of_functions(include, whole=True), *differences_of_layouts(include, {**READ, **READ_OF_EVENTS}),
                   *differences_of_values(include), *differences_of_stand_in(include)]
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} differences")
    if include is None:
        print("no UCC is installed: its header was not checked")
        sys.exit(77)


if __name__ == "__main__":
    main()
