"""Counters by GPU: data sent from and received into each memory, with and without a trace of the same run, compared
with the program's account and the trace.

    test_gpu_counters.py CASE [MPI or PROTOCOLS]"""


from checks import read_truth
from counter_files import counters
from gpu_jobs import PROTOCOLS, SHARED_MEMORY, place, record_pair
from harness import TOOL, check, check_equal, run_test, run_well, scratch
from metrics import check_equal_counters, serving
from mpi_jobs import MPIS
from plain import read_calls

WHICH = {"v1": "two-sided", "v2": "all"}
# Messages that the program expects before its receive must be eager: UCX 1.18 begins rendezvous at one byte.
SETTINGS = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}", "UCX_RNDV_THRESH": "64k"}


def found_gpus(folder):
    """{(gpu or None, memory, data): (operations, bytes)}, and nothing was lost."""
    found = counters(folder)
    for row in found["processes"]:
        check_equal((row["closed"], row["unplaced"], row["lost_names"]), ("yes", 0, 0), f"{row}")
    sums = {}
    for row in found["gpus"]:
        gpu = f"{row['host']}/{row['gpu']}" if row["gpu"] else None
        check_equal(row["bus"] is None, gpu is None, f"bus of {row}")
        sums[gpu, row["memory"], row["data"]] = row["operations"], row["bytes"]
    return sums


def sums_of(ends):
    """Of (gpu, memory, data, bytes); the host's memory is not counted."""
    sums = {}
    for gpu, memory, data, size in ends:
        if memory != "host":
            count, total = sums.get((gpu, memory, data), (0, 0))
            sums[gpu, memory, data] = count + 1, total + size
    return sums


def of_messages(messages):
    for message in messages:
        for end, data in (("src_memory", "sent"), ("dst_memory", "received")):
            yield message[end]["gpu"], message[end]["kind"], data, message["bytes"]


def ranks(mpi):
    """Messages of MPI between GPUs: as the program says, and as the trace does."""
    for switches in (["--counters", "--trace"], ["--counters"]):
        with place(mpi) as jobs:
            truth = jobs.folder / "truth"
            recording = jobs.recorded("gpu_exchange", "device", "managed", truth, settings=SETTINGS, switches=switches)
            found = found_gpus(recording.folder)
            check_equal(found, sums_of(of_messages(read_truth(truth, MPIS[mpi]))), f"data by GPU, {switches}")
            if "--trace" in switches:
                check_equal(found, sums_of(of_messages(recording.messages)), "data by GPU, by the trace")


def forms(protocols):
    """Every form of UCP's operations."""
    for switches in (["--counters", "--trace"], ["--counters"]):
        with scratch() as folder:
            settings = {**SETTINGS, "UCX_PROTO_ENABLE": PROTOCOLS[protocols]}
            recording = record_pair(folder, "gpu_counted", WHICH[protocols], settings=settings, switches=switches)
            truth = read_calls(folder / "truth")
            expected = sums_of((row["gpu"], row["memory"], row["data"], row["bytes"]) for row in truth)
            places = {"gpu", "managed", "unknown"} if protocols == "v2" else {"gpu", "managed"}
            check_equal({memory for _, memory, _ in expected}, places, "where data lay")
            check_equal(found_gpus(recording.folder), expected, f"data by GPU, {switches}")


def forked():
    """A process forked from one that has found the driver: it counts as the other does."""
    for switches in (["--counters", "--trace"], ["--counters"]):
        with scratch() as folder:
            recording = record_pair(folder, "gpu_counted", "forked", settings=SETTINGS, switches=switches)
            expected = sums_of((row["gpu"], row["memory"], row["data"], row["bytes"])
                               for row in read_calls(folder / "truth"))
            check_equal(len({gpu for gpu, _, _ in expected}), 2, "GPUs of the program")
            check_equal(found_gpus(recording.folder), expected, f"data by GPU, {switches}")


def forced():
    """A receive that completes inside its call: UCX 1.13 does not tell how much it received."""
    with scratch() as folder:
        recording = record_pair(folder, "gpu_counted", "forced", settings=SETTINGS, switches=["--counters"])
        found = counters(recording.folder)
        received = [row for row in found["gpus"] if row["data"] == "received"]
        unplaced = sum(row["unplaced"] for row in found["processes"])
        truth = [row for row in read_calls(folder / "truth") if row["data"] == "received"]
        check_equal(sum(row["operations"] for row in received) + unplaced, len(truth), "receives")
        known = {row["bytes"] // row["operations"] for row in received}
        check(known <= {row["bytes"] for row in truth}, f"bytes received: {received}")


def shown():
    """`top` and `serve --metrics` tell them, too."""
    with scratch() as folder:
        recording = record_pair(folder, "gpu_counted", "two-sided", settings=SETTINGS, switches=["--counters"])
        found = found_gpus(recording.folder)
        top = run_well([TOOL, "top", recording.folder, "--once", "--by", "gpus"]).stdout
        for gpu, _, _ in found:
            if gpu is not None:
                check(gpu.split("/")[1] in top, f"top does not name {gpu}:\n{top}")
        with serving(recording.folder) as server:
            check_equal_counters(server.scrape(), counters(recording.folder))


CASES = {"ranks": ranks, "forms": forms, "forked": forked, "forced": forced, "shown": shown}


def main(case, *words):
    CASES[case](*words)


run_test(main)
