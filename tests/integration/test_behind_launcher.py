"""`mpirun ... uctrace record -- ./app`, twice into one folder: each job keeps to itself."""

from checks import check_complete
from harness import MPIS, TOOL, Recording, check, check_equal, run_test, run_well, scratch


def jobs_are_told_apart(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        data = folder / "data"
        *launcher, program, size, repetitions = mpi.job("allreduce", 1024, 3)
        behind = [*launcher, TOOL, "record", "-o", data, "--", program, size, repetitions]
        alone = run_well(mpi.job("allreduce", 1024, 3))
        for _ in range(2):
            result = run_well(behind)
            check_equal(result.stdout, alone.stdout, "output of the job")
            check_equal(result.stderr, alone.stderr, "what the job says on stderr")
        recording = Recording(data)
        check_equal(len(recording.logs), 2 * mpi.ranks, "logs")
        check_complete(recording.info, processes=mpi.ranks)
        ranks = sorted(process["rank"] for process in recording.info["processes"])
        check_equal(ranks, list(range(mpi.ranks)), "ranks of the newest job")
        said = recording.ask("info").stdout
        check("holds 2 jobs" in said, f"info does not tell of the other job: {said}")


run_test(jobs_are_told_apart)
