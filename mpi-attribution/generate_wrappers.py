#!/usr/bin/env python3
"""Writes the C wrappers of all measured MPI functions, and the versions of their symbols.

usage: generate_wrappers.py mpi_functions.txt mpi_flavours.txt OUTPUT.c OUTPUT.map
"""

import re
import sys
from pathlib import Path

from mpi_tables import (
    COMBINERS,
    HANDLE_CONSTANTS,
    INTEGER_CONSTANTS,
    OPTIONAL_ENDING,
    OPTIONAL_VERSION,
    SHAPES,
    TableError,
    read_flavours,
    read_functions,
)

CALL_HEADER = Path(__file__).with_name("call.h")

ENTRY_MPI, ENTRY_PMPI = 0, 1  # UctraceEntry: the assembler needs the numbers


def read_structs(header):
    """From call.h: the fields, by name and with their types, of each struct that a guard may be or contain."""
    structs = {}
    for name, body in re.findall(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", header, re.S):
        lines = " ".join(re.sub(r"//.*", "", body).split()).split(";")[:-1]
        fields = [re.fullmatch(r"\s*(\w+)\*? ([\w, ]+)", line) for line in lines]
        if all(fields):
            structs[name] = {field: found[1] for found in fields for field in found[2].split(", ")}
    return structs


STRUCTS = read_structs(CALL_HEADER.read_text(encoding="utf-8"))


def initialiser(c_type, fields):
    """An initialiser with all fields of the struct: `fields` are set, the others are 0. Fields that are left out would
    be 0 as well, but compilers then clear the whole struct first, which takes longer than the rest of a wrapper."""
    given = {field.removeprefix(".").split(" = ")[0] for field in fields}
    rest = [f".{field} = " + (initialiser(kind, []) if kind in STRUCTS else "0")
            for field, kind in STRUCTS[c_type].items() if field not in given]
    return "{" + ", ".join(fields + rest) + "}"


def half(function, prefix=""):
    """Initialiser of a UctraceHalf."""
    fields = []
    # An access to a window has one target.
    if peer := function.argument(prefix + "peer") or function.argument("peer"):
        fields.append(f".peer = {peer}")
    if tag := function.argument(prefix + "tag"):
        fields.append(f".tag = {tag}")
    if datatype := function.argument(prefix + "datatype") or function.argument("datatype"):
        count = function.count(prefix + "count") or function.count("count") or "1"
        if partitions := function.argument("partitions"):
            count = (f"uctrace_mpi_product({partitions}, {count}, "
                     f"{'true' if function.name.endswith('_c') else 'false'})")
        if not prefix and (op := function.argument("op")):
            count = f"uctrace_mpi_operands({op}, {count})"
        fields += [f".count = {count}", f".datatype = {datatype}"]
    return initialiser("UctraceHalf", fields)


def makes_persistent(function):
    """Whether it makes a persistent request, which posts nothing."""
    return function.name.removesuffix("_c").endswith("_init")


def posting(function):
    """The UctracePosting: for calls that send or receive one message."""
    if function.kind not in ("send", "receive") or makes_persistent(function):
        return None
    return "kUctracePosts" if function.name.startswith("MPI_I") else "kUctracePostsAndWaits"


def record_parts(function):
    """The optional parts of a call's record."""
    shape, roles = SHAPES[function.kind], set(function.roles)
    has_volume = "datatype" in roles or (function.rule or "none") != "none"
    parts = [
        ("kUctracePeer", roles & {"peer", "root", "partition"} or function.kind == "test"),
        ("kUctraceVolume", has_volume),
        ("kUctraceReceive", shape.c_type == "UctraceExchange" or
         (shape.c_type == "UctraceCollective" and has_volume)),
        ("kUctraceRequest", roles & {"new_request", "request_at", "request"} or
         wrapper_locals(function)),
        ("kUctraceCaller", True),
    ]
    return " | ".join(part for part, there in parts if there)


def record_head(function, number):
    roles = set(function.roles)
    kind = ("kUctraceWindowCall" if roles & {"window", "window_at"} else
            "kUctraceFileCall" if roles & {"file", "file_at"} else "kUctraceMpiCall")
    return f"UCTRACE_HEAD({kind}, {record_parts(function)}, {number})"


def wrapper_locals(function):
    """Variables of a wrapper besides its guard."""
    return "  Word kept[kUctraceKept];\n" if function.kind.startswith("test_") else ""


def request_fields(function):
    if argument := function.argument("new_request"):
        return [f".request = {argument}", ".stores_request = true"]
    if argument := function.argument("request_at"):
        return [f".request = uctrace_mpi_request_at({argument})"]
    if argument := function.argument("request"):
        return [f".request = uctrace_mpi_request({argument})"]
    return []


def has_tag(function):
    return "tag" in function.roles and "peer" in function.roles


def call_fields(function, number):
    """Initialiser of a UctraceCall."""
    fields = [f".head = {record_head(function, number)}", ".result = (Word)kUctraceNotReturned",
              ".caller = (Word)WRAPPER_CALLER"]
    for role in ("comm", "window", "file", "type"):
        if handle := function.argument(role):
            fields.append(f".scope = {handle}")
        elif address := function.argument(role + "_at"):
            fields.append(f".scope = uctrace_mpi_handle_at({address})")
    if has_tag(function):
        fields.append(".has_tag = true")
    if function.has_big_counts:
        fields.append(".big_counts = true")
    fields += request_fields(function)
    if how := posting(function):
        fields.append(f".posting = {how}")
    return initialiser("UctraceCall", fields)


def side(function, prefix, buffer):
    """Initialiser of a UctraceSide."""
    pairs = (("buffer", buffer), ("count", prefix + "count"), ("counts", prefix + "counts"),
             ("datatype", prefix + "datatype"), ("datatypes", prefix + "types"))
    fields = [f".{field} = {argument}" for field, role in pairs
              if (argument := function.count(role))]
    return initialiser("UctraceSide", fields)


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
    return [f".call = {call}", f".half = {half(function)}"]


# The extra field of a guard that contains a UctraceMessage, and the role of its argument.
FIELD_BESIDE_MESSAGE = {
    "UctraceProbe": ("flag", "flag_at"),
    "UctraceProbedReceive": ("probed", "probed"),
    "UctracePartitioned": ("partitions", "partitions"),
}
# The extra fields of a guard that contains a UctraceCall, each with its roles: the first that the function has counts.
PARTITION_FIELDS = {
    "UctraceReady": (("first", ("partition",)), ("last", ("last_partition", "partition"))),
    "UctraceReadyList": (("count", ("partition_count",)), ("list", ("partition_list",))),
    "UctraceTest": (("partition", ("partition",)), ("flag", ("flag_at",))),
}


def guard(function, number):
    """Initialiser of the guard, and how to reach the UctraceCall in it."""
    shape = SHAPES[function.kind]
    call = call_fields(function, number)
    if shape.c_type == "UctraceCall":
        return call, "guard"
    if field := FIELD_BESIDE_MESSAGE.get(shape.c_type):
        fields = [f".message = {initialiser('UctraceMessage', message_fields(call, function))}"]
        fields.append(f".{field[0]} = {function.argument(field[1])}")
        return initialiser(shape.c_type, fields), "guard.message.call"
    fields = [f".call = {call}"]
    if shape.c_type == "UctraceMessage":
        fields = message_fields(call, function)
    elif shape.c_type == "UctraceExchange":
        fields += [f".send = {half(function)}", f".receive = {half(function, 'recv_')}"]
    elif shape.c_type in PARTITION_FIELDS:
        fields += [f".{field} = {argument}" for field, roles in PARTITION_FIELDS[shape.c_type]
                   if (argument := next(filter(None, map(function.argument, roles)), None))]
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
        made = next(filter(None, map(function.argument, ("new_window", "new_file", "new_session"))))
        fields.append(f".made = {made}")
    elif shape.c_type == "UctraceSession":
        fields.append(f".session = {function.argument('session_at')}")
    elif shape.c_type == "UctraceRename":
        fields.append(f".name = {function.argument('name')}")
    return initialiser(shape.c_type, fields), "guard.call"


# Guards whose `enter` takes more than the UctraceCall.
WHOLE_GUARD = ("message", "exchange", "requests", "probed_receive", "session_finalize")


def symbols(function):
    """The names of a function's two wrappers in C."""
    ending = OPTIONAL_ENDING if function.optional else ""
    return function.name + ending, "P" + function.name + ending


def exported(function):
    """Those of the two that exist."""
    return symbols(function)[:1] if function.kind == "tool" else symbols(function)


def call_of_original(function):
    """The parameters of a function: a0, a1, ... ..."""
    names = [f"a{i}" for i in range(len(function.roles))]
    return f"((Function{len(names)})original)({', '.join(names)})"


def tool_wrapper(function, number):
    """A function of MPI_T: not measured, but answered by this library if it offers variables. The PMPI_T names are not
    exported: calls of these bypass this library."""
    names = [f"a{i}" for i in range(len(function.roles))]
    parameters = [f"Word {name}" for name in names]
    return f"""
Word uctrace_{function.name}({', '.join(['void* original', *parameters])});
WRAPPER_EXPORT Word {function.name}({', '.join(parameters) or 'void'}) {{
  void* original = original_of({number}, kUctraceMpi, WRAPPER_CALLER);
  return uctrace_mpi_offers_variables
             ? uctrace_{function.name}({', '.join(['original', *names])})
             : {call_of_original(function)};
}}
"""


# Classes of functions of which only calls are counted, whatever they return. Together with sends, they also take a
# shorter path while they are left out.
COUNTED_AS_CALLS = ("receive", "probe", "wait", "test", "wait_all", "wait_any", "wait_some",
                    "test_all", "test_any", "test_some")


def has_short_paths(function):
    """Whether it has a shorter path while calls are only counted, and one while they are left out."""
    return function.kind in (*COUNTED_AS_CALLS, "send") and not makes_persistent(function)


def counted_wrapper(function, number):
    """That shorter path: the function that counts around the original, and the branch to it. Calls by the library
    itself, and calls whose original is not yet known, are left to `recorded_`: so no argument has to survive a call in
    a register."""
    names = [f"a{i}" for i in range(len(function.roles))]
    parameters, arguments = ", ".join(f"Word {name}" for name in names), ", ".join(names)
    sends = function.kind == "send"
    guard = f"LEAVE_BY(count_call) const unsigned guard = {number}"
    if sends:
        fields = [".result = (Word)kUctraceNotReturned", f".comm = {function.argument('comm')}",
                  f".peer = {function.argument('peer')}", f".count = {function.count('count')}",
                  f".datatype = {function.argument('datatype')}", f".function = {number}",
                  f".big_counts = {'true' if function.has_big_counts else 'false'}"]
        guard = f"LEAVE_BY(count_send) UctraceSent guard = {{{', '.join(fields)}}}"
    return f"""WRAPPER_INLINE Word counting_{function.name}(void* original, {parameters}) {{
  {guard};
  enter_counted({'true' if sends else 'false'});
  return {'guard.result = ' if sends else ''}{call_of_original(function)};
}}
WRAPPER_COUNTED Word counted_{function.name}({parameters}) {{
  void* original = known_original({number}, kUctraceMpi);
  if (__builtin_expect(original == 0 || !is_outermost(), 0)) return recorded_{function.name}({arguments});
  return counting_{function.name}(original, {arguments});
}}
"""


def left_out_wrapper(function, number):
    """The path while recording is off: the function that shows the call around the original."""
    names = [f"a{i}" for i in range(len(function.roles))]
    parameters, arguments = ", ".join(f"Word {name}" for name in names), ", ".join(names)
    shown = {"head": record_head(function, number), "caller": "WRAPPER_CALLER", "request": "0", "scope": "0",
             "peer": "kUctraceNoPeer", "tag": "kUctraceNoPeer"}
    if comm := function.argument("comm"):
        shown["scope"] = f"handle_of_left_out({comm})"
    if peer := function.argument("peer"):
        shown["peer"] = f"peer_of_left_out({peer})"
    if has_tag(function):
        shown["tag"] = f"tag_of_left_out({function.argument('tag')})"
    if new := function.argument("new_request"):
        shown["request"] = new
    for role in ("request", "request_at"):
        if argument := function.argument(role):
            shown["request"] = f"{role}{'_of' if role == 'request' else ''}_left_out({argument})"
    fields = ", ".join(f".{field} = {value}" for field, value in shown.items())
    return f"""WRAPPER_LEFT_OUT Word left_out_{function.name}({parameters}) {{
  void* original = known_original({number}, kUctraceMpi);
  char* const lane = lane_of_left_out({number}, WRAPPER_CALLER);
  if (__builtin_expect(original == 0 || lane == 0 || !is_outermost(), 0)) return recorded_{function.name}({arguments});
  LEAVE_BY(leave_left_out) bool guard = enter_left_out(lane, (LeftOutCall){{{fields}}});
  return {call_of_original(function)};
}}
"""


def wrapper(function, number):
    shape = SHAPES[function.kind]
    if function.kind == "tool":
        return tool_wrapper(function, number)
    if shape is None:  # variadic
        return (f"\nDEFINE_PCONTROL({function.name}, {number}, {ENTRY_MPI})\n"
                f"DEFINE_PCONTROL(P{function.name}, {number}, {ENTRY_PMPI})\n")
    names = [f"a{i}" for i in range(len(function.roles))]
    parameters = ", ".join(f"Word {name}" for name in names)
    arguments = ", ".join(names)
    original = call_of_original(function)
    guarded, call = guard(function, number)
    entered = "guard" if shape.enter in WHOLE_GUARD else call
    if shape.c_type in ("UctraceProbe", "UctracePartitioned"):
        entered = "guard.message"
    measured = f"measured_{function.name}({', '.join(['original', *names])})"
    mpi, pmpi = symbols(function)
    versions = "".join(
        f'__asm__(".symver {symbol}, {name}@{OPTIONAL_VERSION}");\n'
        for symbol, name in ((mpi, function.name), (pmpi, "P" + function.name)) if symbol != name)
    # The caller of a PMPI function is checked only once.
    entry, branch, by_binding = f"WRAPPER_EXPORT Word {mpi}", "", measured
    if has_short_paths(function):
        entry = f"WRAPPER_RECORDED Word recorded_{function.name}"
        branch = (counted_wrapper(function, number) + left_out_wrapper(function, number) +
                  f"DEFINE_BRANCH({mpi}, {function.name}, ({parameters}), ({arguments}))\n")
        by_binding = f"(only_counts() ? counting_{function.name}(original, {arguments}) : {measured})"
    return f"""
{versions}WRAPPER_INLINE Word measured_{function.name}({', '.join(['void* original', *([parameters] if names else [])])}) {{
{wrapper_locals(function)}  LEAVE_BY(leave_{shape.leave}) {shape.c_type} guard = {guarded};
  enter_{shape.enter}(&{entered});
  return {call}.result = {original};
}}
{entry}({parameters or 'void'}) {{
  void* original = original_of({number}, kUctraceMpi, WRAPPER_CALLER);
  return is_measured() ? {measured} : {original};
}}
{branch}WRAPPER_EXPORT Word {pmpi}({parameters or 'void'}) {{
  void* original = original_of({number}, kUctracePmpi, WRAPPER_CALLER);
  return is_measured() && uctrace_mpi_called_by_binding(WRAPPER_CALLER) ? {by_binding} : {original};
}}
"""


def prototypes(functions):
    """Exported functions have no header; -Wmissing-prototypes needs declarations."""
    for arity in sorted({len(f.roles) for f in functions}):
        words = ", ".join(["Word"] * arity) or "void"
        yield f"typedef Word (*Function{arity})({words});"
    for function in functions:
        if SHAPES[function.kind] is None:
            continue
        words = ", ".join(["Word"] * len(function.roles)) or "void"
        # DEFINE_BRANCH declares what it defines.
        names = exported(function)[1:] if has_short_paths(function) else exported(function)
        for name in names:
            yield f"Word {name}({words});"


def field(constant):
    """A name that a C struct may use for it."""
    return f"{constant}_type" if constant in ("char", "int", "unsigned_long") else constant


def flavour_initialiser(name, constants):
    def handle(text):
        if re.fullmatch(r"0x[0-9a-f]+", text):
            return "{.value = " + text + "}"
        return '{.symbol = "' + text + '"}'

    versions = [] if constants["versions"] == "-" else constants["versions"].split("|")
    texts = ", ".join([*(f'"{version}"' for version in versions), "0"])
    combiners = ", ".join(constants[f"combiner_{name}"].replace("-", "kUctraceNoCombiner")
                          for name in COMBINERS)
    fields = [f".versions = (const char* const[]){{{texts}}}",
              ".own_symbol = " + ("0" if constants["own_symbol"] == "-" else f'"{constants["own_symbol"]}"'),
              f".is_standard_abi = {'true' if constants['abi'] == 'standard' else 'false'}",
              f".combiners = {{{combiners}}}"]
    fields += [f".{key} = {int(constants[key])}" for key in INTEGER_CONSTANTS]
    fields += [f".{field(key)} = {handle(constants[key])}" for key in HANDLE_CONSTANTS]
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
        output.write(f"{OPTIONAL_VERSION} {{ local: *{OPTIONAL_ENDING}; }};\n")


if __name__ == "__main__":
    main()
