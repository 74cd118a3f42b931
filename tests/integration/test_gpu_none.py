"""Jobs that move no GPU memory. Without a driver all memory is the host's, and the log does not mention it. A driver
that was never initialised has no memory. A driver whose GPUs have no device here is not asked. Data sent before a late
driver was noticed is the host's or unknown, never a device's. A driver that the program unloads is still asked.

    test_gpu_none.py WHEN VENDOR"""

from checks import check_complete
from gpu_jobs import check_findings
from harness import (PROGRAMS, VIRTUAL_DEVICES, VIRTUAL_GPUS, WITHOUT_GPU_MODULES, check, check_equal, run_test, run_well,
                     scratch)
from recordings import record_well

DRIVERS = {"cuda": ("libcuda.so.1", "cuInit"), "rocm": ("libhsa-runtime64.so.1", "hsa_init"),
           "level_zero": ("libze_loader.so.1", "zeInit")}
HOST = {"kind": "host", "gpu": None, "bus": None}
# By phase, as gpu_none.c numbers it: before uctrace looked for a driver in vain, since then, since the
# driver was there, since it was found.
EXPECTED = {1: {"host"}, 2: {"host", "unknown"}, 3: {"host", "unknown"}, 4: {"host"}}


def check_memory(recording, phases):
    seen = set()
    for message in recording.messages:
        phase = int(message["ucp_tag"], 16) >> 32
        seen.add(phase)
        for end in ("src_memory", "dst_memory"):
            found = message[end]
            check(found["kind"] in EXPECTED[phase], f"{end} of {message}")
            if found["kind"] == "host":
                check_equal(found, HOST, f"{end} of {message}")
    check_equal(seen, phases, "phases of which there are messages")


def words_of_memory(info):
    """How many operations named their memory, as counted on both sides."""
    found = [identity for identity in info["identities"] if identity["name"] == "memory"]
    check(found, "there is no identity `memory`")
    return sum(identity["left"] + identity["right"] for identity in found)


def no_gpu(when, vendor):
    program = [PROGRAMS / "gpu_none", "loaded" if when == "deviceless" else when, *DRIVERS[vendor]]
    with scratch() as folder:
        devices = {"UCTRACE_TEST_DEVICES": str(folder)} if when == "deviceless" else VIRTUAL_DEVICES
        environment = {"LD_LIBRARY_PATH": str(VIRTUAL_GPUS), **WITHOUT_GPU_MODULES, **devices}
        alone = run_well(program, env=environment)
        result, recording = record_well(folder / "data", program, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        info = recording.info
        check_complete(info, layers=("uct", "ucp"), processes=2)
        check_memory(recording, {1, 2, 3, 4} if when == "late" else {1})
        check_equal(recording.table("device_memory"), [], "memory of devices")
        if when in ("none", "deviceless"):
            check_equal(info["layers"]["gpu"]["state"], "unused", "layer gpu")
            check_equal(info["gpu"]["queries"], 0, "questions to a driver")
            check_equal(words_of_memory(info), 0, "operations that name their memory")
            check_equal(info["gpu"]["devices"], [], "devices")
        else:
            check_equal(info["layers"]["gpu"]["state"], "on", "layer gpu")
            check(info["gpu"]["queries"] > 0, "the driver was asked nothing")
            check_equal(info["gpu"]["unanswered"], 0, "questions without an answer")
            found = {device["vendor"] for device in info["gpu"]["devices"]}
            check_equal(found, set() if when == "loaded" else {vendor}, "vendors of devices")
        check_findings(recording)


run_test(no_gpu)
