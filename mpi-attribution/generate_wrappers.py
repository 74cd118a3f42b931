#!/usr/bin/env python3
"""Writes the C wrappers of all measured MPI functions.

usage: generate_wrappers.py mpi_functions.txt mpi_flavours.txt OUTPUT.c

The readers of the two tables are used by the table test as well.
"""

import re
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    roles: tuple  # one for each argument

    def argument(self, role):
        """The C name of the argument with this role, None if there is none."""
        return f"a{self.roles.index(role)}" if role in self.roles else None


@dataclass(frozen=True)
class Shape:
    """How a class of functions is measured."""

    c_type: str
    leave: str
    enter: str = "call"
    making: str = None  # of communicator constructors
    required: tuple = ()  # roles



CALL = Shape("UctraceCall", "call")


def message(*required):
    return Shape("UctraceMessage", "message", enter="message", required=required)


def exchange(*required):
    return Shape("UctraceExchange", "exchange", enter="exchange", required=required)


SHAPES = {
    "init": Shape("UctraceCall", "init"),
    "finalize": Shape("UctraceCall", "finalize", enter="finalize"),
    "abort": Shape("UctraceCall", "abort", enter="abort"),
    "send": message("count", "datatype", "peer", "tag", "comm"),
    "receive": message("count", "datatype"),
    "probe": message("peer", "tag", "comm"),
    "exchange": exchange("count", "datatype", "peer", "tag", "recv_peer", "recv_tag", "comm"),
    "start": CALL,
    "wait": CALL,
    "test": CALL,
    "collective": Shape("UctraceCall", "call", required=("comm",)),
    "collective_start": Shape("UctraceCall", "call", required=("comm",)),
    "constructor": Shape("UctraceConstruction", "construction", making="kUctraceByParent",
                         required=("new_comm",)),
    "group_constructor": Shape("UctraceConstruction", "construction", making="kUctraceByMembers",
                               required=("comm", "new_comm")),
    "duplicate": Shape("UctraceConstruction", "construction", making="kUctraceDuplicate",
                       required=("comm", "new_comm")),
    "release": Shape("UctraceCall", "release", required=("comm_at",)),
    "rename": Shape("UctraceRename", "rename", required=("comm", "name")),
    "rma": message("count", "datatype", "peer", "window"),
    "rma_exchange": exchange("datatype", "peer", "window"),
    "target": message("peer", "window"),
    "window": CALL,
    "window_constructor": Shape("UctraceWindowMaking", "window_making",
                                required=("comm", "new_window")),
    "file": CALL,
    "pcontrol": None,
    "call": CALL,
}
ROLES = {"-", "comm", "peer", "tag", "count", "datatype", "recv_peer", "recv_tag", "recv_count",
         "recv_datatype", "new_comm", "comm_at", "name", "window", "new_window", "window_at", "op"}
INTEGER_CONSTANTS = ("handle_bytes", "proc_null", "any_source", "any_tag", "undefined")
HANDLE_CONSTANTS = ("comm_null", "comm_self", "comm_world", "datatype_null", "no_op")


ENTRY_MPI, ENTRY_PMPI = 0, 1  # UctraceEntry: the assembler needs the numbers


PART_PEER, PART_VOLUME, PART_RECEIVE = 1, 2, 4  # log::MpiCall: C does not see it
MAX_FUNCTIONS = 1024  # likewise


class TableError(Exception):
    pass


def table_lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                yield f"{path}:{number}", line.strip()


def read_functions(path):
    """The functions in the order of their numbers."""
    functions = []
    for place, line in table_lines(path):
        name, kind, *roles = line.split()
        function = Function(name, kind, tuple(roles))
        if kind not in SHAPES:
            raise TableError(f"{place}: unknown class {kind}")
        if unknown := set(roles) - ROLES:
            raise TableError(f"{place}: unknown role {', '.join(sorted(unknown))}")
        if missing := set(SHAPES[kind].required if SHAPES[kind] else ()) - set(roles):
            raise TableError(f"{place}: class {kind} needs {', '.join(sorted(missing))}")
        if any(roles.count(role) > 1 for role in set(roles) - {"-"}):
            raise TableError(f"{place}: a role is given twice")
        if any(name == other.name for other in functions):
            raise TableError(f"{place}: {name} is listed twice")
        functions.append(function)
    if len(functions) > MAX_FUNCTIONS:
        raise TableError(f"{path}: a record has room for the numbers of {MAX_FUNCTIONS} functions")
    return functions


