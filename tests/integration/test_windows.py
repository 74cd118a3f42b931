"""One-sided calls are recorded with the communicator of their window, their target and their bytes,
and what the library sends for them is attributed to them."""

import json
from collections import Counter

from checks import check_same_multiset, read_truth, results_of
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

COLUMNS = ("rank", "function", "comm", "peer", "bytes", "recv_bytes")
NO_PEER = -(2**31)
OPEN_MPI_WINDOWS = {"OMPI_MCA_osc": "ucx"}  # its default fails on one host here


def is_one_sided(function):
    return function.startswith("MPI_Win_") or function in {
        f"MPI_{name}"
        for name in (
            *("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
            *("Rput", "Rget", "Raccumulate", "Rget_accumulate"),
        )
    }


def calls_of(recording):
    ranks = [process["rank"] for process in recording.table("processes")]
    for call in recording.table("mpi_calls"):
        if is_one_sided(call["function"]):
            yield {**call, "rank": ranks[call["process"]]}


def check_report(recording, truth):
    """`report --by mpi` sums the calls up and names their communicators."""
    report = recording.ask("report", "--by", "mpi", "--format", "json")
    rows = {row["mpi"]: row for row in json.loads(report.stdout)["mpi"]}
    asked, comms = Counter(), {}
    for row in truth:
        asked[row["function"]] += row["bytes"] + row["recv_bytes"]
        comms.setdefault(row["function"], set()).add(row["comm"])
    for function, names in comms.items():
        check_equal(rows[function]["asked_bytes"], asked[function], f"bytes of {function}")
        check_equal(rows[function]["comms"], ", ".join(sorted(names)), f"windows of {function}")
    one = recording.ask("report", "--by", "mpi", "--comm", "Later", "--format", "json")
    rows = {row["mpi"]: row for row in json.loads(one.stdout)["mpi"]}
    check_equal(
        rows["MPI_Get"]["calls"],
        sum(row["comm"] == "Later" and row["function"] == "MPI_Get" for row in truth),
        "calls of MPI_Get on one communicator",
    )


def windows_are_recorded(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        alone = run_well(mpi.job("windows"), env=OPEN_MPI_WINDOWS)
        job = mpi.job("windows", folder / "truth")
        result, recording = record_well(folder / "data", job, env=OPEN_MPI_WINDOWS)
        check_equal(result.stdout, alone.stdout, "output of the job")
        truth = [
            {**row, "peer": NO_PEER if row["peer"] == -1 else row["peer"]}
            for row in read_truth(folder / "truth", mpi)
        ]
        check_same_multiset(list(calls_of(recording)), truth, COLUMNS, "one-sided calls")
        check_report(recording, truth)
        inside = [m for m in recording.messages if is_one_sided(m["mpi"] or "")]
        check(inside, "no message was sent inside a call on a window")
        for message in inside:
            known = message["comm"] in ("Reversed", "Straight", "Later")
            check(known, f"not on the communicator of a window: {message}")
        results = results_of(recording.info)
        check_equal(set(results), {"holds"}, f"identities {results}")
        check_equal(recording.info["events"]["dropped"], 0, "dropped events")
        check_equal(recording.info["uct"]["unattributed_with_payload"], 0, "nobody's payload")


run_test(windows_are_recorded)
