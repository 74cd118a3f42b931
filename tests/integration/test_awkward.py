"""What profilers of MPI are known to break on: the program does not notice that it is recorded, and
nothing of it is missing."""

from checks import check_complete
from harness import MPIS, OPEN_MPI_OVER_UCX, check, check_equal, record_well, run_test, run_well
from harness import scratch

CASES = 11  # each prints a line
REDUCTIONS = 4  # MPI_Allreduce of each rank, the last one after a call that was left by a jump


def awkward_programs_run(mpi_name):
    mpi = MPIS[mpi_name]
    options = [*OPEN_MPI_OVER_UCX, "--mca", "osc", "ucx"] if mpi_name == "ompi" else None
    alone = run_well(mpi.job("awkward", options=options))
    with scratch() as folder:
        result, recording = record_well(folder / "data", mpi.job("awkward", options=options))
        check_equal(result.stdout, alone.stdout, "output")
        check_equal(len(result.stdout.splitlines()), CASES, "cases that passed")
        check_complete(recording.info, processes=mpi.ranks)
        calls = recording.table("mpi_calls")
        reductions = [call for call in calls if call["function"] == "MPI_Allreduce"]
        check_equal(len(reductions), REDUCTIONS * mpi.ranks, "calls of MPI_Allreduce")
        failed = [call for call in calls if call["status"] != 0]
        check(not failed, f"calls that failed: {failed}")


run_test(awkward_programs_run)
