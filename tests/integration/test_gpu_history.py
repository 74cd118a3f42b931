"""The history of allocations (record --gpu-history) from the CUPTI plug-in on the virtual GPUs: it equals
the program's allocations, in order, and each message is in the allocation of its time. If there is no
history, the job runs and is attributed as usual, and the reason is given.

    test_gpu_history.py CASE"""

import json

from checks import check_complete, check_messages_are, read_truth
from gpu_jobs import SHARED_MEMORY, UNREGISTERED, check_memory, gpu_environment, place
from harness import (PROGRAMS, VIRTUAL_GPUS, check, check_equal, cuda_ucx, run, run_test, run_well, scratch,
                     ucx_version)
from mpi_jobs import MPIS
from recordings import Recording, record_command

PLUGIN = VIRTUAL_GPUS / "libuctrace-cupti.so"
ANOTHER = VIRTUAL_GPUS / "libnvidia-ml.so.1"  # is there, and nothing that CUDA's driver would load
FIRST_TAG = 100
EARLY = 4  # allocations before MPI_Init; one of them is freed there
FREED_EARLY = 1
STORED = {"vmm": "mapped", "registered": "pinned"}  # what the store calls them

ALL = ["device", "pool", "vmm", "device", "managed", "vmm", "pinned", "pool", "device", "registered",
       "pool", "vmm", "device"]
# By case: settings, kinds of source memory, and why there is no history, if so.
CASES = {
    "hooked": ({}, ["device", "managed", "device", "device"], None),
    # UCX 1.13 sees neither pools nor mapped memory: its cache takes them for the host's.
    "unhooked": (UNREGISTERED, ALL, None),
    "taken": ({"CUDA_INJECTION64_PATH": str(ANOTHER)}, ["device", "managed", "device"],
              f"CUDA_INJECTION64_PATH is taken by {ANOTHER}"),
    "occupied": ({"VIRTUAL_CUPTI_SUBSCRIBER": "Nsight Systems"}, ["device", "device"],
                 "another tool uses CUPTI: Nsight Systems"),
    "not-loaded": ({"UCTRACE_GPU_HISTORY": str(ANOTHER)}, ["device", "device"],
                   f"the driver did not load {ANOTHER}"),
}


def allocations_of(truth, rank):
    path = truth.parent / f"{truth.name}-allocations.{rank}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def told_of(recording, process):
    """The history of a process, in order, without UCX's own memory: it pins some, and protocols v2, the
    default since 1.16, allocate a byte as a probe."""
    rows = [row for row in recording.table("device_memory") if row["process"] == process]
    check(all(row["allocated"] for row in rows), "memory that was met, but of which no history tells")
    if ucx_version() >= (1, 16):
        tried = [row for row in rows if row["bytes"] == 1]
        check(all(row["to_ns"] != -1 for row in tried), f"what UCX tried was not freed: {tried}")
        rows = [row for row in rows if row not in tried]
    return sorted(rows, key=lambda row: row["from_ns"])


def check_history(recording, truth, rank):
    """The program's allocations in order, except those freed before the log began; each ends when it was
    freed. Messages use theirs during their lifetime."""
    process = next(i for i, one in enumerate(recording.info["processes"]) if one["rank"] == rank)
    made = [one for i, one in enumerate(allocations_of(truth, rank)) if i != FREED_EARLY]
    addresses = {one["address"] for one in made}
    told = [row for row in told_of(recording, process)
            if row["kind"] != "pinned" or row["address"] in addresses]
    seen = [(row["kind"], row["address"], row["bytes"], row["to_ns"] != -1) for row in told]
    expected = [(STORED.get(one["kind"], one["kind"]), one["address"], one["bytes"], one["freed"])
                for one in made]
    check_equal(seen, expected, f"history of rank {rank}")
    check(len(addresses) < len(made), "no address was used again")
    for earlier, later in zip(told[EARLY - 1:], told[EARLY:]):
        check(earlier["to_ns"] == earlier["alive_ns"] <= later["from_ns"], f"ends late: {earlier}")
    check_uses(recording, process, rank, told)


