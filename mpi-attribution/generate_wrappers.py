#!/usr/bin/env python3
"""Writes the C wrappers of all measured MPI functions, and the versions of their symbols.

usage: generate_wrappers.py mpi_functions.txt mpi_flavours.txt OUTPUT.c OUTPUT.map

The readers of the two tables are used by the table test as well.
"""

import re
import sys
from dataclasses import dataclass


COUNTS = ("count", "recv_count", "counts", "recv_counts")


def big(role):
    """The role of a count that has 64 bits."""
    return role.replace("count", "big_count") if role in COUNTS else role


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    roles: tuple  # one for each argument
    rule: str = ""  # of the volume of a collective operation
    optional: bool = False  # not every MPI library has it

    def argument(self, role):
        """The C name of the argument with this role, None if there is none."""
        return f"a{self.roles.index(role)}" if role in self.roles else None

    def count(self, role):
        """The same of a count, whether it has 64 bits or not."""
        return self.argument(role) or self.argument(big(role))

    @property
    def has_big_counts(self):
        return any(big(role) in self.roles for role in COUNTS)


@dataclass(frozen=True)
class Shape:
    """How a class of functions is measured."""

    c_type: str
    leave: str
    enter: str = "call"
    making: str = None  # of communicator constructors
    ending: str = None  # of several requests
    required: tuple = ()  # roles


CALL = Shape("UctraceCall", "call")


def message(*required):
    return Shape("UctraceMessage", "message", enter="message", required=required)


def exchange(*required):
    return Shape("UctraceExchange", "exchange", enter="exchange", required=required)


def requests(ending, *required):
    return Shape("UctraceRequests", "requests", enter="requests", ending=ending,
                 required=("requests", "request_count", *required))


SHAPES = {
    "init": Shape("UctraceCall", "init"),
    "finalize": Shape("UctraceCall", "finalize", enter="finalize"),
    "abort": Shape("UctraceCall", "abort", enter="abort"),
    "send": message("count", "datatype", "peer", "tag", "comm"),
    "receive": message("count", "datatype"),
    "probed_receive": Shape("UctraceProbedReceive", "probed_receive", enter="probed_receive",
                            required=("count", "datatype", "probed", "new_request")),
    "probe": message("peer", "tag", "comm"),
    "found_probe": Shape("UctraceProbe", "probe", enter="message",
                         required=("peer", "tag", "comm", "flag_at", "new_request")),
    "exchange": exchange("count", "datatype", "peer", "tag", "recv_peer", "recv_tag", "comm"),
    "start": CALL,
    "wait": CALL,
    "test": CALL,
    "start_all": requests("kUctraceStarted"),
    "wait_all": requests("kUctraceAllEnd"),
    "wait_any": requests("kUctraceOneEnds", "index_at"),
    "wait_some": requests("kUctraceSomeEnd", "ended_count_at", "ended"),
    "test_all": requests("kUctraceAllEnd", "flag_at"),
    "test_any": requests("kUctraceOneEnds", "index_at", "flag_at"),
    "test_some": requests("kUctraceSomeEnd", "ended_count_at", "ended"),
    "collective": Shape("UctraceCollective", "collective", required=("comm",)),
    "collective_start": Shape("UctraceCollective", "collective", required=("comm", "new_request")),
    "collective_init": Shape("UctraceCollective", "collective", required=("comm", "new_request")),
    "partition": CALL,
    "constructor": Shape("UctraceConstruction", "construction", making="kUctraceByParent",
                         required=("new_comm",)),
    "group_constructor": Shape("UctraceConstruction", "construction", making="kUctraceByMembers",
                               required=("new_comm",)),
    "duplicate": Shape("UctraceConstruction", "construction", making="kUctraceDuplicate",
                       required=("comm", "new_comm")),
    "release": Shape("UctraceCall", "release", required=("comm_at",)),
    "rename": Shape("UctraceRename", "rename", required=("comm", "name")),
    "rma": message("count", "datatype", "peer", "window"),
    "rma_exchange": exchange("datatype", "peer", "window"),
    "target": message("peer", "window"),
    "window": CALL,
    "window_constructor": Shape("UctraceMade", "window_making",
                                required=("comm", "new_window")),
    "window_release": Shape("UctraceCall", "window_release", required=("window_at",)),
    "file": Shape("UctraceCall", "call", required=("file",)),
    "file_constructor": Shape("UctraceMade", "file_making", required=("comm", "new_file")),
    "file_release": Shape("UctraceCall", "file_release", required=("file_at",)),
    "pcontrol": None,
    "call": CALL,
}
# UctraceVolumeRule: the roles that a rule needs.
RULES = {
    "none": (),
    "bcast": ("count", "datatype", "root"),
    "allreduce": ("count", "datatype"),
    "exscan": ("count", "datatype"),
    "reduce": ("count", "datatype", "root"),
    "reduce_scatter": ("recv_counts", "datatype"),
    "reduce_scatter_block": ("recv_count", "datatype"),
    "gather": ("sendbuf", "count", "datatype", "recv_count", "recv_datatype", "root"),
    "gatherv": ("sendbuf", "count", "datatype", "recv_counts", "recv_datatype", "root"),
    "scatter": ("recvbuf", "count", "datatype", "recv_count", "recv_datatype", "root"),
    "scatterv": ("recvbuf", "counts", "datatype", "recv_count", "recv_datatype", "root"),
    "allgather": ("sendbuf", "count", "datatype", "recv_count", "recv_datatype"),
    "allgatherv": ("sendbuf", "count", "datatype", "recv_counts", "recv_datatype"),
    "alltoall": ("sendbuf", "count", "datatype", "recv_count", "recv_datatype"),
    "alltoallv": ("sendbuf", "counts", "datatype", "recv_counts", "recv_datatype"),
    "alltoallw": ("sendbuf", "counts", "types", "recv_counts", "recv_types"),
    "neighbor_allgather": ("count", "datatype", "recv_count", "recv_datatype"),
    "neighbor_allgatherv": ("count", "datatype", "recv_counts", "recv_datatype"),
    "neighbor_alltoall": ("count", "datatype", "recv_count", "recv_datatype"),
    "neighbor_alltoallv": ("counts", "datatype", "recv_counts", "recv_datatype"),
    "neighbor_alltoallw": ("counts", "types", "recv_counts", "recv_types"),
}
ROLES = {"-", "comm", "peer", "tag", "count", "datatype", "recv_peer", "recv_tag", "recv_count",
         "recv_datatype", "new_comm", "comm_at", "name", "window", "new_window", "window_at", "op",
         "file", "new_file", "file_at",
         *(big(role) for role in COUNTS), "partitions", "tag_text",
         "root", "counts", "recv_counts", "types", "recv_types", "sendbuf", "recvbuf",
         "new_request", "request_at", "request", "requests", "request_count", "probed",
         "flag_at", "index_at", "ended_count_at", "ended"}
