"""Memory of ROCm and Level Zero. A UCX that knows neither takes all of it for the host's, while each message
names its memory and GPU, as the driver knows it. One process may have drivers of all vendors.

    test_gpu_vendors.py WHICH UCX

UCX: `cuda`, the UCX with hooks, which asks CUDA's driver; `system`: one that asks no driver; `rocm`: the
system's with its module for ROCm, which knows only memory allocated on a GPU."""

from checks import check_complete
from gpu_jobs import SHARED_MEMORY, check_findings, check_messages_lie, record_pair
from harness import (PROGRAMS, VIRTUAL_DEVICES, VIRTUAL_GPUS, WITHOUT_GPU_MODULES, check, check_equal, run_test,
                     scratch)
from page import make_page
from plain import read_calls
from recordings import record_well

# The first GPU of each vendor is at this bus, the second one at the next but fifteen.
FIRST_BUS = {"cuda": 0x10, "rocm": 0x14, "level_zero": 0x18}
GPUS = 2
# UCX copies memory that it takes for the host's: so the CPU must be able to read it.
SETTINGS = {"VIRTUAL_GPU_READABLE": "1"}
REACHED_BY_HOST = {"pinned"}  # what UCX does not take for something else
KNOWN_TO_ROCM = {"device"}


def check_devices(recording, vendors):
    """Each GPU once, at its bus, by the vendor's own name."""
    devices = recording.info["gpu"]["devices"]
    found = sorted((device["vendor"], device["bus"]) for device in devices)
    expected = sorted((vendor, f"0000:{FIRST_BUS[vendor] + 0x10 * number:02x}:00.0")
                      for vendor in vendors for number in range(GPUS))
    check_equal(found, expected, "GPUs of each vendor")
    check_equal(len({device["uuid"] for device in devices}), len(devices), "UUIDs")
    for device in devices:
        digits = len(device["uuid"]) - len("GPU-")
        check_equal(digits, 16 if device["vendor"] == "rocm" else 36, f"length of the UUID of {device}")
        check_equal(device["bytes"], 16 << 30, f"memory of {device}")


def check_operations(recording, truth):
    """Each operation names memory of its driver's kind, as far as the driver knows its extent."""
    processes, memory = recording.table("processes"), recording.table("device_memory")
    told = {(row["pid"], row["function"], row["tag"]): row for row in truth}
    seen = 0
    for operation in recording.table("ucp_operations"):
        row = told.get((processes[operation["process"]]["pid"], operation["function"], operation["tag"]))
        if row is None:
            continue
        seen += 1
        check(operation["device_memory"] >= 0, f"no memory is named by {operation} in {row}")
        found = memory[operation["device_memory"]]
        check_equal(found["kind"], row["kind"], f"kind of the memory of {row}")
        # ROCm does not tell where mapped memory begins.
        known = row["vendor"] != "rocm" or row["kind"] != "mapped"
        check_equal(found["bytes"] > 0, known, f"whether the extent of {row} is known")
    check_equal(seen, len(told), "operations")


def check_beliefs(recording, truth):
    """Memory that UCX wrongly took for the host's, according to the driver, and how much."""
    expected = {}
    for row in truth:
        if row["kind"] in REACHED_BY_HOST:
            continue
        extent = expected.setdefault(row["kind"], [0, 0])
        extent[0] += 1
        extent[1] += row["bytes"]
    found = {}
    for one in recording.info["gpu"]["disagreements"]:
        check_equal(one["believed"], "host", f"belief in {one}")
        extent = found.setdefault(one["memory"], [0, 0])  # by its cache, or by asking CUDA's driver
        extent[0] += one["operations"]
        extent[1] += one["bytes"]
    check_equal(found, expected, "memory that UCX took for the host's")


def check_goes_over_rocm(recording):
    """Messages with GPU memory at both ends use UCX's module for ROCm."""
    carried = {step["transport"] for message in recording.messages for step in message["path"]
               if step["role"] == "data" and step["from"]["kind"] == step["to"]["kind"] == "gpu"}
    check("rocm_ipc" in carried, f"transports between GPUs: {carried}")


def check_shown(recording, vendors, folder):
    """What `info` and `messages` print names the GPUs of the vendors, as the page does."""
    info = recording.ask("info").stdout
    page, _ = make_page(recording, folder)
    shown = page.read_text()
    for device in recording.info["gpu"]["devices"]:
        if device["vendor"] not in vendors:
            continue
        messages = recording.ask("messages", "--gpu", device["bus"]).stdout
        check(f"GPU {device['bus']}" in messages, f"no message of {device}:\n{messages}")
        for words in (device["bus"], device["uuid"]):
            check(words in info, f"info does not name {device}:\n{info}")
            check(words in shown, f"the page does not name {device}")


def record_over(ucx, which, folder):
    if ucx == "cuda":
        settings = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", **SETTINGS}
        return record_pair(folder, "gpu_vendors", which, settings=settings)
    command = [PROGRAMS / "gpu_vendors", which, folder / "truth"]
    ways = {"system": {"UCX_TLS": SHARED_MEMORY, **WITHOUT_GPU_MODULES},
            # Its hooks do not see calls through a pointer, like the program's: so it asks the driver each
            # time.
            "rocm": {"UCX_TLS": f"rocm_copy,rocm_ipc,{SHARED_MEMORY}", "UCX_MEMTYPE_CACHE": "n",
                     "UCX_MODULES": "^cuda*,ze*"}}
    environment = {"LD_LIBRARY_PATH": str(VIRTUAL_GPUS), **ways[ucx], **VIRTUAL_DEVICES, **SETTINGS}
    return record_well(folder / "data", command, env=environment)[1]


def vendors(which, ucx):
    used = ["rocm", "level_zero"] if which == "all" else [which]
    with scratch() as folder:
        recording = record_over(ucx, which, folder)
        truth = read_calls(folder / "truth")
        check_equal({row["vendor"] for row in truth}, set(used), "vendors of the program")
        check_complete(recording.info, layers=("uct", "ucp", "gpu"), processes=2)
        check_equal(recording.info["gpu"]["unanswered"], 0, "questions without an answer")
        check_devices(recording, ["cuda", *used] if ucx == "cuda" else used)  # UCX initialises CUDA
        check_messages_lie(recording, truth)
        check_operations(recording, truth)
        looked_at = {"cuda": truth, "system": [], "rocm": [row for row in truth if row["kind"] not in KNOWN_TO_ROCM]}
        check_beliefs(recording, looked_at[ucx])
        # What UCX takes for the host's is not copied there by it.
        mistaken = any(row["kind"] not in REACHED_BY_HOST for row in looked_at[ucx])
        check_findings(recording, *(["memory-mistaken"] if mistaken else []))
        if ucx == "rocm":
            check_goes_over_rocm(recording)
        check_shown(recording, used, folder)


run_test(vendors)
