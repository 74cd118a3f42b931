"""Programs without MPI_Init: ranks come from a session's set of all processes, and the communicators
of several sessions are told apart, joined across ranks and named as any others."""

import json
from collections import Counter

from checks import check_complete
from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well


def sessions_are_recorded(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("sessions", folder / "truth"))
        check_complete(recording.info, processes=mpi.ranks)
        check_equal(sorted(p["rank"] for p in recording.info["processes"]), list(range(mpi.ranks)),
                    "ranks")
        check_equal({p["exit"] for p in recording.info["processes"]}, {"finalized"}, "ends")
        sizes, messages = {}, Counter()
        for rank in range(mpi.ranks):
            for line in (folder / f"truth.{rank}.jsonl").read_text().splitlines():
                row = json.loads(line)
                sizes[row["name"]] = row["size"]
                messages[row["name"]] += row["messages"]
        named = {row["name"]: row["size"] for row in recording.table("communicators")}
        check_equal(named, sizes, "communicators and their sizes")
        sent = Counter(message["comm"] for message in recording.sent_by("MPI_Sendrecv"))
        check_equal(sent, messages, "messages on each")
        sums = Counter(call["comm"] for call in recording.table("mpi_calls")
                       if call["function"] == "MPI_Allreduce")
        check_equal(sums, {"f0.1": mpi.ranks, "f0.2": 2 * mpi.ranks, "f0.3": mpi.ranks}, "sums")
        check_sessions_stand_apart(recording)


def check_sessions_stand_apart(recording):
    """Their start and end count in no total of time in MPI, whichever verb computes it."""
    apart, in_mpi = Counter(), Counter()
    for call in recording.table("mpi_calls"):
        sums = apart if call["function"].startswith("MPI_Session_") else in_mpi
        sums[call["process"]] += call["t_end_ns"] - call["t_start_ns"]
    told = {verb: json.loads(recording.ask(verb, "--format", "json").stdout) for verb in ("waits", "comms")}
    check_equal(told["comms"]["start_and_end_ns"], sum(apart.values()), "start and end in `comms`")
    balance = {row["rank"]: row for row in told["waits"]["balance"]}
    for process, row in enumerate(recording.table("processes")):
        own = balance[str(row["rank"])]
        check_equal(own["start_and_end_ns"], apart[process], "start and end in `waits`")
        check_equal(own["mpi_ns"], in_mpi[process], "time in MPI in `waits`")
    times = recording.table("rank_times")
    # The second session begins, and the first one ends, while the program runs.
    check(all(0 < row["sessions_ns"] < row["start_and_end_ns"] for row in times), f"sessions in between: {times}")
    for own, row in zip(told["waits"]["balance"], times):
        check_equal(own["compute_ns"] + own["mpi_ns"] + row["sessions_ns"], own["runtime_ns"], "the runtime of a rank")


run_test(sessions_are_recorded)
