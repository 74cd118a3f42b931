"""Threads that communicate at the same time on their own communicators are recorded exactly, even if
another thread waits for what one began. If they share a tag, the pairs are ambiguous."""

from checks import (
    SENT_COLUMNS,
    check_complete,
    check_messages_are,
    check_same_multiset,
    read_truth,
    results_of,
    sent_like,
)
from harness import check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

SHARED_TAG = 6


def check_shared(recording, truth):
    """All sends with the shared tag are known; their matches are reported as doubtful."""
    columns = (*SENT_COLUMNS, "comm")
    check_same_multiset(sent_like(truth, recording), truth, columns, "messages")
    results = results_of(recording.info)
    check_equal(set(results), {"holds"}, f"identities {results}")
    in_doubt = [m["tag"] for m in recording.messages if m["match"] == "ambiguous"]
    check_equal(set(in_doubt) - {SHARED_TAG}, set(), "tags of ambiguous messages")
    check_equal(recording.info["messages"]["ambiguous"], len(in_doubt), "ambiguous messages")
    check_equal(recording.info["messages"]["unmatched"], 0, "unmatched messages")
    check_equal(recording.info["uct"]["unattributed"], 0, "unattributed UCT operations")


def threads_are_recorded(mpi_name, tags):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        alone = run_well(mpi.job("busy_threads", tags))
        job = mpi.job("busy_threads", tags, folder / "truth")
        result, recording = record_well(folder / "data", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        truth = read_truth(folder / "truth", mpi)
        if tags == "own":
            check_messages_are(recording, truth)
            check_complete(recording.info, processes=mpi.ranks)
        else:
            check_shared(recording, truth)


run_test(threads_are_recorded)
