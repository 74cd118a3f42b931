"""Things that are known to break MPI profilers: the program does not notice the recording, and
nothing is missing."""

from collections import Counter

from checks import check_complete
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

CASES = 11  # each prints a line
# Calls of each rank by the letters of communicators (docs/comms.md). The last MPI_Allreduce is on a
# duplicate, after an MPI_Send that was left by a longjmp and has no record.
CALLS = {
    "MPI_Allreduce": {"S": 1, "e": 1, "m": 1, "d": 1},
    "MPI_Sendrecv": {"S": 1},
    "MPI_Irecv": {"W": 2, "d": 3},
    "MPI_Isend": {"d": 3},
    "MPI_Send": {"W": 2},
    "MPI_Iscatterv": {"W": 1},
    "MPI_Neighbor_allgather": {"r": 1},
    "MPI_Get": {"W": 1},
    "MPI_Win_free": {"W": 1},
}


def check_communicators(recording, ranks):
    names = [row["name"] for row in recording.table("communicators")]
    found = {function: Counter() for function in CALLS}
    for call in recording.table("mpi_calls"):
        if call["function"] in found:
            found[call["function"]][names[call["communicator"]][0]] += 1
    expected = {function: {letter: count * ranks for letter, count in letters.items()}
                for function, letters in CALLS.items()}
    check_equal(found, expected, "calls by communicator")


def awkward_programs_run(mpi_name):
    mpi = MPIS[mpi_name]
    alone = run_well(mpi.job_with_windows("awkward"))
    with scratch() as folder:
        result, recording = record_well(folder / "data", mpi.job_with_windows("awkward"))
        check_equal(result.stdout, alone.stdout, "output")
        check_equal(len(result.stdout.splitlines()), CASES, "cases that passed")
        check_complete(recording.info, processes=mpi.ranks)
        check_communicators(recording, mpi.ranks)
        failed = [call for call in recording.table("mpi_calls") if call["status"] != 0]
        check(not failed, f"calls that failed: {failed}")


run_test(awkward_programs_run)