INTEGER_CONSTANTS = ("handle_bytes", "proc_null", "any_source", "any_tag", "undefined", "root",
                     "in_place", "cartesian", "graph", "distributed_graph")
HANDLE_CONSTANTS = ("comm_null", "comm_self", "comm_world", "datatype_null", "no_op",
                    "request_null")


ENTRY_MPI, ENTRY_PMPI = 0, 1  # UctraceEntry: the assembler needs the numbers


MAX_FUNCTIONS = 1024  # log::MpiCall::kMaxFunctions

# Of functions that not every MPI library has. Such a version is what an ordinary reference without
# any gets and dlsym does not: it must be the only one of the library.
OPTIONAL_VERSION = "UCTRACE_OPTIONAL"
OPTIONAL_ENDING = "_optional"


class TableError(Exception):
    pass


def table_lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                yield f"{path}:{number}", line.strip()


def needed_roles(kind, rule):
    shape = SHAPES[kind]
    return {*(shape.required if shape else ()), *RULES.get(rule, ())}


def read_function(words, optional):
    name, kind, *roles = words
    kind, _, rule = kind.partition(":")
    if kind not in SHAPES:
        raise TableError(f"unknown class {kind}")
    if SHAPES[kind] is not None and SHAPES[kind].c_type == "UctraceCollective":
        rule = rule or "none"
    if rule and rule not in RULES:
        raise TableError(f"unknown rule {rule}")
    if unknown := set(roles) - ROLES:
        raise TableError(f"unknown role {', '.join(sorted(unknown))}")
    if missing := {role for role in needed_roles(kind, rule)
                   if role not in roles and big(role) not in roles}:
        raise TableError(f"{kind} {rule} needs {', '.join(sorted(missing))}")
    if any(roles.count(role) > 1 for role in set(roles) - {"-"}):
        raise TableError("a role is given twice")
    return Function(name, kind, tuple(roles), rule, optional)


def alias(name, other, optional):
    large = name.endswith("_c") and not other.name.endswith("_c")
    roles = tuple(big(role) for role in other.roles) if large else other.roles
    return Function(name, other.kind, roles, other.rule, optional)


