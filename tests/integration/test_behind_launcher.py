"""`mpirun ... uctrace record -- ./app` gives the same as `uctrace record -- mpirun ... ./app`; two jobs
in one folder stay separate, and nothing is recorded twice if both ways are combined."""

from checks import check_complete, check_same_multiset
from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well

COLUMNS = ("src", "dst", "bytes", "mpi", "comm", "protocol")


def behind(job, data, *, shell=False):
    """The same job with `record` on each rank; `job` ends with a program and two arguments."""
    *launcher, program, size, repetitions = job
    rank = [TOOL, "record", "-o", data, "--", program, size, repetitions]
    return [*launcher, *(["sh", "-c", " ".join(map(str, rank))] if shell else rank)]


def check_like(found, expected, ranks):
    check_complete(found.info, processes=ranks)
    check_same_multiset(found.messages, expected.messages, COLUMNS, "messages, behind")
    for name in ("mpi", "ucx", "layers"):
        check_equal(found.info[name], expected.info[name], f"info {name}, behind")
    names = [[i["name"] for i in recording.info["identities"]] for recording in (found, expected)]
    check_equal(names[0], names[1], "identities, behind")


def way_makes_no_difference(mpi_name):
    mpi = MPIS[mpi_name]
    job = mpi.job("allreduce", 1024, 3)
    with scratch() as folder:
        alone = run_well(job)
        _, front = record_well(folder / "front", job)
        data = folder / "behind"
        for _ in range(2):
            result = run_well(behind(job, data))
            check_equal(result.stdout, alone.stdout, "output of the job")
            check_equal(result.stderr, alone.stderr, "what the job says on stderr")
        recording = Recording(data)
        check_equal(len(recording.logs), 2 * mpi.ranks, "logs of two jobs in one folder")
        check_like(recording, front, mpi.ranks)
        ranks = sorted(process["rank"] for process in recording.info["processes"])
        check_equal(ranks, list(range(mpi.ranks)), "ranks of the newest job")
        said = recording.ask("info").stdout
        check("holds 2 jobs" in said, f"info does not tell of the other job: {said}")
        newest = recording.info["job"]
        keys = {word.strip("'.,;") for word in said.split() if word.startswith("'")} - {newest}
        check_equal(len(keys), 1, f"other jobs named beside {newest} in {said}")
        other = run([TOOL, "info", data, "--job", keys.pop()])
        check_equal(other.status, 0, f"the other job: {other}")

        run_well(behind(job, folder / "shell", shell=True))
        check_like(Recording(folder / "shell"), front, mpi.ranks)

        result, both = record_well(folder / "both", behind(job, folder / "inner"))
        check(not (folder / "inner").exists(), "the inner record has a folder of its own")
        check_equal(result.stdout, alone.stdout, "output with both")
        check_like(both, front, mpi.ranks)

        # One recording of a script that starts two jobs.
        text = "for i in 1 2; do " + " ".join(map(str, job)) + "; done"
        _, script = record_well(folder / "script", ["sh", "-c", text])
        check_equal(len(script.logs), 2 * mpi.ranks, "logs of a script with two jobs")
        check_like(script, front, mpi.ranks)


run_test(way_makes_no_difference)
