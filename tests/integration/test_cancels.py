"""Receives that take nothing or too little: sends match the receives that took them, cancelled and
open receives match nothing, and a truncated message says so."""

from checks import check_delivered, check_same_multiset, read_truth, results_of, sent_like
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

COLUMNS = ("src", "dst", "bytes", "tag", "function", "comm", "status")
CANCELLED, TRUNCATED = 3, 2  # receives of each rank
QUIET = {"UCX_LOG_LEVEL": "error"}  # UCX warns of the receive that nothing arrived for
TRUNCATED_COMM = "Returning"


def cancels_are_recorded(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        alone = run_well(mpi.job("cancels"), env=QUIET)
        job = mpi.job("cancels", folder / "truth")
        result, recording = record_well(folder / "data", job, env=QUIET)
        check_equal(result.stdout, alone.stdout, "output of the job")
        expected = [
            {
                **row,
                "status": "UCS_ERR_MESSAGE_TRUNCATED"
                if row["comm"] == TRUNCATED_COMM
                else "UCS_OK",
            }
            for row in read_truth(folder / "truth", mpi)
        ]
        # Open MPI frees active requests in UCX: their ends are still known.
        messages = sent_like(expected, recording)
        check_same_multiset(messages, expected, COLUMNS, "messages")
        check_delivered([m for m in messages if m["status"] == "UCS_OK"])

        info = recording.info
        results = results_of(info)
        check_equal(set(results), {"holds"}, f"identities {results}")
        for count in ("unmatched", "ambiguous"):
            check_equal(info["messages"][count], 0, f"{count} messages")
        check_equal(info["messages"]["failed"], mpi.ranks * CANCELLED, "cancelled receives")
        check_equal(info["uct"]["unattributed"], 0, "unattributed UCT operations")
        check_equal(info["events"]["dropped"], 0, "dropped events")
        statuses = [row["status"] for row in recording.table("ucp_operations")]
        check_equal(statuses.count("UCS_ERR_CANCELED"), mpi.ranks * CANCELLED, "cancelled")
        check_equal(
            statuses.count("UCS_ERR_MESSAGE_TRUNCATED"), mpi.ranks * TRUNCATED, "truncated"
        )
        for process in info["processes"]:
            check(process["complete"], f"incomplete: {process}")


run_test(cancels_are_recorded)