def read_functions(path):
    """The functions in the order of their numbers."""
    functions = {}
    optional = False
    for place, line in table_lines(path):
        if line == "[optional]":
            optional = True
            continue
        words = line.split()
        try:
            if words[0] in functions:
                raise TableError("listed twice")
            if words[1] == "as" and words[2] not in functions:
                raise TableError(f"no {words[2]} before it")
            functions[words[0]] = (alias(words[0], functions[words[2]], optional)
                                   if words[1] == "as" else read_function(words, optional))
        except TableError as error:
            raise TableError(f"{place}: {words[0]}: {error}") from None
    if len(functions) > MAX_FUNCTIONS:
        raise TableError(f"{path}: a record has room for the numbers of {MAX_FUNCTIONS} functions")
    return list(functions.values())


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
        fields.append(f".peer = {peer}")
    if tag := function.argument(prefix + "tag"):
        fields.append(f".tag = {tag}")
    if datatype := function.argument(prefix + "datatype") or function.argument("datatype"):
        count = function.count(prefix + "count") or function.count("count") or "1"
        if partitions := function.argument("partitions"):
            count = f"uctrace_mpi_product({partitions}, {count})"
        if not prefix and (op := function.argument("op")):
            count = f"uctrace_mpi_operands({op}, {count})"
        fields += [f".count = {count}", f".datatype = {datatype}"]
    return "{" + ", ".join(fields) + "}"


def posting(function):
    """UctracePosting: of calls that send or receive one message."""
    if function.kind not in ("send", "receive") or function.name.endswith("_init"):
        return None
    return "kUctracePosts" if function.name.startswith("MPI_I") else "kUctracePostsAndWaits"


def record_parts(function):
    """What the record of a call has besides."""
    shape, roles = SHAPES[function.kind], set(function.roles)
    has_volume = "datatype" in roles or (function.rule or "none") != "none"
    parts = [
        ("kUctracePeer", roles & {"peer", "root"}),
        ("kUctraceVolume", has_volume),
        ("kUctraceReceive", shape.c_type == "UctraceExchange" or
         (shape.c_type == "UctraceCollective" and has_volume)),
        ("kUctraceRequest", roles & {"new_request", "request_at", "request"} or
         wrapper_locals(function)),
    ]
    return " | ".join(part for part, there in parts if there) or "0"


def record_head(function, number):
    roles = set(function.roles)
    kind = ("kUctraceWindowCall" if roles & {"window", "window_at"} else
            "kUctraceFileCall" if roles & {"file", "file_at"} else "kUctraceMpiCall")
    return f"UCTRACE_HEAD({kind}, {record_parts(function)}, {number})"


def wrapper_locals(function):
    """Variables of a wrapper beside its guard."""
    return "  Word kept[kUctraceKept];\n" if function.kind.startswith("test_") else ""


def request_fields(function):
    if argument := function.argument("new_request"):
        return [f".request = {argument}", ".stores_request = true"]
    if argument := function.argument("request_at"):
        return [f".request = uctrace_mpi_request_at({argument})"]
    if argument := function.argument("request"):
        return [f".request = uctrace_mpi_request({argument})"]
    return []


def call_fields(function, number):
    """Initialiser of a UctraceCall."""
    fields = [f".head = {record_head(function, number)}", ".result = (Word)kUctraceNotReturned"]
    for role in ("comm", "window", "file"):
        if handle := function.argument(role):
            fields.append(f".scope = {handle}")
        elif address := function.argument(role + "_at"):
            fields.append(f".scope = uctrace_mpi_handle_at({address})")
    if "tag" in function.roles and "peer" in function.roles:
        fields.append(".has_tag = true")
    if function.has_big_counts:
        fields.append(".big_counts = true")
    fields += request_fields(function)
    if how := posting(function):
        fields.append(f".posting = {how}")
    return ", ".join(fields)


def side(function, prefix, buffer):
    """Initialiser of a UctraceSide."""
    pairs = (("buffer", buffer), ("count", prefix + "count"), ("counts", prefix + "counts"),
             ("datatype", prefix + "datatype"), ("datatypes", prefix + "types"))
    fields = [f".{field} = {argument}" for field, role in pairs
              if (argument := function.count(role))]
    return "{" + ", ".join(fields or ["0"]) + "}"


def collective_fields(function):
    fields = [f".send = {side(function, '', 'sendbuf')}",
              f".receive = {side(function, 'recv_', 'recvbuf')}",
              ".rule = kUctrace" + ("NoVolume" if function.rule == "none" else
                                    function.rule.title().replace("_", ""))]
    if root := function.argument("root"):
        fields.append(f".root = {root}")
    return fields


