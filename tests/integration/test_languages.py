"""Fortran programs (mpif.h, use mpi, mpi_f08) are recorded under the names of the C functions."""

from checks import check_complete, check_messages_are
from harness import MPIS, check_equal, record_well, run_test, run_well, scratch


def ring_messages(ranks):
    for rank in range(ranks):
        to = (rank + 1) % ranks
        common = {"src": rank, "dst": to, "comm": "MPI_COMM_WORLD"}
        yield {**common, "bytes": 1000 * 8, "tag": 7, "function": "MPI_Isend"}
        yield {**common, "bytes": 10 * 4, "tag": 8, "function": "MPI_Sendrecv"}


def fortran_is_recorded(mpi_name, binding):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job(f"fortran_{binding}")
        alone = run_well(job)
        result, recording = record_well(folder / "data", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_messages_are(recording, list(ring_messages(mpi.ranks)))
        check_complete(recording.info, processes=mpi.ranks)


run_test(fortran_is_recorded)
