"""Messages between memories of virtual GPUs, all ranks to all: contents arrive, each operation is
tied to its message, the path is UCX's for these settings, including copies, and both ends are on the
program's GPUs.

    test_gpu_exchange.py PLACE CELL"""

from collections import Counter

from checks import check_complete, check_messages_are, read_truth
from gpu_jobs import SHARED_MEMORY, UNHOOKED, check_findings, check_gpus, check_memory, place
from harness import check, check_equal, run_test, ucx_version
from mpi_jobs import MPIS

INSIDE = frozenset(SHARED_MEMORY.split(","))
TRANSPORTS = f"cuda_copy,cuda_ipc,{SHARED_MEMORY},tcp"
WITHOUT_IPC = TRANSPORTS.replace("cuda_ipc,", "")
# Transfers in path order: (operation, over, role, issuing side). "memory" stands for any of INSIDE.
PACKED = ("get_short", "cuda_copy", "staging", "src")  # inside the pack function of the next
EAGER = {PACKED, ("am_bcopy", "memory", "data", "src"), ("put_short", "cuda_copy", "staging", "dst")}
STAGED = {("get_zcopy", "cuda_copy", "staging", "src"), ("put_zcopy", "memory", "data", "src"),
          ("put_zcopy", "cuda_copy", "staging", "dst")}
# Into mapped memory of the other process.
MAPPED = {("get_zcopy", "cuda_copy", "data", "src"), ("put_zcopy", "cuda_copy", "staging", "dst")}
MAPPED_BY_V2 = MAPPED if ucx_version() >= (1, 15) else STAGED
IPC_PUT = {("put_zcopy", "cuda_ipc", "data", "src")}
IPC_GET = {("get_zcopy", "cuda_ipc", "data", "dst")}


def between_hosts(way):
    return {(op, "tcp" if over == "memory" else over, role, side) for op, over, role, side in way}


# From UCX 1.16 on v2 is the default.
V1 = {"UCX_PROTO_ENABLE": "n"}
# Large messages between hosts use rendezvous from this size on, as v1 does by default.
V2 = {"UCX_PROTO_ENABLE": "y", "UCX_RNDV_THRESH": "10000"}
NOT_MAPPED = {"UCX_RNDV_PIPELINE_SHM_ENABLE": "n"}

# By cell: the settings, and the path of small and large messages, on one host and between two.
SMALL = 4000
CELLS = {
    "eager": ({**V1, "UCX_RNDV_THRESH": "inf"}, EAGER, EAGER, EAGER),
    "ipc-put": (V1, EAGER, IPC_PUT, STAGED),
    "ipc-get": ({**V1, "VIRTUAL_GPU_NVLINKS": "4"}, EAGER, IPC_GET, STAGED),
    "unhooked": ({**V1, **UNHOOKED}, EAGER, IPC_PUT, STAGED),
    # All is announced, and nothing is copied through the host.
    "direct": ({**V1, "UCX_RNDV_THRESH": "0"}, IPC_PUT, IPC_PUT, STAGED),
    "mapped": ({"UCX_TLS": WITHOUT_IPC, **V1}, EAGER, MAPPED, STAGED),
    "staged": ({"UCX_TLS": WITHOUT_IPC, **V1, **NOT_MAPPED}, EAGER, STAGED, STAGED),
    "mapped-v2": ({"UCX_TLS": WITHOUT_IPC, **V2}, EAGER, MAPPED_BY_V2, STAGED),
    "staged-v2": ({"UCX_TLS": WITHOUT_IPC, **V2, **NOT_MAPPED}, EAGER, STAGED, STAGED),
    # Puts are used only directly from the source: otherwise the message is announced and sent in
    # fragments.
    "pieces": ({"UCX_TLS": WITHOUT_IPC, **V1, "UCX_RNDV_SCHEME": "put_zcopy"}, EAGER, EAGER, EAGER),
    "pieces-v2": ({"UCX_TLS": WITHOUT_IPC, **V2, "UCX_RNDV_SCHEME": "put_zcopy"}, EAGER, EAGER, EAGER),
    "ipc-put-v2": ({**V2, "UCX_RNDV_SCHEME": "put_zcopy"}, EAGER, IPC_PUT, EAGER),
    "ipc-get-v2": ({**V2, "UCX_RNDV_SCHEME": "get_zcopy", "VIRTUAL_GPU_NVLINKS": "4"},
                   EAGER, IPC_GET, EAGER),
}


def way_of(message):
    """The transfers of a message's data, without control messages."""
    way = set()
    for step in message["path"]:
        over = "memory" if step["transport"] in INSIDE else step["transport"]
        if step["role"] != "control":
            way.add((step["op"], over, step["role"], step["issued_by"]))
    return way


def check_staging(message):
    """What is copied on a side for a message is its bytes, once."""
    copied = Counter()
    for step in message["path"]:
        if step["role"] == "staging":
            copied[step["issued_by"]] += step["wire_bytes"]
    for side, amount in copied.items():
        check_equal(amount, message["bytes"], f"bytes copied at {side} of {message}")


def check_ways(recording, cell):
    hosts = {process["key"]: process["host"] for process in recording.info["processes"]}
    _, small, inside, outside = CELLS[cell]
    seen = Counter()
    for message in recording.sent_by("MPI_Isend"):
        apart = hosts[message["src_process"]] != hosts[message["dst_process"]]
        large = message["bytes"] > SMALL
        expected = (outside if apart else inside) if large else small
        check_equal(way_of(message), between_hosts(expected) if apart else expected,
                    f"way of {message}")
        check(all(step["exact"] for step in message["path"]), f"not known by an id: {message}")
        check_staging(message)
        seen[apart, large] += 1
    check(len(seen) in (2, 4), f"messages: {seen}")


def exchange(where, cell):
    with place(where) as jobs:
        truth = jobs.folder / "truth"
        settings = {"UCX_TLS": TRANSPORTS, **CELLS[cell][0]}
        recording = jobs.recorded("gpu_exchange", "device", "device", truth, settings=settings)
        rows = read_truth(truth, MPIS["ompi"])
        check_messages_are(recording, rows)
        check_complete(recording.info)
        check_ways(recording, cell)
        check_memory(recording, rows)
        check_gpus(recording, 4 if where == "two-hosts" else 2)
        check_equal(recording.info["gpu"]["disagreements"], [], "memory that UCX took for something else")
        check_findings(recording, *([] if (where, cell) == ("ompi", "direct") else ["staged-through-host"]))


run_test(exchange)