def check_uses(recording, process, rank, told):
    function = "ucp_tag_send_nbx" if rank == 0 else "ucp_tag_recv_nbx"
    memory = recording.table("device_memory")
    uses = [row for row in recording.table("ucp_operations")
            if row["process"] == process and row["device_memory"] != -1]
    used = sorted({row["device_memory"] for row in uses}, key=lambda one: memory[one]["from_ns"])
    check(uses and {row["function"] for row in uses} <= {function, "tag_send_nbx", "tag_recv_nbx"},
          f"operations on memory that is told: {uses}")
    # The first, and those after MPI_Init, each in one message.
    expected = [told[0], *told[EARLY - 1:]]
    check_equal([memory[one] for one in used], expected, "allocations that were used, in order")
    for row in uses:
        there = memory[row["device_memory"]]
        check(there["from_ns"] <= row["t_start_ns"], f"used before it was allocated: {row} {there}")
        over = there["to_ns"] == -1 or row["t_end_ns"] <= there["to_ns"]
        check(over, f"used after it was freed: {row} {there}")


def missing():
    """A plug-in that is not there is said before anything runs."""
    with scratch() as folder:
        environment = gpu_environment({"UCTRACE_GPU_HISTORY": str(folder / "none.so")})
        for older in ("data", "data.old"):
            (folder / older).mkdir()
            (folder / older / "run.h5").write_text(older)
        result = run(record_command(folder / "data", ["touch", folder / "ran"], ["--gpu-history"]),
                     env=environment)
        check_equal(result.status, 125, "exit status")
        for words in ("cannot record the history of GPU memory", "none.so", "-Dcupti="):
            check(words in result.stderr, f"{words!r} is not said: {result}")
        check(not (folder / "ran").exists(), "the command was run")
        for older in ("data", "data.old"):
            check_equal((folder / older / "run.h5").read_text(), older, "older data")
        # The variable selects a plug-in but does not request a history.
        result = run(record_command(folder / "new", ["sh", "-c", "echo ${UCTRACE_GPU_HISTORY-none}"]),
                     env=environment)
        check_equal(result.stdout, "none\n", "what the command sees without --gpu-history")


def vendors():
    """CUDA's allocations are recorded, together with the remark that ROCm's driver reports none."""
    with scratch() as folder:
        environment = gpu_environment({"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "VIRTUAL_GPU_READABLE": "1",
                                       "UCTRACE_GPU_HISTORY": str(PLUGIN)})
        command = [PROGRAMS / "gpu_vendors", "rocm", folder / "truth"]
        run_well(record_command(folder / "data", command, ["--ucx", cuda_ucx(), "--gpu-history"]),
                 env=environment)
        found = Recording(folder / "data").info["gpu"]["history"]
        check_equal(found["state"], "on", "state of the history")
        check_equal(found["why"], "drivers of ROCm load no library that could tell of allocations", "what is missing")


def history(case):
    if case in ("missing", "vendors"):
        {"missing": missing, "vendors": vendors}[case]()
        return
    settings, kinds, refused = CASES[case]
    with place("ompi") as jobs:
        truth, said = jobs.folder / "truth", []
        recording = jobs.recorded(
            "gpu_history", truth, *kinds, switches=["--gpu-history"], said=said,
            settings={"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "UCTRACE_GPU_HISTORY": str(PLUGIN), **settings})
        rows = read_truth(truth, MPIS["ompi"])
        check_messages_are(recording, rows)
        faults = [(fault["layer"], fault["fault"], fault["detail"]) for fault in recording.info["faults"]]
        check_equal(faults, [("gpu", "gpu_history_refused", refused)] * 2 if refused else [], "faults")
        check_complete({**recording.info, "faults": []})
        check_memory(recording, rows)
        found = recording.info["gpu"]["history"]
        check_equal(found["state"], "refused" if refused else "on", "state of the history")
        check_equal(found["why"], refused, "why there is none")
        warning = [line for line in said if "history of GPU memory" in line]
        check_equal(len(warning), 1 if refused else 0, f"warnings of record in {said}")
        if refused:
            check(refused in warning[0] and "2 of 2 processes" in warning[0], f"warning: {warning}")
            check(not any(row["allocated"] for row in recording.table("device_memory")), "a history")
            return
        check_equal(found["by"], "CUPTI, version 130001", "who tells it")
        for rank in (0, 1):
            check_history(recording, truth, rank)


run_test(history)
