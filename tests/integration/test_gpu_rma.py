"""Puts, gets and atomic operations on GPU memory, without MPI: the memory at both ends is known,
although the target takes no part; pieces of mapped memory are distinguished within a window.

    test_gpu_rma.py SETTING"""

from checks import check_complete, check_delivered, check_same_multiset
from gpu_jobs import SHARED_MEMORY, UNHOOKED, record_pair
from harness import check_equal, run_test, scratch
from plain import as_called, read_calls

# Over UCX 1.13 protocols v1 reach memory of GPUs by cuda_ipc alone, and v2 by active messages.
SETTINGS = {
    "messages": ("all", {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "UCX_PROTO_ENABLE": "y"}),
    "tcp": ("all", {"UCX_TLS": "cuda_copy,tcp,self", "UCX_PROTO_ENABLE": "y"}),
    "unhooked": ("all", {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "UCX_PROTO_ENABLE": "y",
                         **UNHOOKED}),
    "ipc": ("seen", {"UCX_TLS": f"cuda_ipc,cuda_copy,{SHARED_MEMORY}", "UCX_PROTO_ENABLE": "y"}),
}
COLUMNS = ("kind", "by", "to", "bytes", "src", "dst")


def place(memory):
    return memory["memory"], memory["gpu"]


def ends_of(row):
    """In the words of a message: a get moves data from the target, anything else to it."""
    own, target = place(row["own"]), place(row["target"])
    src, dst = (target, own) if row["kind"] == "get" else (own, target)
    return {**row, "src": src, "dst": dst}


def found_ends(message):
    ends = {end: (message[f"{end}_memory"]["kind"], message[f"{end}_memory"]["gpu"])
            for end in ("src", "dst")}
    return {**as_called(message), **ends}


def rma(setting):
    which, settings = SETTINGS[setting]
    with scratch() as folder:
        recording = record_pair(folder, "gpu_rma", which, settings=settings)
        check_complete(recording.info, layers=("uct", "ucp", "gpu"), processes=2)
        check_delivered(recording.messages)
        messages = [found_ends(m) for m in recording.messages if m["kind"] in ("put", "get", "atomic")]
        truth = [ends_of(row) for row in read_calls(folder / "truth")]
        check_same_multiset(messages, truth, COLUMNS, "operations by the memory at both ends")
        for message in messages:
            check_equal(message["match"], "exact", f"match of {message}")
        check_equal(recording.info["gpu"]["unanswered"], 0, "questions without an answer")


run_test(rma)
