"""GPUs are identified by their UUID, not by a rank's ordinal: ranks see different GPUs under the same
number, with memory at the same addresses, and some GPUs are divided.

    test_gpu_names.py CASE"""

from pathlib import Path

from checks import check_complete, check_messages_are, read_truth
from gpu_jobs import SHARED_MEMORY, check_gpus, check_memory, place
from harness import PROGRAMS, check, check_equal, run_test
from mpi_jobs import MPIS

# What each rank sees: VISIBLE_<rank>. Every rank takes one of its devices by its own rank.
CASES = {
    # Each sees one, as its only one.
    "one-each": ({"VIRTUAL_GPU_COUNT": "4"}, ["2", "0", "3", "1"], 4),
    # All see both, half of them the other way round.
    "permuted": ({}, ["0,1", "1,0", "1,0", "0,1"], 2),
    # Four instances on two GPUs.
    "divided": ({"VIRTUAL_GPU_MIG": "2"}, ["0", "3", "1", "2"], 4),
}
CHOOSE = 'eval "export CUDA_VISIBLE_DEVICES=\\$VISIBLE_$OMPI_COMM_WORLD_RANK"; exec "$@"'


def check_same_addresses(recording):
    """Memory of several GPUs began at one address, in several processes."""
    gpus = {}
    for memory in recording.table("device_memory"):
        gpus.setdefault(memory["address"], set()).add(memory["gpu"])
    check(max(map(len, gpus.values())) > 1, f"no address was of several GPUs: {gpus}")


def names(case):
    settings, visible, count = CASES[case]
    with place("ompi") as jobs:
        truth = jobs.folder / "truth"
        environment = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", **settings}
        for rank, devices in enumerate(visible):
            environment[f"VISIBLE_{rank}"] = devices
        program = PROGRAMS / "gpu_exchange.ompi"
        recording = jobs.recorded(Path("/bin/sh"), "-c", CHOOSE, "sh", program, "device", "device", truth,
                                  settings=environment, ranks=len(visible))
        rows = read_truth(truth, MPIS["ompi"])
        check_messages_are(recording, rows)
        check_complete(recording.info)
        check_memory(recording, rows)
        check_gpus(recording, count)
        check_same_addresses(recording)
        parts = {device["uuid"].startswith("MIG-") for device in recording.info["gpu"]["devices"]}
        check_equal(parts, {case == "divided"}, "devices that are parts of a GPU")


run_test(names)
