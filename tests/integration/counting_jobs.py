"""Jobs that count and go on until they are told to stop."""

import contextlib
import json
import os
import signal

from harness import TOOL, check, check_equal, finish, run, started, wait_until
from recordings import record_command


class RunningJob:
    """Ranks of tests/programs/hangs.c that send to each other until they are told to stop."""

    def __init__(self, mpi, folder):
        self.folder, self.data = folder, folder / "data"
        self.ranks = mpi.ranks
        self.command = record_command(self.data, mpi.job("hangs", "goes-on", folder), switches=["--counters"])

    def wait_for_ranks(self):
        wait_until(self.all_count, "not all ranks count", timeout=100)

    def all_count(self):
        if not list(self.data.glob("*.counters")):
            return False
        result = run([TOOL, "counters", self.data, "--format", "json"])
        if result.status != 0:
            return False
        calls = {row["function"]: row["calls"] for row in json.loads(result.stdout)["functions"]}
        return calls.get("MPI_Sendrecv", 0) >= 10 * self.ranks

    def stop(self):
        (self.folder / "stop").touch()

    def kill(self, rank):
        os.kill(int((self.folder / f"{rank}.rank").read_text()), signal.SIGKILL)


def job_of(data):
    """The key of the job displayed for a folder."""
    result = run([TOOL, "top", data, "--once", "--interval", "100ms", "--format", "json"])
    check(result.status == 0, f"top failed: {result}")
    return json.loads(result.stdout)["run"]["job"]


@contextlib.contextmanager
def two_running(mpi, folder):
    """(a folder in which two jobs count, the key of the older one, that of the newer one)"""
    jobs = []
    for name in ("older", "newer"):
        (folder / name).mkdir()
        jobs.append(RunningJob(mpi, folder / name))
    older, newer = jobs
    with started(older.command) as first:
        older.wait_for_ranks()
        key = job_of(older.data)
        with started(newer.command) as second:
            newer.wait_for_ranks()
            # Beside the files of the first one, as `record` after a launcher leaves them.
            for path in newer.data.glob("*.counters"):
                os.link(path, older.data / path.name)
            yield older.data, key, job_of(newer.data)
            for job, process in ((newer, second), (older, first)):
                job.stop()
                check_equal(finish(process).status, 0, "a job")
