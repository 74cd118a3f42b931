"""A GPU driver that cannot identify memory: the job runs as usual, the memory of its messages is unknown
and never counted as the host's, and each process says why once."""

from checks import check_messages_are, read_truth
from gpu_jobs import SHARED_MEMORY, place
from harness import check, check_equal, run_test
from mpi_jobs import MPIS

ERROR = 700  # CUDA_ERROR_ILLEGAL_ADDRESS: a kernel crashed, and took the context along
UNKNOWN = {"kind": "unknown", "gpu": None, "bus": None}


def record_with(function, kind):
    """The memory of the messages' ends, of a job with buffers of this kind in which that function of the
    driver fails. UCX itself needs none of them here."""
    with place("ompi") as jobs:
        truth = jobs.folder / "truth"
        settings = {
            "UCX_TLS": f"cuda_copy,{SHARED_MEMORY}",
            "UCX_RNDV_THRESH": "inf",  # else it looks at what it registers
            "VIRTUAL_GPU_FAIL": f"{function}={ERROR}",
        }
        recording = jobs.recorded("gpu_exchange", kind, kind, truth, settings=settings)
        check_messages_are(recording, read_truth(truth, MPIS["ompi"]))
        info = recording.info
        faults = [(fault["layer"], fault["fault"], fault["value"]) for fault in info["faults"]]
        check_equal(faults, [("gpu", "gpu_query_failed", ERROR)] * 2, "faults")
        check_equal(info["layers"]["gpu"]["state"], "on", "layer gpu")
        messages = recording.sent_by("MPI_Isend")
        return info["gpu"], [m[end] for m in messages for end in ("src_memory", "dst_memory")]


def errors():
    # UCX's cache knows no device memory, and asks nothing.
    for function, kind in (
        ("cuPointerGetAttributes", "host"),
        ("cuMemRetainAllocationHandle", "device"),
    ):
        _, memories = record_with(function, kind)
        check(memories, f"messages, {function}")
        for memory in memories:
            check_equal(memory, UNKNOWN, f"memory where {function} fails")
    # The memory is identified once; then nothing says whether it is still there.
    gpu, memories = record_with("cuPointerGetAttribute", "device")
    kinds = {memory["kind"] for memory in memories}
    check("unknown" in kinds and kinds <= {"unknown", "gpu"}, f"memory that cannot be checked: {kinds}")
    check(gpu["memory"] < len(memories), f"definitions: {gpu}")


run_test(errors)