def read_flavours(path):
    """{flavour: {constant: text}}"""
    rows = [re.split(r" {2,}", line) for _, line in table_lines(path)]
    names = rows[0][1:]
    flavours = {name: {} for name in names}
    for constant, *values in rows[1:]:
        if len(values) != len(names):
            raise TableError(f"{path}: {constant} needs {len(names)} values")
        for name, value in zip(names, values):
            flavours[name][constant] = value
    expected = {"versions", *INTEGER_CONSTANTS, *HANDLE_CONSTANTS}
    for name, constants in flavours.items():
        if set(constants) != expected:
            raise TableError(f"{path}: {name}: expected exactly {', '.join(sorted(expected))}")
    return flavours


def half(function, prefix=""):
    """Initialiser of a UctraceHalf."""
    fields = []
    # An exchange with a window has one target.
    if peer := function.argument(prefix + "peer") or function.argument("peer"):
        fields += [f".peer = {peer}", ".has_peer = true"]
    if tag := function.argument(prefix + "tag"):
        fields += [f".tag = {tag}", ".has_tag = true"]
    if datatype := function.argument(prefix + "datatype") or function.argument("datatype"):
        count = function.argument(prefix + "count") or function.argument("count") or "1"
        if not prefix and (op := function.argument("op")):
            count = f"uctrace_mpi_operands({op}, {count})"
        fields += [f".count = {count}", f".datatype = {datatype}", ".has_payload = true"]
    return "{" + ", ".join(fields) + "}"


def posting(function):
    """UctracePosting: of calls that send or receive one message."""
    if function.kind not in ("send", "receive") or function.name.endswith("_init"):
        return None
    return "kUctracePosts" if function.name.startswith("MPI_I") else "kUctracePostsAndWaits"


def record_parts(function):
    """What the record of a call has besides: bits of log::MpiCall."""
    c_type = SHAPES[function.kind].c_type
    if c_type == "UctraceExchange":
        return PART_PEER | PART_VOLUME | PART_RECEIVE
    if c_type != "UctraceMessage":
        return 0
    return (PART_PEER if "peer" in function.roles else 0) | (
        PART_VOLUME if "datatype" in function.roles else 0)


def call_fields(function, number):
    """Initialiser of a UctraceCall."""
    fields = [f".function = {number}", ".result = (Word)kUctraceNotReturned"]
    for role in ("comm", "window"):
        if handle := function.argument(role):
            fields.append(f".scope = {handle}")
        elif address := function.argument(role + "_at"):
            fields.append(f".scope = uctrace_mpi_handle_at({address})")
    if "window" in function.roles or "window_at" in function.roles:
        fields.append(".on_window = true")
    if parts := record_parts(function):
        fields.append(f".parts = {parts}")
    if how := posting(function):
        fields.append(f".posting = {how}")
    return ", ".join(fields)


def guard(function, number):
    """Initialiser of the guard, and how to reach the UctraceCall in it."""
    shape = SHAPES[function.kind]
    call = call_fields(function, number)
    if shape.c_type == "UctraceCall":
        return "{" + call + "}", "guard"
    fields = [".call = {" + call + "}"]
    if shape.c_type == "UctraceMessage":
        fields.append(f".half = {half(function)}")
    elif shape.c_type == "UctraceExchange":
        fields += [f".send = {half(function)}", f".receive = {half(function, 'recv_')}"]
    elif shape.c_type == "UctraceConstruction":
        fields += [f".new_communicator = {function.argument('new_comm')}",
                   f".making = {shape.making}"]
        if tag := function.argument("tag"):
            fields += [f".tag = {tag}", ".has_tag = true"]
    elif shape.c_type == "UctraceWindowMaking":
        fields.append(f".new_window = {function.argument('new_window')}")
    elif shape.c_type == "UctraceRename":
        fields.append(f".name = {function.argument('name')}")
    return "{" + ", ".join(fields) + "}", "guard.call"


