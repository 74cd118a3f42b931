"""The folder or its logs are removed, moved or changed while the job writes there: the job runs on,
losses are counted, and the rest is complete. Mapped and drained logs."""

import os
import shutil
import stat

from checks import (
    check_complete,
    check_incomplete,
    check_losses_are_told,
    check_messages_are,
    read_truth,
)
from harness import check, check_equal, finish, run_test, run_well, scratch, started, wait_for, wait_until
from mpi_jobs import MPIS
from recordings import Recording, record_command

MESSAGES = 20
PAGE_BYTES = 128 * 1024  # of the page that leads a log


def remove_folder(folder):
    shutil.rmtree(folder / "data")


def remove_logs(folder):
    for log in Recording(folder / "data").logs:
        log.unlink()


def move_folder(folder):
    (folder / "data").rename(folder / "moved")


def cut_logs(folder):
    for log in Recording(folder / "data").logs:
        wait_until(lambda: log.stat().st_size > PAGE_BYTES, f"{log.name} holds no record")
        os.truncate(log, 0)


def check_all_is_lost(folder, result, mpi):
    told = check_losses_are_told(result)
    least = 2 * MESSAGES * mpi.ranks  # a call at each end
    check(told > least, f"{told} lost records for at least {least} calls: {result}")
    check(f"in {mpi.ranks} of {mpi.ranks} processes" in result.stderr, f"not all told: {result}")
    check("moved or removed" in result.stderr, f"the reason is not told: {result}")


def check_nothing_is_lost(folder, result, mpi):
    check(f"the data folder is called {folder / 'moved'} now" in result.stderr,
          f"the move is not told: {result}")
    moved = Recording(folder / "moved")
    check_messages_are(moved, read_truth(folder / "truth", mpi))
    check_complete(moved.info, processes=mpi.ranks)


def check_loss_is_seen(folder, result, mpi):
    info = Recording(folder / "data").info
    check_incomplete(info)
    check(info["notes"], "info has no note on the damage")


CASES = {
    "removed": (remove_folder, check_all_is_lost),
    "logs-removed": (remove_logs, check_all_is_lost),
    "moved": (move_folder, check_nothing_is_lost),
    "cut": (cut_logs, check_loss_is_seen),
}


def check_protected(recording, storage):
    """A store past the end of a mapped file kills the program: so its owner cannot truncate it by
    mistake."""
    for log in recording.logs:
        writable = bool(log.stat().st_mode & stat.S_IWUSR)
        check_equal(writable, storage == "drained", f"{log.name} may be written to")


def folder_changes(case, storage):
    mpi = MPIS["ompi"]
    change, check_result = CASES[case]
    environment = {"UCTRACE_DRAIN": "1"} if storage == "drained" else {}
    with scratch() as folder:
        (folder / "temporary").mkdir()
        environment["TMPDIR"] = str(folder / "temporary")
        go = folder / "go"
        job = mpi.job("faults", f"hang-until:{go}", 1, MESSAGES, folder / "truth")
        with started(record_command(folder / "data", job), env=environment) as process:
            wait_for(folder / "go.ready")
            check_protected(Recording(folder / "data"), storage)
            change(folder)
            go.touch()
            result = finish(process)
        alone = run_well(job)
        check_equal((result.status, result.stdout), (alone.status, alone.stdout), "the job")
        check_result(folder, result, mpi)


run_test(folder_changes)
