"""`uctrace hang` on hanging jobs on two hosts with separate process numbers and clocks: run on the machine that started
the job, while it runs and after a kill."""

import json
import os
import struct
from dataclasses import replace as with_changes

from folders import HEARTBEAT, SILENCE_S
from hang_shapes import RANKS, SHAPES, seats
from hanging_jobs import Job, ask_hang, check_named, check_texts
from harness import TOOL, check_equal, run, run_test, run_well, scratch, started, wait_until
from recordings import record_command
from two_host_jobs import open_mpi
from two_hosts import HOSTS, two_hosts

HOST_OF_RANK = {rank: HOSTS[rank // 2] for rank in range(RANKS)}


def make_silent(log):
    """Moves the last sign of life of its process into the past."""
    log.chmod(0o644)
    with log.open("r+b") as file:
        file.seek(HEARTBEAT)
        (heartbeat,) = struct.unpack("=Q", file.read(8))
        file.seek(HEARTBEAT)
        file.write(struct.pack("=Q", heartbeat - 2 * SILENCE_S * 10**9))
    modified = log.stat().st_mtime - 2 * SILENCE_S
    os.utime(log, (modified, modified))


class JobOnHosts(Job):
    def __init__(self, rig, shape, folder):
        self.rig, self.mpi = rig, with_changes(open_mpi(rig), ranks=RANKS)
        self.folder, self.data = folder, folder / "data"
        self.command = rig.on_login(record_command(self.data, self.mpi.job("hangs", shape, folder)))

    def ask(self):
        asked = self.rig.on_login([TOOL, "hang", self.data, "--format", "json"])
        return json.loads(run_well(asked).stdout)

    def kill(self):
        """`pids` are as their hosts count."""
        for rank, pid in enumerate(self.pids):
            on_its_host = self.rig.on(HOST_OF_RANK[rank], ["kill", "-KILL", pid])
            run(on_its_host)  # its launcher may have ended it by now
            wait_until(lambda: not self.is_alive(rank, pid), f"rank {rank} lives")

    def is_alive(self, rank, pid):
        """Not as a zombie: nobody takes those whose parent has ended from the first process of a host."""
        stat = run(self.rig.on(HOST_OF_RANK[rank], ["cat", f"/proc/{pid}/stat"]))
        return stat.status == 0 and stat.stdout.rpartition(")")[2].split()[0] not in "ZX"


def named_on_two_hosts(rig, folder, name):
    shape = SHAPES[name]
    job = JobOnHosts(rig, name, folder)
    with started(job.command):
        job.wait_for_ranks()
        running = job.settled(shape)
        check_named(running, shape, "running")
        hosts = {rank: row["host"] for rank, row in seats(running).items()}
        check_equal(hosts, HOST_OF_RANK, "where the ranks are")
        job.kill()
    # Read on another host: none of these processes has its log's number here. They count as running until they have
    # been silent for long.
    check_equal(ask_hang(job.data)["state"], "running", "state of who was heard of a moment ago")
    for log in job.data.glob("*.ulog"):
        make_silent(log)
    killed = ask_hang(job.data)
    check_named(killed, shape, "unseen")
    check_texts(job.data, killed)


def body(*names):
    with scratch() as folder, two_hosts(folder / "rig") as rig:
        for name in names:
            own = folder / name
            own.mkdir()
            named_on_two_hosts(rig, own, name)


run_test(body)
