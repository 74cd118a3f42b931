"""The same run recorded twice gives the same messages."""

from checks import SENT_COLUMNS, as_sent, check_same_multiset
from harness import check, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well


def two_recordings_agree():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        runs = []
        for name in ("first", "second"):
            _, recording = record_well(folder / name, mpi.job("exchange"))
            check(recording.messages, "no message at all")
            runs.append([as_sent(message) for message in recording.messages])
        columns = (*SENT_COLUMNS, "comm", "kind", "match")
        check_same_multiset(runs[1], runs[0], columns, "second recording against the first")


run_test(two_recordings_agree)
