"""Functions that some MPIs lack: a program that looks for them finds the same as without uctrace, and
calls of existing ones are recorded."""

from checks import check_complete
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

MPI_4 = {
    "MPI_Irecv_c", "MPI_Send_c", "MPI_Bcast_init", "MPI_Precv_init", "MPI_Psend_init", "MPI_Pready",
}


def optional_names_are_found(mpi_name):
    mpi = MPIS[mpi_name]
    alone = run_well(mpi.job("optional_names"))
    with scratch() as folder:
        result, recording = record_well(folder / "data", mpi.job("optional_names"))
        check_equal(result.stdout, alone.stdout, "what the program finds")
        check("libuctrace" not in result.stdout, f"finds uctrace: {result.stdout}")
        called = {call["function"] for call in recording.table("mpi_calls")}
        if "MPI_Send_c: none" in result.stdout:
            check_equal(called & MPI_4, set(), "functions that this MPI does not have")
        else:
            check_complete(recording.info, processes=mpi.ranks)
            check_equal(called & MPI_4, MPI_4, "functions of MPI 4")


run_test(optional_names_are_found)
