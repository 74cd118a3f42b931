"""Folders of other users, and names in them that are not files: no user's file is overwritten, no
link is written through, nothing blocks, and the answer is right."""

import fcntl
import os
import shutil
import signal
import subprocess

from harness import TOOL, Skip, check, check_equal, run_test, run_well, scratch
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
    store_id,
)

NOBODY = 65534
MINE = "the user's own\n"


def pipes_and_devices(good, folder):
    """In the place of each file that a verb looks for."""
    for kind, make in (("pipe", os.mkfifo), ("device", lambda path: path.symlink_to("/dev/zero")),
                       ("folder", lambda path: path.mkdir())):
        for name in ("run.h5", "profile.db", "run.json", "extra.ulog", "of a log",
                     "node-12345678.topology.xml"):
            data = folder.with_name(f"{kind}-{name}")
            copy = copy_of(good, data)
            if name == "of a log":
                name = copy.logs[0].name + ".live"
            path = data / name
            path.unlink(missing_ok=True)
            make(path)
            answer = ask(data)
            check_equal(answer.status, 0, f"a {kind} as {name}: {answer}")
            check(answer.stdout.count(" finalized") == 4, f"a {kind} as {name}: {answer}")
            if name in ("run.h5", "profile.db"):
                check_one_line(answer, "is not kept", "no regular file", status=0)
                check_one_line(ask(data, "merge"), "cannot write", "no regular file")
            if name in ("run.json", "extra.ulog"):
                check("it is not a regular file" in answer.stdout, f"not told: {answer}")
        alone = folder.with_name(f"{kind}-alone")
        alone.mkdir()
        make(alone / "run.h5")
        check_one_line(ask(alone), "cannot read the store", "not a regular file")
        lone = folder.with_name(f"{kind}-lone-log")
        lone.mkdir()
        make(lone / "a.ulog")
        check_one_line(ask(lone), "not a regular file")


def files_of_the_user(good, folder):
    """In a folder without `record`'s marker, only files that uctrace wrote are replaced."""
    for name, verb in (("run.h5", "merge"), ("profile.db", "merge"), ("report.html", "view")):
        for link in (False, True):
            data = folder.with_name(f"user-{name}-{link}")
            copy_of(good, data)
            own = data / name if not link else folder.with_name(f"own-{name}")
            own.write_text(MINE)
            if link:
                (data / name).symlink_to(own)
            check_one_line(ask(data, verb), f"cannot write '{data / name}'")
            check_equal(processes_of(data), 4, "processes")
            check_equal((own.read_text(), (data / name).is_symlink()), (MINE, link), f"{name} of the user")
            if name == "report.html":
                ask_well(data, "view", "-o", data / name)  # as the user wants it
                check("<title>uctrace" in (data / name).read_text(), "no page was written")
                check_equal((data / name).is_symlink(), link, "a link of the user's own")
            if not link:
                (data / name).write_text(MINE)
                (data / "uctrace.folder").write_text("uctrace data folder, layout 1\n")
                ask_well(data, verb)
                check((data / name).read_bytes() != MINE.encode(), f"{name} in a folder of ours")


def pages_are_replaced(good, folder):
    copy_of(good, folder)
    page = folder / "report.html"
    for _ in range(2):
        before = identity_of(page) if page.exists() else None
        ask_well(folder, "view")
        check(identity_of(page) != before, "the page was not written")


def pages_by_name(good, folder):
    """What a user names may be a pipe, a device or a link of their own; its permissions stay."""
    copy_of(good, folder)
    page = folder.with_name("page.html")
    page.write_text(MINE)
    page.chmod(0o600)
    link = folder.with_name("link.html")
    link.symlink_to(page)
    ask_well(folder, "view", "-o", link)
    check(link.is_symlink(), "the link was replaced")
    check("<title>uctrace" in page.read_text(), "no page behind the link")
    check_equal(page.stat().st_mode & 0o777, 0o600, "permissions of the page")
    through = folder.with_name("stdout")
    through.symlink_to("/proc/self/fd/1")
    for name in ("/dev/stdout", through, "-"):
        shown = ask_well(folder, "view", "-o", name).stdout
        check("<title>uctrace" in shown, f"no page on {name}: {shown[:200]}")
    check(through.is_symlink(), "the link to the standard output was replaced")
    pipe = folder.with_name("pipe")
    os.mkfifo(pipe)
    page.write_text(MINE)
    with page.open("w") as written:
        reader = subprocess.Popen(["cat", pipe], stdout=written)
    ask_well(folder, "view", "-o", pipe)
    check_equal(reader.wait(timeout=60), 0, "exit status of the pipe's reader")
    check("<title>uctrace" in page.read_text(), "no page in the pipe")
    check(pipe.is_fifo(), "the pipe was replaced")
    if os.geteuid() == 0:  # somebody else's link is replaced
        link.unlink()
        link.symlink_to(page)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        page.write_text(MINE)
        ask_well(folder, "view", "-o", link)
        check_equal((link.is_symlink(), page.read_text()), (False, MINE), "a planted link")


