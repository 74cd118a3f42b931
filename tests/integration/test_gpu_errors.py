"""A driver of GPUs that cannot tell what memory is: the job runs as ever, the memory of its messages is
unknown and never taken for the host's, and each process says once why."""

from checks import check_messages_are, read_truth
from gpu_jobs import SHARED_MEMORY, place
from harness import MPIS, check_equal, run_test

ERROR = 700  # CUDA_ERROR_ILLEGAL_ADDRESS: a kernel crashed, and took the context along
UNKNOWN = {"kind": "unknown", "gpu": None, "bus": None}


def errors():
    with place("ompi") as jobs:
        truth = jobs.folder / "truth"
        # UCX itself has a cache that knows of no device's memory here, and asks nothing.
        settings = {
            "UCX_TLS": f"cuda_copy,{SHARED_MEMORY}",
            "VIRTUAL_GPU_FAIL": f"cuPointerGetAttributes={ERROR}",
        }
        recording = jobs.recorded("gpu_exchange", "host", "host", truth, settings=settings)
        check_messages_are(recording, read_truth(truth, MPIS["ompi"]))
        for message in recording.sent_by("MPI_Isend"):
            for end in ("src_memory", "dst_memory"):
                check_equal(message[end], UNKNOWN, f"{end} of {message}")
        info = recording.info
        faults = [(fault["layer"], fault["fault"], fault["value"]) for fault in info["faults"]]
        check_equal(faults, [("gpu", "gpu_query_failed", ERROR)] * 2, "faults")
        check_equal(info["layers"]["gpu"]["state"], "on", "layer gpu")


run_test(errors)