def requests_fields(function):
    fields = [f".requests = {function.argument('requests')}",
              f".count = {function.argument('request_count')}",
              f".ending = {SHAPES[function.kind].ending}"]
    for field, role in (("flag", "flag_at"), ("index", "index_at"),
                        ("ended_count", "ended_count_at"), ("ended", "ended")):
        if argument := function.argument(role):
            fields.append(f".{field} = {argument}")
    if wrapper_locals(function):
        fields.append(".kept = kept")
    return fields


def message_fields(call, function):
    return [".call = {" + call + "}", f".half = {half(function)}"]


def guard(function, number):
    """Initialiser of the guard, and how to reach the UctraceCall in it."""
    shape = SHAPES[function.kind]
    call = call_fields(function, number)
    if shape.c_type == "UctraceCall":
        return "{" + call + "}", "guard"
    if shape.c_type in ("UctraceProbe", "UctraceProbedReceive"):
        fields = [".message = {" + ", ".join(message_fields(call, function)) + "}"]
        fields.append(f".flag = {function.argument('flag_at')}" if shape.c_type == "UctraceProbe"
                      else f".probed = {function.argument('probed')}")
        return "{" + ", ".join(fields) + "}", "guard.message.call"
    fields = [".call = {" + call + "}"]
    if shape.c_type == "UctraceMessage":
        fields = message_fields(call, function)
    elif shape.c_type == "UctraceExchange":
        fields += [f".send = {half(function)}", f".receive = {half(function, 'recv_')}"]
    elif shape.c_type == "UctraceRequests":
        fields += requests_fields(function)
    elif shape.c_type == "UctraceCollective":
        fields += collective_fields(function)
    elif shape.c_type == "UctraceConstruction":
        fields += [f".new_communicator = {function.argument('new_comm')}",
                   f".making = {shape.making}"]
        if tag := function.argument("tag"):
            fields += [f".tag = {tag}", ".has_tag = true"]
        if text := function.argument("tag_text"):
            fields += [f".tag_text = {text}", ".has_tag = true"]
    elif shape.c_type == "UctraceMade":
        made = function.argument("new_window") or function.argument("new_file")
        fields.append(f".made = {made}")
    elif shape.c_type == "UctraceRename":
        fields.append(f".name = {function.argument('name')}")
    return "{" + ", ".join(fields) + "}", "guard.call"


# Those whose `enter` takes more than the UctraceCall.
WHOLE_GUARD = ("message", "exchange", "requests", "probed_receive")


def symbols(function):
    """The names of a function's two wrappers in C."""
    ending = OPTIONAL_ENDING if function.optional else ""
    return function.name + ending, "P" + function.name + ending


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
    entered = "guard" if shape.enter in WHOLE_GUARD else call
    if shape.c_type == "UctraceProbe":
        entered = "guard.message"
    measured = f"measured_{function.name}({', '.join(['original', *names])})"
    mpi, pmpi = symbols(function)
    versions = "".join(
        f'__asm__(".symver {symbol}, {name}@{OPTIONAL_VERSION}");\n'
        for symbol, name in ((mpi, function.name), (pmpi, "P" + function.name)) if symbol != name)
    return f"""
{versions}WRAPPER_INLINE Word measured_{function.name}({', '.join(['void* original', *([parameters] if names else [])])}) {{
{wrapper_locals(function)}  LEAVE_BY(leave_{shape.leave}) {shape.c_type} guard = {initialiser};
  enter_{shape.enter}(&{entered});
  return {call}.result = {original};
}}
WRAPPER_EXPORT Word {mpi}({parameters or 'void'}) {{
  void* original = original_of({number}, kUctraceMpi, WRAPPER_CALLER);
  return is_measured() ? {measured} : {original};
}}
WRAPPER_EXPORT Word {pmpi}({parameters or 'void'}) {{
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
        for name in symbols(function):
            yield f"Word {name}({words});"


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
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    try:
        text = generate(read_functions(sys.argv[1]), read_flavours(sys.argv[2]))
    except TableError as error:
        sys.exit(str(error))
    with open(sys.argv[3], "w", encoding="utf-8") as output:
        output.write(text)
    with open(sys.argv[4], "w", encoding="utf-8") as output:
        output.write(f"{OPTIONAL_VERSION} {{ local: MPI*{OPTIONAL_ENDING}; PMPI*{OPTIONAL_ENDING}; }};\n")


if __name__ == "__main__":
    main()
