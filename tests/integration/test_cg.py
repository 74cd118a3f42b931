"""The example solver: its halo exchange is exactly what the partition of its grid requires."""

import re

from checks import SENT_COLUMNS, check_complete, check_messages_are
from harness import BUILD_ROOT, check, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

EDGE = 24  # the default grid; its planes divide evenly among the ranks
PLANE_BYTES = EDGE * EDGE * 8
HALO_TAG = 1


def halo_messages(ranks, exchanges):
    """Each rank owns a slab of whole planes and needs the nearest plane of each neighbour."""
    for rank in range(ranks):
        for neighbour in (rank - 1, rank + 1):
            if 0 <= neighbour < ranks:
                sent = {"src": rank, "dst": neighbour, "bytes": PLANE_BYTES, "tag": HALO_TAG}
                yield from [{**sent, "function": "MPI_Isend"}] * exchanges


def solver_is_recorded(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job(BUILD_ROOT / "examples" / f"cg.{mpi.name}", "--poisson", EDGE)
        result, recording = record_well(folder / "data", job)
        iterations = re.search(r"^iterations +(\d+)$", result.stdout, re.MULTILINE)
        check(iterations, f"the solver does not print its iterations: {result}")
        check(f"checksum    {EDGE**3}.000000" in result.stdout, f"wrong solution: {result}")
        exchanges = int(iterations[1]) + 1  # one more for the right-hand side
        truth = list(halo_messages(mpi.ranks, exchanges))
        check_messages_are(recording, truth, columns=SENT_COLUMNS)
        check_complete(recording.info, processes=mpi.ranks)


run_test(solver_is_recorded)
