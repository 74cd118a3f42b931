"""Calls on files and windows are on the communicator that these were made from, also when it is freed
by then, and when a handle is used again."""

import json

from checks import check_complete
from harness import MPIS, OPEN_MPI_OVER_UCX, check_equal, record_well, run_test, scratch

FUNCTIONS = ("MPI_File_", "MPI_Win_", "MPI_Put")


def files_have_communicators(mpi_name):
    mpi = MPIS[mpi_name]
    options = [*OPEN_MPI_OVER_UCX, "--mca", "osc", "ucx"] if mpi_name == "ompi" else None
    with scratch() as folder:
        job = mpi.job("files", folder / "truth", folder, options=options)
        _, recording = record_well(folder / "data", job)
        check_complete(recording.info, processes=mpi.ranks)
        ranks = [process["rank"] for process in recording.table("processes")]
        calls = recording.table("mpi_calls")
        for rank in range(mpi.ranks):
            lines = (folder / f"truth.{rank}.jsonl").read_text().splitlines()
            found = [{"function": call["function"], "comm": call["comm"]} for call in calls
                     if ranks[call["process"]] == rank and call["function"].startswith(FUNCTIONS)]
            check_equal(found, [json.loads(line) for line in lines], f"calls of rank {rank}")


run_test(files_have_communicators)