def wrapper(function, number):
    shape = SHAPES[function.kind]
    if shape is None:  # variadic
        return (f"\nDEFINE_PCONTROL({function.name}, {number}, {ENTRY_MPI})\n"
                f"DEFINE_PCONTROL(P{function.name}, {number}, {ENTRY_PMPI})\n")
    names = [f"a{i}" for i in range(len(function.roles))]
    parameters = ", ".join(f"Word {name}" for name in names)
    arguments = ", ".join(names)
    original = f"((Function{len(names)})original)({arguments})"
    initialiser, call = guard(function, number)
    entered = "guard" if shape.enter in ("message", "exchange") else call
    measured = f"measured_{function.name}({', '.join(['original', *names])})"
    return f"""
WRAPPER_INLINE Word measured_{function.name}({', '.join(['void* original', *([parameters] if names else [])])}) {{
  LEAVE_BY(leave_{shape.leave}) {shape.c_type} guard = {initialiser};
  enter_{shape.enter}(&{entered});
  return {call}.result = {original};
}}
WRAPPER_EXPORT Word {function.name}({parameters or 'void'}) {{
  void* original = original_of({number}, kUctraceMpi, WRAPPER_CALLER);
  return is_measured() ? {measured} : {original};
}}
WRAPPER_EXPORT Word P{function.name}({parameters or 'void'}) {{
  void* original = original_of({number}, kUctracePmpi, WRAPPER_CALLER);
  return is_measured() && uctrace_mpi_called_by_binding(WRAPPER_CALLER) ? {measured} : {original};
}}
"""


def prototypes(functions):
    """Exported functions have no header of their own; -Wmissing-prototypes wants declarations."""
    for arity in sorted({len(f.roles) for f in functions}):
        words = ", ".join(["Word"] * arity) or "void"
        yield f"typedef Word (*Function{arity})({words});"
    for function in functions:
        if SHAPES[function.kind] is None:
            continue
        words = ", ".join(["Word"] * len(function.roles)) or "void"
        yield f"Word {function.name}({words});"
        yield f"Word P{function.name}({words});"


def flavour_initialiser(name, constants):
    def handle(text):
        if re.fullmatch(r"0x[0-9a-f]+", text):
            return "{.value = " + text + "}"
        return '{.symbol = "' + text + '"}'

    versions = [] if constants["versions"] == "-" else constants["versions"].split("|")
    texts = ", ".join([*(f'"{version}"' for version in versions), "0"])
    fields = [f".versions = (const char* const[]){{{texts}}}"]
    fields += [f".{key} = {int(constants[key])}" for key in INTEGER_CONSTANTS]
    fields += [f".{key} = {handle(constants[key])}" for key in HANDLE_CONSTANTS]
    return "    {" + ",\n     ".join(fields) + f"}},  // {name}"


def generate(functions, flavours):
    entries = "\n".join(f'    {{.pmpi_name = "P{f.name}"}},' for f in functions)
    kinds = "\n".join(flavour_initialiser(*item) for item in flavours.items())
    return "\n".join([
        "// Generated by generate_wrappers.py.",
        '#include "mpi-attribution/wrapper.h"',
        "",
        *prototypes(functions),
        "",
        f"UctraceFunction uctrace_mpi_functions[] = {{\n{entries}\n}};",
        f"const unsigned uctrace_mpi_function_count = {len(functions)};",
        "",
        f"const UctraceFlavour uctrace_mpi_flavours[] = {{\n{kinds}\n}};",
        f"const unsigned uctrace_mpi_flavour_count = {len(flavours)};",
        *(wrapper(f, number) for number, f in enumerate(functions)),
    ])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        text = generate(read_functions(sys.argv[1]), read_flavours(sys.argv[2]))
    except TableError as error:
        sys.exit(str(error))
    with open(sys.argv[3], "w", encoding="utf-8") as output:
        output.write(text)


if __name__ == "__main__":
    main()
