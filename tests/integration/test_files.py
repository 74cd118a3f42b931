"""Calls on files and windows belong to the communicator that these were made from, even if it is
already freed or a handle is reused; and their ends are in the log."""

import json

from checks import check_complete
from harness import check_equal, run_test, scratch
from logs import DEFINITIONS, Log
from mpi_jobs import MPIS
from recordings import record_well

FUNCTIONS = ("MPI_File_", "MPI_Win_", "MPI_Put")
# What files.c makes, and the record types of their beginnings and ends.
FILES, WINDOWS = 3, 2
RECORDS = {"window": (46, WINDOWS), "window_free": (53, WINDOWS), "file": (54, FILES),
           "file_close": (55, FILES)}


def ends_are_written(recording):
    for path in recording.logs:
        log = Log(path)
        for what, (kind, count) in RECORDS.items():
            handles = [log.u64(offset + 16) for offset, _, _ in log.records(kind, DEFINITIONS)]
            check_equal((len(handles), 0 in handles), (count, False), f"{what} in {path.name}")


def files_have_communicators(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job_with_windows("files", folder / "truth", folder)
        _, recording = record_well(folder / "data", job)
        check_complete(recording.info, processes=mpi.ranks)
        ranks = [process["rank"] for process in recording.table("processes")]
        calls = recording.table("mpi_calls")
        for rank in range(mpi.ranks):
            lines = (folder / f"truth.{rank}.jsonl").read_text().splitlines()
            found = [{key: call[key] for key in ("function", "comm", "bytes", "recv_bytes")}
                     for call in calls
                     if ranks[call["process"]] == rank and call["function"].startswith(FUNCTIONS)]
            check_equal(found, [json.loads(line) for line in lines], f"calls of rank {rank}")
        ends_are_written(recording)


run_test(files_have_communicators)