def a_folder_that_is_renamed_meanwhile(good, folder):
    """A new job is recorded there while the older run is merged: it is not kept in its place."""
    for verb, part in (("info", "profile.db.uctrace-new"), ("info", "run.h5.uctrace-new"),
                       ("view", "report.html.uctrace-new")):
        data = folder.with_name(f"renamed-{part.split(chr(46))[0]}-{verb}")
        copy_of(good, data)
        (data / "uctrace.folder").write_text("uctrace data folder, layout 1\n")
        env = {**os.environ, "LD_PRELOAD": str(DISTURBED), "STOP_AT_OPEN": part}
        reader = subprocess.Popen([TOOL, verb, data], env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        os.waitid(os.P_PID, reader.pid, os.WSTOPPED | os.WNOWAIT)
        run_well([TOOL, "record", "-o", data, "--", "true"])
        kept = data.with_name(data.name + ".old.1")
        check(kept.is_dir(), "the folder was not renamed")
        os.kill(reader.pid, signal.SIGCONT)
        output, errors = reader.communicate(timeout=60)
        check("was renamed meanwhile" in errors, f"{part}: not told: {errors}")
        for name in ("run.h5", "report.html"):
            check(not (data / name).exists(), f"{name} of the older run is in the new folder")
        check_one_line(ask(data), "no run in")


def another_users_folder(good, folder):
    if os.geteuid() != 0:
        raise Skip("only root can make a folder of another user's")
    home = folder.with_name("home")
    home.mkdir()
    copy_of(good, folder)
    os.chown(folder, NOBODY, NOBODY)
    there = sorted(folder.iterdir())
    env = {"HOME": str(home), "XDG_CACHE_HOME": ""}
    for verb in ("info", "report", "view", "info"):
        ask_well(folder, verb, env=env)
    check_equal(sorted(folder.iterdir()), there, "files in the other user's folder")
    (kept,) = (home / ".cache" / "uctrace").iterdir()
    check_equal(sorted(path.name for path in kept.iterdir()), ["profile.db", "report.html", "run.h5"],
                "files in the cache")
    check_equal((home / ".cache" / "uctrace").stat().st_mode & 0o777, 0o700, "mode of the cache")
    store = identity_of(kept / "run.h5")
    ask_well(folder, env=env)
    check_equal(identity_of(kept / "run.h5"), store, "the store, which is used")
    said = ask_well(folder, "merge", env=env).stdout
    check(str(kept / "run.h5") in said, f"merge does not say where: {said}")
    # A cache that others planted is not used, nor one that cannot be made.
    shutil.rmtree(home / ".cache" / "uctrace")
    elsewhere = folder.with_name("elsewhere")
    elsewhere.mkdir()
    for plant in (lambda path: path.symlink_to(elsewhere), lambda path: path.write_text(""),
                  lambda path: (path.mkdir(), path.chmod(0o777)),
                  lambda path: (path.mkdir(), os.chown(path, NOBODY, NOBODY))):
        cache = home / ".cache" / "uctrace"
        plant(cache)
        told = ask(folder, env=env)
        check_one_line(told, "the merged run is not kept", "--store DIR", status=0)
        check(told.stdout.count(" finalized") == 4, f"not the run: {told}")
        shutil.rmtree(cache) if cache.is_dir() and not cache.is_symlink() else cache.unlink()
    check_equal(list(elsewhere.iterdir()), [], "files behind a planted link")


def a_place_by_name(good, folder):
    copy_of(good, folder)
    there = sorted(folder.iterdir())
    place = folder.with_name("place") / "inner"
    for verb in ("report", "view", "merge"):
        ask_well(folder, verb, "--store", place)
    check_equal(sorted(folder.iterdir()), there, "files in the folder of the logs")
    check_pair(place)
    check((place / "report.html").exists(), "no page beside the store")
    before = identity_of(place / "run.h5")
    ask_well(folder, "info", "--store", place)
    check_equal(identity_of(place / "run.h5"), before, "the store, which is used")
    taken = place.with_name("taken")
    taken.write_text(MINE)
    check_one_line(ask(folder, "merge", "--store", taken), "cannot")
    check_equal(taken.read_text(), MINE, "a file that was named as a place")
    for log in folder.glob("*.ulog"):
        log.unlink()
    # Nothing proves that the content belongs to this folder; it is read only by its own name.
    check_one_line(ask(folder, "info", "--store", place), "no run in", f"kept in '{place}'")
    answer = ask_well(place, "info").stdout
    check(answer.count(" finalized") == 4, f"not the run: {answer}")


def what_killed_merges_left(good, folder):
    copy_of(good, folder)
    word = "abcdef123456"
    names = tuple(f"{file}.uctrace-new-{word}" for file in ("run.h5", "profile.db", "report.html"))
    others = ("run.h5.uctrace-new-long-word", "run.h5.new-backup", "run.h5.newer",
              f"notes.uctrace-new-{word}", "page.html.new-backup", f"page.html.uctrace-new-{word}")
    for name in names + others:
        (folder / name).write_text(MINE)
    at_work = folder / "run.h5.uctrace-new-inworkinwork"
    with open(at_work, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ask_well(folder, "merge")
        ask_well(folder, "view")
        ask_well(folder, "view", "-o", folder / "page.html")
        check(at_work.exists(), "the file of a merge at work was removed")
    for name in names:
        check(not (folder / name).exists(), f"{name} was left")
    for name in others:
        check_equal((folder / name).read_text(), MINE, f"{name} of the user")


def several_merges_at_once(good, folder):
    copy_of(good, folder)
    for _ in range(3):
        merges = [subprocess.Popen([TOOL, "merge", folder], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE) for _ in range(4)]
        for merge in merges:
            errors = merge.communicate(timeout=60)[1]
            check_equal((merge.returncode, errors), (0, b""), "a merge beside others")
        store = store_id(folder)
        check_equal(processes_of(folder), 4, "processes")
        check_equal(store_id(folder), store, "the store, which is used")
        check_pair(folder)


CASES = (pipes_and_devices, files_of_the_user, pages_are_replaced, pages_by_name,
         a_folder_that_is_renamed_meanwhile, a_place_by_name,
         what_killed_merges_left, several_merges_at_once, another_users_folder)


def other_folders():
    with scratch() as folder:
        good = record_four(folder)
        for case in CASES:
            case(good, folder / case.__name__)


run_test(other_folders)
