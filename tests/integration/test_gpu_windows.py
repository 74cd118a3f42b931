"""MPI windows on GPU memory: the memory at both ends of each put and get is known, although the target
takes no part.

    test_gpu_windows.py SETTING"""

from dataclasses import replace

from checks import check_complete, check_copies, read_truth
from gpu_jobs import SHARED_MEMORY, check_memory, place
from harness import run_test
from mpi_jobs import MPIS

# (own memory, windows, settings). Over UCX 1.13 protocols v1 reach a GPU's memory by cuda_ipc alone.
V2 = {"UCX_PROTO_ENABLE": "y"}
SETTINGS = {
    "messages": ("device", "device", {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", **V2}),
    "ipc": ("device", "device", {"UCX_TLS": f"cuda_ipc,cuda_copy,{SHARED_MEMORY}", **V2}),
    "from-host": ("host", "device", {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", **V2}),
    "to-managed": ("device", "managed", {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", **V2}),
}


def windows(setting):
    own, window, settings = SETTINGS[setting]
    with place("ompi") as jobs:
        jobs.mpi = replace(jobs.mpi, transport_options=[*jobs.mpi.transport_options, "--mca", "osc", "ucx"])
        truth = jobs.folder / "truth"
        recording = jobs.recorded("gpu_windows", own, window, truth, settings=settings)
        rows = read_truth(truth, MPIS["ompi"])
        check_complete(recording.info)
        check_copies(recording, rows)
        check_memory(recording, rows)


run_test(windows)
