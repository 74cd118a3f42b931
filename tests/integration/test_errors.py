"""Exceptions thrown by an MPI error handler through the library and uctrace to the caller: the
program and its recording go on normally."""

from checks import check_complete
from harness import check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

THROWN = 3  # calls of each rank that are left by an exception (thrown.cpp)


def exceptions_pass(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job("thrown")
        alone = run_well(job)
        result, recording = record_well(folder / "data", job)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, processes=mpi.ranks)
        calls = recording.table("mpi_calls")
        sends = [call["status"] for call in calls if call["function"] == "MPI_Send"]
        check_equal(sends, [-1] * (THROWN * mpi.ranks), "ends of calls that were left")
        for function in ("MPI_Allreduce", "MPI_Sendrecv", "MPI_Finalize"):
            after = [call["status"] for call in calls if call["function"] == function]
            check_equal(after, [0] * mpi.ranks, f"{function} after them")


run_test(exceptions_pass)
