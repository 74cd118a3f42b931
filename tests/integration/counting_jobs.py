"""A job that counts and goes on until it is told to stop."""

import json
import os
import signal

from harness import TOOL, run, wait_until
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
