"""Several jobs recorded into one folder: a new job renames an older run and reports it, a running
job is left alone, and each summary counts its own job."""

import re

from checks import check_complete
from harness import check, check_equal, finish, run_test, scratch, started, wait_for
from mpi_jobs import MPIS
from recordings import Recording, record, record_command, record_well


def summary(result):
    """(events, processes) of the last line of `record`."""
    found = re.search(r"(\d+) events? of (\d+) process", result.stderr)
    check(found, f"no summary: {result}")
    return int(found[1]), int(found[2])


def jobs_keep_to_themselves():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        data = folder / "data"
        job = mpi.job("allreduce", 64)
        record_well(data, job)
        result, _ = record_well(data, job)
        check(f"{data}.old.1" in result.stderr, f"the move is not told: {result}")
        check_complete(Recording(f"{data}.old.1").info, processes=mpi.ranks)

        go = folder / "go"
        hanging = mpi.job("faults", f"hang-until:{go}", 1, 20, folder / "truth")
        with started(record_command(data, hanging)) as first:
            wait_for(folder / "go.ready")
            second, recording = record_well(data, job)
            check("--job" in second.stderr, f"the other job is not told of: {second}")
            events, processes = summary(second)
            check_equal(processes, mpi.ranks, "processes of the second job")
            check_complete(recording.info, processes=mpi.ranks)
            check_equal(recording.info["job"].count("."), 1, "parts of the job's key")
            go.touch()
            ended = finish(first)
        check_equal(ended.status, 0, "exit status of the first job")
        check_equal(summary(ended)[1], mpi.ranks, "processes of the first job")
        check(summary(ended)[0] != events, "the first job's summary is the second's")


def failures_give_no_wrong_advice():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        for command in (mpi.job("allreduce")[:-1] + [folder / "none"], ["false"]):
            result, _ = record(folder / "data", command)
            check("static" not in result.stderr, f"advice about static linking: {result}")
            check("nothing was recorded" in result.stderr, f"nothing is said: {result}")


def jobs_in_one_folder():
    jobs_keep_to_themselves()
    failures_give_no_wrong_advice()


run_test(jobs_in_one_folder)
