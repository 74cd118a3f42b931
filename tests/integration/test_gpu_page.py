"""The page of a job that moves memory of GPUs between two hosts: the device graph, the tables of
memories and network cards, and the filters have the sums of its messages, in a real browser."""

from checks import check_complete
from gpu_jobs import SHARED_MEMORY, place
from harness import check, run_test
from page import compare_commands, in_browser, make_page

TRANSPORTS = f"cuda_copy,cuda_ipc,{SHARED_MEMORY},tcp"
FILTERS = "src_memory,dst_memory,gpu"


def check_covers(recording):
    """The purpose of a device graph: copies through the host, GPU to GPU, and network cards."""
    seen = set()
    for message in recording.sent_by("MPI_Isend"):
        for step in message["path"]:
            if step["role"] != "control":
                seen.add((step["transport"], step["from"]["kind"], step["to"]["kind"]))
    for way in (("cuda_copy", "gpu", "host"), ("cuda_copy", "host", "gpu"),
                ("cuda_ipc", "gpu", "gpu"), ("tcp", "host", "host")):
        check(way in seen, f"no {way} among {sorted(seen)}")


def page_shows_gpus():
    with place("two-hosts") as jobs:
        truth = jobs.folder / "truth"
        settings = {"UCX_TLS": TRANSPORTS}
        recording = jobs.recorded("gpu_exchange", "device", "device", truth, settings=settings)
        check_complete(recording.info)
        check_covers(recording)
        page, messages = make_page(recording, jobs.folder)
        selections = jobs.folder / "selections.json"
        in_browser("--page", page, "--messages", messages, "--part", "gpus", "--selections",
                   selections, "--filters", FILTERS)
        shown = compare_commands(recording, selections)
        check(len(shown) > 6, f"only {len(shown)} selections by {FILTERS}")


run_test(page_shows_gpus)
