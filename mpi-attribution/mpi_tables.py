"""Reads the tables of MPI: the measured functions (mpi_functions.txt), and the constants of binary
interfaces (mpi_flavours.txt)."""

import re
from dataclasses import dataclass


COUNTS = ("count", "recv_count", "counts", "recv_counts")


def big(role):
    """The role of a 64-bit count."""
    return role.replace("count", "big_count") if role in COUNTS else role


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    roles: tuple  # one for each argument
    rule: str = ""  # the volume rule of a collective operation
    optional: bool = False  # some MPI libraries lack it

    def argument(self, role):
        """The C name of the argument with this role, None if there is none."""
        return f"a{self.roles.index(role)}" if role in self.roles else None

    def count(self, role):
        """The same for a count of either size."""
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


PARTITIONED = Shape("UctracePartitioned", "partitioned", enter="message",
                    required=("partitions", "count", "datatype", "peer", "tag", "comm",
                              "new_request"))
SHAPES = {
    "init": Shape("UctraceCall", "init"),
    "finalize": Shape("UctraceCall", "finalize", enter="finalize"),
    "abort": Shape("UctraceCall", "unrecorded", enter="abort"),
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
    "test": Shape("UctraceTest", "test", required=("flag_at",)),
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
    "partitioned_send": PARTITIONED,
    "partitioned_receive": PARTITIONED,
    "ready": Shape("UctraceReady", "ready", required=("partition", "request")),
    "ready_list": Shape("UctraceReadyList", "ready_list",
                        required=("partition_count", "partition_list", "request")),
    "arrived": Shape("UctraceTest", "arrived", required=("partition", "flag_at", "request")),
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
    "session_constructor": Shape("UctraceMade", "session_making", required=("new_session",)),
    "session_release": Shape("UctraceSession", "session_finalize", enter="session_finalize",
                             required=("session_at",)),
    "type_release": Shape("UctraceCall", "unrecorded", enter="type_release", required=("type_at",)),
    "window_constructor": Shape("UctraceMade", "window_making",
                                required=("comm", "new_window")),
    "window_release": Shape("UctraceCall", "window_release", required=("window_at",)),
    "file": Shape("UctraceCall", "call", required=("file",)),
    "file_data": message("file", "count", "datatype"),
    "file_constructor": Shape("UctraceMade", "file_making", required=("comm", "new_file")),
    "file_release": Shape("UctraceCall", "file_release", required=("file_at",)),
    "pcontrol": None,
    "tool": Shape(None, "call"),
    "call": CALL,
}
# UctraceVolumeRule: the roles that a rule needs.
RULES = {
    "none": (),
    "bcast": ("count", "datatype", "root"),
    "allreduce": ("count", "datatype"),
    "exscan": ("count", "datatype"),
    "scan": ("count", "datatype"),
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
         "file", "new_file", "file_at", "type_at", "new_session", "session_at",
         *(big(role) for role in COUNTS), "partitions", "partition", "last_partition",
         "partition_count", "partition_list", "tag_text",
         "root", "counts", "recv_counts", "types", "recv_types", "sendbuf", "recvbuf",
         "new_request", "request_at", "request", "requests", "request_count", "probed",
         "flag_at", "index_at", "ended_count_at", "ended"}
INTEGER_CONSTANTS = ("handle_bytes", "proc_null", "any_source", "any_tag", "undefined", "root",
                     "in_place", "cartesian", "graph", "distributed_graph",
                     "thread_single", "thread_funneled", "thread_serialized", "thread_multiple",
                     "t_memory", "t_invalid", "t_invalid_index", "t_invalid_session",
                     "t_invalid_handle", "t_out_of_handles", "t_no_write", "t_no_startstop",
                     "t_no_atomic", "t_size", "t_counter", "t_aggregate", "t_generic",
                     "t_user_basic", "t_tuner_basic", "t_mpidev_all", "t_no_object", "t_comm",
                     "t_local")
HANDLE_CONSTANTS = ("comm_null", "comm_self", "comm_world", "datatype_null", "no_op",
                    "request_null", "byte", "errors_return", "char", "int", "unsigned_long",
                    "t_all_handles")
# In the order of log::Combiner, from the first known one on.
COMBINERS = ("named", "dup", "contiguous", "vector", "hvector_integer", "hvector", "indexed",
             "hindexed_integer", "hindexed", "indexed_block", "struct_integer", "structure",
             "subarray", "darray", "f90_real", "f90_complex", "f90_integer", "resized",
             "hindexed_block", "value_index")
ABIS = ("native", "standard")


MAX_FUNCTIONS = 1024  # log::MpiCall::kMaxFunctions

# The version of functions that some libraries lack, and the ending of their symbols in C. An ordinary reference
# without a version is bound to it, but dlsym does not find it. It must be the only version of the symbol.
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
    expected = {"abi", "versions", "own_symbol", *INTEGER_CONSTANTS, *HANDLE_CONSTANTS,
                *(f"combiner_{name}" for name in COMBINERS)}
    for name, constants in flavours.items():
        if set(constants) != expected:
            raise TableError(f"{path}: {name}: expected exactly {', '.join(sorted(expected))}")
        if constants["abi"] not in ABIS:
            raise TableError(f"{path}: {name}: abi is one of {', '.join(ABIS)}")
    return flavours
