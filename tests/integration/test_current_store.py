"""The stored run is shown as long as it matches the files in the folder, judged by its list of them and
no clock. An incomplete run, or one with unreadable files, is never stored as final."""

import errno
import os
import shutil
from pathlib import Path

from exports import python_with
from harness import check, check_equal, run_test, run_well, scratch
from recordings import Recording
from stores import (
    DISTURBED,
    ask,
    ask_well,
    check_one_line,
    check_pair,
    copy_of,
    identity_of,
    processes_of,
    record_four,
    was_merged_anew,
)

DAY_S = 86400


def set_time(path, days):
    """A modification time `days` from now, as from a wrong clock."""
    now = os.stat(path).st_mtime
    os.utime(path, (now + days * DAY_S,) * 2)


def an_unchanged_one_is_used(good, folder):
    copy = copy_of(good, folder)
    check_equal(processes_of(folder), 4, "processes")
    store = folder / "run.h5"
    check_pair(folder)
    for days in (0, -100, 100):
        check(not was_merged_anew(folder, lambda: set_time(store, days)), f"{days} days: merged again")
        for log in copy.logs:
            os.utime(log, ns=(log.stat().st_atime_ns, log.stat().st_mtime_ns))
        check(was_merged_anew(folder), "a log whose time was set may be another one")


def a_log_that_comes_late(good, folder):
    """Like a log that is copied during a merge: it is older than the store by any clock."""
    copy_of(good, folder, ranks=slice(1, None))
    check_equal(processes_of(folder), 3, "processes at first")
    shutil.copy2(good.logs[0], folder)
    set_time(folder / "run.h5", 100)
    check_equal(processes_of(folder), 4, "processes in the end")
    check_pair(folder)


def a_log_that_is_replaced(good, folder):
    """By one of the same size, with the same times, on a host whose clock was set back."""
    copy = copy_of(good, folder)
    ask_well(folder)
    log = copy.logs[0]
    times = log.stat()
    data = log.read_bytes()
    log.chmod(0o644)
    log.write_bytes(data)
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    check(was_merged_anew(folder, lambda: set_time(folder / "run.h5", 100)), "the old store was used")


def a_log_that_is_removed(good, folder):
    copy = copy_of(good, folder)
    check_equal(processes_of(folder), 4, "processes at first")
    copy.logs[2].unlink()
    left = Recording(folder)
    check_equal(len(left.info["processes"]), 3, "processes of three logs")
    check_equal(left.info["folder"]["missing_ranks"], 1, "missing ranks")
    check("its file is missing" in "\n".join(left.info["notes"]), f"notes: {left.info['notes']}")
    for log in left.logs:
        log.unlink()
    check_equal(processes_of(folder), 3, "processes of the store alone")


def a_topology_that_is_finished_later(good, folder):
    copy_of(good, folder)
    part = folder / "node-12345678.topology.xml.part"
    part.write_text("<?xml")
    ask_well(folder)
    check(was_merged_anew(folder, lambda: part.rename(part.with_suffix(""))), "it was overlooked")


def a_profile_of_another_store(good, folder):
    """Killed between the two renames, or two merges at once."""
    copy_of(good, folder)
    ask_well(folder)
    other = folder.with_name("of_another_store")
    copy_of(good, other)
    ask_well(other)
    store = identity_of(folder / "run.h5")
    for change in (lambda: shutil.copy(other / "profile.db", folder),
                   lambda: (folder / "profile.db").unlink()):
        change()
        ask_well(folder)
        check_pair(folder)
        check_equal(identity_of(folder / "run.h5"), store, "the store")


SET_SCHEMA = "import h5py, sys; h5py.File(sys.argv[1], 'r+').attrs['uctrace_schema'] = int(sys.argv[2])"


def one_of_another_schema(good, folder):
    """Of an older uctrace, or of a newer one: it is never misread."""
    copy = copy_of(good, folder)
    ask_well(folder)
    store = folder / "run.h5"
    for schema in (12, 1000):
        change = [python_with("h5py"), "-c", SET_SCHEMA, store, str(schema)]
        check(was_merged_anew(folder, lambda: run_well(change)), f"schema {schema}: the store was used")
        check_pair(folder)
        check_equal(processes_of(folder), 4, "processes")
    run_well(change)
    for log in copy.logs:
        log.unlink()
    check_one_line(ask(folder), "it has schema 1000", "use the newer uctrace that made it")


def fails_to_open(log, number):
    return {"LD_PRELOAD": str(DISTURBED), "FAIL_OPEN": log.name, "FAIL_ERRNO": str(number)}


def a_log_that_cannot_be_read_now(good, folder):
    copy = copy_of(good, folder)
    for number in (errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENOMEM):
        env = fails_to_open(copy.logs[1], number)
        for verb in ("info", "report", "messages"):
            part = ask(folder, verb, env=env)
            check_one_line(part, "this is a part of the run, and not kept", copy.logs[1].name, status=0)
        check_one_line(ask(folder, "merge", env=env), "cannot merge", copy.logs[1].name)
        info = ask(folder, "info", env=env).stdout
        for said in (os.strerror(number), "a log of the folder could not be read", "complete   no"):
            check(said in info, f"{said!r} is not said: {info}")
        check("its file is missing" not in info, f"a file that is there is called missing: {info}")
        check(" holds" not in info.split("Identities")[1], f"an identity of a part holds: {info}")
        check(not (folder / "run.h5").exists(), "a part of the run was kept")
    check_equal(processes_of(folder), 4, "processes of the whole run")


def no_log_can_be_read_now(good, folder):
    copy_of(good, folder)
    env = {"LD_PRELOAD": str(DISTURBED), "FAIL_OPEN": ".ulog", "FAIL_ERRNO": str(errno.EIO)}
    check_one_line(ask(folder, env=env), "none of its 4 logs", os.strerror(errno.EIO))


def a_log_that_has_not_begun(good, folder):
    """The empty file of a process that starts: its end is not known."""
    copy_of(good, folder)
    (folder / "new.ulog").touch()
    check_equal(processes_of(folder), 4, "processes")
    check(was_merged_anew(folder), "the run without it was kept as the end")


CASES = (an_unchanged_one_is_used, a_log_that_comes_late, a_log_that_is_replaced,
         a_log_that_is_removed, a_topology_that_is_finished_later, a_profile_of_another_store,
         a_log_that_cannot_be_read_now, no_log_can_be_read_now, a_log_that_has_not_begun, one_of_another_schema)


def the_store_is_the_folders():
    with scratch() as folder:
        good = record_four(folder)
        for case in CASES:
            case(good, Path(folder / case.__name__))


run_test(the_store_is_the_folders)
