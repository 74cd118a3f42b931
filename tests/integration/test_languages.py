"""Fortran programs (mpif.h, use mpi, mpi_f08) are recorded under the names of the C functions, as are
plug-ins in a program that knows no MPI."""

from checks import check_complete, check_messages_are
from harness import PROGRAMS, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well


def ring_messages(ranks):
    for rank in range(ranks):
        to = (rank + 1) % ranks
        common = {"src": rank, "dst": to, "comm": "MPI_COMM_WORLD"}
        yield {**common, "bytes": 1000 * 8, "tag": 7, "function": "MPI_Isend"}
        yield {**common, "bytes": 10 * 4, "tag": 8, "function": "MPI_Sendrecv"}


def plugin_is_recorded(mpi):
    plugin = PROGRAMS / f"mpi_plugin_f08.{mpi.name}.so"
    with scratch() as folder:
        job = mpi.job(PROGRAMS / "mpi_plugin_host", plugin, plugin)
        _, recording = record_well(folder / "data", job)
        messages = [{"src": rank, "dst": (rank + 1) % mpi.ranks, "comm": "MPI_COMM_WORLD", "bytes": 4,
                     "tag": turn, "function": "MPI_Sendrecv"}
                    for turn in (1, 2) for rank in range(mpi.ranks)]
        check_messages_are(recording, messages)
        check_complete(recording.info, processes=mpi.ranks)


def fortran_is_recorded(mpi_name, binding):
    mpi = MPIS[mpi_name]
    if binding == "plug-in":
        plugin_is_recorded(mpi)
        return
    with scratch() as folder:
        job = mpi.job(f"fortran_{binding}")
        alone = run_well(job)
        result, recording = record_well(folder / "data", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_messages_are(recording, list(ring_messages(mpi.ranks)))
        check_complete(recording.info, processes=mpi.ranks)


run_test(fortran_is_recorded)
