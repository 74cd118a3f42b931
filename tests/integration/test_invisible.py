"""The job cannot tell that it is recorded: both output streams and the exit status are the same,
with `record` before the launcher, and with `record` started by the launcher on each rank."""

from checks import check_complete
from harness import TOOL, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record


def check_same_streams(stdout, stderr, alone, way):
    check_equal(stdout, alone.stdout, f"standard output, {way}")
    check_equal(stderr, alone.stderr, f"standard error, {way}")


def recording_is_invisible(mpi_name):
    mpi = MPIS[mpi_name]
    job = mpi.job("exchange")
    alone = run_well(job)
    with scratch() as folder:
        # `record` speaks on its own stderr, so the job's goes to a file.
        job_stderr = folder / "stderr"
        apart = ["sh", "-c", 'exec 2>"$0"; exec "$@"', job_stderr, *job]
        result, recording = record(folder / "front", apart)
        check_equal(result.status, alone.status, "exit status, in front")
        check_same_streams(result.stdout, job_stderr.read_text(), alone, "in front")
        check_complete(recording.info, processes=mpi.ranks)

        # Per rank it is silent.
        per_rank = [*job[:-1], TOOL, "record", "-o", folder / "per-rank", "--", job[-1]]
        result = run(per_rank)
        check_equal(result.status, alone.status, "exit status, per rank")
        check_same_streams(result.stdout, result.stderr, alone, "per rank")
        check_complete(Recording(folder / "per-rank").info, processes=mpi.ranks)


run_test(recording_is_invisible)
