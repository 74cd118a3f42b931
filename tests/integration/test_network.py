"""A log on a file system that must not be mapped: FUSE (bindfs) stands in for a network, an overlay
for a container. The log is drained: the job never waits for the file system, a running job can be
read, and a killed process loses only what it had not written."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from checks import check_complete, check_incomplete, check_messages_are, read_truth, sent_like
from harness import (
    Skip, check, check_equal, finish, need, run, run_test, run_well, scratch, started, wait_for, wait_until,
)
from mpi_jobs import MPIS
from recordings import Recording, record_command

MESSAGES = 20

# A private overlay on $1 with its upper layer in $2; its final content is copied to $3.
OVERLAY = """
mount -t tmpfs tmpfs "$2"
mkdir "$2/lower" "$2/upper" "$2/work"
mount -t overlay -o "lowerdir=$2/lower,upperdir=$2/upper,workdir=$2/work" overlay "$1"
merged=$1; copy=$3; shift 3
status=0; "$@" || status=$?
cp -r "$merged/." "$copy"
exit $status
"""


class Remote:
    """A folder seen through a FUSE file system: jobs write to `path`, tests look at `behind`."""

    def __init__(self, path, behind, daemon):
        self.path, self.behind, self.daemon = path, behind, daemon

    def stall(self):
        os.kill(self.daemon.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.daemon.pid, signal.SIGCONT)


@contextlib.contextmanager
def remote_folder(folder):
    path, behind = folder / "remote", folder / "behind"
    path.mkdir()
    behind.mkdir()
    if not Path("/dev/fuse").exists():
        raise Skip("there is no /dev/fuse")
    command = [need("bindfs"), "-f", "-o", "attr_timeout=0,entry_timeout=0", behind, path]
    daemon = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: daemon.poll() is not None or os.path.ismount(path), "nothing is mounted")
        if daemon.poll() is not None:
            raise Skip(f"bindfs cannot mount here: {daemon.stderr.read().strip()}")
        yield Remote(path, behind, daemon)
    finally:
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGCONT)
            run(["fusermount3" if os.path.exists("/bin/fusermount3") else "umount", "-u", path])
            daemon.terminate()
            daemon.wait(timeout=10)


def check_drained(info, file_system):
    check_equal(info["log"]["written"], "drained", "how the log was written")
    check_equal(info["log"]["file_system"], file_system, "file system")


def check_whole(recording, truth, mpi, file_system):
    check_messages_are(recording, read_truth(truth, mpi))
    check_complete(recording.info, processes=mpi.ranks)
    check_drained(recording.info, file_system)


def sent_until_now(folder):
    recording = Recording(folder)
    return len(recording.sent_by("MPI_Send")) if recording.logs else 0


def job_runs_there(mpi):
    with scratch() as folder, remote_folder(folder) as remote:
        alone = run_well(mpi.job("exchange"))
        job = mpi.job("exchange", folder / "truth")
        result = run_well(record_command(remote.path / "data", job))
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_whole(Recording(remote.behind / "data"), folder / "truth", mpi, "fuse")


def job_does_not_wait(mpi):
    """The file system stops responding. The ranks still exchange messages and say so, and their
    records of that time are written once it responds again."""
    with scratch() as folder, remote_folder(folder) as remote:
        go = folder / "go"
        job = mpi.job("faults", f"hang-until:{go}", 1, MESSAGES, folder / "truth")
        with started(record_command(remote.path / "data", job)) as process:
            wait_for(folder / "go.ready")
            remote.stall()
            go.touch()
            rows = mpi.ranks * (MESSAGES + 1)
            wait_until(
                lambda: sum(
                    len(path.read_text().splitlines()) for path in folder.glob("truth.*.jsonl")
                )
                == rows,
                "the ranks wait for the file system",
            )
            remote.go_on()
            result = finish(process)
        check_equal((result.status, result.stdout.count("went well")), (0, 1), f"{result}")
        check_whole(Recording(remote.behind / "data"), folder / "truth", mpi, "fuse")


def waiting_records_are_bounded(mpi):
    """More records than may wait for a stuck file system: the rest is counted."""
    with scratch() as folder, remote_folder(folder) as remote:
        go = folder / "go"
        job = mpi.job("faults", f"flood-after:{go}", 1, 1)
        with started(record_command(remote.path / "data", job)) as process:
            wait_for(folder / "go.ready")
            remote.stall()
            go.touch()
            wait_for(folder / "go.done")
            remote.go_on()
            result = finish(process)
        check_equal((result.status, result.stdout.count("went well")), (0, 1), f"{result}")
        reason = "(rank 1): they came faster than the file system (fuse) took them"
        check(reason in result.stderr, f"the warning does not say why: {result}")
        info = Recording(remote.behind / "data").info
        check(info["events"]["dropped"] > 0, f"nothing was dropped: {info['events']}")
        check_incomplete(info)


def killed_job_is_readable(mpi):
    """The file's content during the job is still there after a kill."""
    with scratch() as folder, remote_folder(folder) as remote:
        data = remote.behind / "data"
        job = mpi.job("faults", f"hang-until:{folder / 'go'}", 1, MESSAGES, folder / "truth")
        with started(record_command(remote.path / "data", job)) as process:
            wait_for(folder / "go.ready")
            least = mpi.ranks * MESSAGES
            wait_until(lambda: sent_until_now(data) >= least, "the messages are not drained")
            running = Recording(data).info
            check_incomplete(running)
            for rank in running["processes"]:
                os.kill(rank["pid"], signal.SIGKILL)
            result = finish(process)
        check(result.status != 0, f"the job was killed: {result}")
        after = Recording(data)
        truth = [row for row in read_truth(folder / "truth", mpi) if row["tag"] > 0]
        check_equal(len(truth), mpi.ranks * (MESSAGES - 1), "messages of the program")
        check_equal(
            len([m for m in sent_like(truth, after) if m["tag"] > 0]), len(truth), "messages"
        )
        check_incomplete(after.info)
        check_equal({p["exit"] for p in after.info["processes"]}, {"killed"}, "how they ended")


def overlay_is_drained(mpi):
    with scratch() as folder:
        for name in ("merged", "layers", "copy"):
            (folder / name).mkdir()
        private = [need("unshare"), "--mount", "sh", "-ec", OVERLAY, "sh"]
        places = [folder / name for name in ("merged", "layers", "copy")]
        if run([*private, *places, "true"]).status != 0:
            raise Skip("an overlay cannot be mounted here")
        job = record_command(folder / "merged" / "data", mpi.job("exchange", folder / "truth"))
        run_well([*private, *places, *job])
        check_whole(Recording(folder / "copy" / "data"), folder / "truth", mpi, "overlay")


CASES = {
    "fuse": job_runs_there,
    "stalled": job_does_not_wait,
    "flooded": waiting_records_are_bounded,
    "killed": killed_job_is_readable,
    "overlay": overlay_is_drained,
}

run_test(lambda case: CASES[case](MPIS["ompi"]))
