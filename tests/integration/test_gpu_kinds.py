"""Messages between all kinds of CUDA memory, over shared memory: whatever UCX takes them for, they
arrive, all their operations are known, and so is their memory.

    test_gpu_kinds.py FROM TO PROTOCOLS"""

from checks import check_complete, check_messages_are, read_truth
from gpu_jobs import PROTOCOLS, SHARED_MEMORY, check_memory, place
from harness import run_test
from mpi_jobs import MPIS

# Memory whose allocation UCX 1.13 does not see: its cache would take it for the host's.
UNSEEN = {"pool", "vmm"}


def kinds(sent, received, protocols):
    with place("ompi") as jobs:
        truth = jobs.folder / "truth"
        # Not cuda_ipc: with it UCX 1.13 fails on pools and mapped memory.
        settings = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "UCX_PROTO_ENABLE": PROTOCOLS[protocols]}
        if UNSEEN & {sent, received}:
            settings["UCX_MEMTYPE_CACHE"] = "n"
        recording = jobs.recorded("gpu_exchange", sent, received, truth, settings=settings)
        rows = read_truth(truth, MPIS["ompi"])
        check_messages_are(recording, rows)
        check_complete(recording.info)
        check_memory(recording, rows)


run_test(kinds)
