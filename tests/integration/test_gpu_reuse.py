"""Memory allocated and freed at the same addresses, each time of another kind or on another GPU: each
operation names the allocation of its time, and the log has each once, in order.

    test_gpu_reuse.py WHICH PROTOCOLS"""

from checks import check_complete
from gpu_jobs import (
    KINDS,
    SHARED_MEMORY,
    PROTOCOLS,
    UNREGISTERED,
    check_findings,
    check_messages_lie,
    record_pair,
)
from harness import check, check_equal, run_test, scratch, ucx_version
from plain import read_calls

SIZES = (4000, 300000)  # of messages; the last byte of a tag says which
WITHOUT_IPC = f"cuda_copy,{SHARED_MEMORY}"
# UCX 1.13 itself cannot see pools and mapped memory. So it is told the memory type, or has neither
# hooks nor a cache and asks the driver each time.
SETTINGS = {
    "told": {"UCX_TLS": WITHOUT_IPC},
    "asked": {"UCX_TLS": WITHOUT_IPC, **UNREGISTERED},
    "seen": {"UCX_TLS": f"cuda_ipc,{WITHOUT_IPC}"},
}
# The sequences of memory at one address.
REUSED = {
    "told": {("device", "device"), ("device", "pool"), ("pool", "pool"), ("pool", "device"),
             ("managed", "host"), ("vmm", "vmm")},
    "seen": {("device", "device"), ("managed", "host")},
}


def check_reuse(truth, which):
    """The program did what the test is about."""
    begins, gpus = set(), set()
    for pid in {row["pid"] for row in truth}:
        own = {row["allocation"]: row for row in truth if row["pid"] == pid}
        last = {}
        for number in sorted(own):
            row = own[number]
            before = last.get(row["begin"])
            if before is not None:
                begins.add((before["kind"], row["kind"]))
                if before["gpu"] != row["gpu"]:
                    gpus.add((before["kind"], row["kind"]))
            last[row["begin"]] = row
    check(REUSED.get(which, REUSED["told"]) <= begins, f"addresses were not used again: {begins}")
    check(which == "seen" or ("vmm", "vmm") in gpus, f"nothing came to another GPU: {gpus}")


def check_allocations(recording, truth):
    """Operations of one allocation name the same row of /device_memory, and no other's."""
    processes = recording.table("processes")
    memory = recording.table("device_memory")
    gpus = recording.table("gpus")
    told = {(row["pid"], row["function"], row["tag"]): row for row in truth}
    rows, seen = {}, 0  # rows: by process and number of the allocation
    for operation in recording.table("ucp_operations"):
        pid = processes[operation["process"]]["pid"]
        row = told.get((pid, operation["function"], operation["tag"]))
        if row is None:
            continue
        seen += 1
        named = operation["device_memory"]
        if row["memory"] == "host":
            check_equal(named, -1, f"memory of a driver under {row}")
            continue
        check(named >= 0, f"no memory is named by {operation} in {row}")
        found = memory[named]
        gpu = gpus[found["gpu"]]
        check_equal((found["kind"], found["address"], f"{gpu['host']}/{gpu['uuid']}"),
                    (KINDS[row["kind"]], row["begin"], row["gpu"]), f"memory of {row}")
        check_equal(found["bytes"], row["bytes"], f"bytes of the memory of {row}")
        check_equal(rows.setdefault((pid, row["allocation"]), named), named, f"row of {row}")
        over = found["to_ns"]
        check(over == -1 or operation["t_end_ns"] <= over, f"{operation} in memory that is over: {found}")
    check_equal(seen, len(told), "operations")
    check_equal(len(set(rows.values())), len(rows), "rows of allocations that differ")
    check_order(rows, memory)


def check_order(rows, memory):
    """Memory at the same addresses has disjoint lifetimes, as in the program."""
    for (pid, number), row in rows.items():
        earlier, end = memory[row], memory[row]["address"] + memory[row]["bytes"]
        for (other_pid, other_number), other_row in rows.items():
            later = memory[other_row]
            overlap = later["address"] < end and earlier["address"] < later["address"] + later["bytes"]
            if other_pid != pid or other_number <= number or not overlap:
                continue
            check(earlier["to_ns"] != -1, f"never over: {earlier}, then {later}")
            check(earlier["alive_ns"] <= earlier["to_ns"] <= later["from_ns"],
                  f"at the same time: {earlier}, {later}")


def expected_disagreements(truth, which):
    """From 1.15 on UCX detects memory of a pool as managed, on purpose (docs/gpu.md)."""
    in_pools = [row for row in truth if row["kind"] == "pool"]
    if which != "asked" or ucx_version() < (1, 15):
        return []
    return [{"memory": "pool", "believed": "cuda_managed", "believed_from": "detection",
             "bus": None, "believed_bus": None, "operations": len(in_pools),
             "bytes": sum(SIZES[row["tag"] & 0xff] for row in in_pools)}]


def reuse(which, protocols):
    with scratch() as folder:
        settings = {**SETTINGS[which], "UCX_PROTO_ENABLE": PROTOCOLS[protocols]}
        recording = record_pair(folder, "gpu_reuse", which, settings=settings)
        truth = read_calls(folder / "truth")
        check_reuse(truth, which)
        check_complete(recording.info, layers=("uct", "ucp", "gpu"), processes=2)
        check_messages_lie(recording, truth)
        check_allocations(recording, truth)
        check_equal(recording.info["gpu"]["unanswered"], 0, "questions without an answer")
        found = [dict(row) for row in recording.info["gpu"]["disagreements"]]
        check(all(row.pop("message") is not None for row in found), f"no message is named: {found}")
        expected = expected_disagreements(truth, which)
        check_equal(found, expected, "memory that UCX took for something else")
        check_findings(recording, "staged-through-host", *(["memory-mistaken"] if expected else []))


run_test(reuse)
