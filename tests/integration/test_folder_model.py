"""Folders under random sequences of actions of people, jobs and clocks, from a fixed seed. After each
step nothing foreign has changed, no log of an earlier run is lost, `record` followed the rules of
docs/folders.md (reimplemented here from the bytes on disk), and a shown run is right or says that it is
incomplete."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import struct
import time
from pathlib import Path

from checks import results_of
from folders import (
    BOOT_ID,
    CLOSED,
    HEARTBEAT,
    OURS,
    PID,
    REFUSED,
    SILENCE_S,
    STRANGER,
    entries,
    identity,
    job_key,
    kind_of,
    lives,
    log_lives,
    page_of,
    process_of,
    state_of,
)
from harness import PROGRAMS, TOOL, check, check_equal, finish, run, run_test, scratch, started, wait_until
from recordings import record_command

SEED, STEPS = 1, 80
MARGIN_S = 20


class World:
    def __init__(self, folder, chance):
        self.base, self.chance = folder / "base", chance
        self.base.mkdir()
        self.base.chmod(0o1777)
        folder.chmod(0o711)
        self.foreign = {}  # path: what it was when it was planted
        self.logs = {}  # (device, inode): bytes that it had at least
        self.finished = set()  # keys of jobs whose two processes ended well
        self.living = []  # jobs that wait for their file
        self.count = 0

    def folders(self):
        return sorted(path for path in self.base.iterdir() if path.is_dir())

    def number(self):
        self.count += 1
        return self.count


# --- after each step -----------------------------------------------------------------------------


def logs_by_identity(world):
    return {identity(log): log for folder in world.folders() for log in folder.glob("*.ulog")}


def check_world(world):
    for path, before in world.foreign.items():
        check(os.path.lexists(path), f"{path} is gone")
        check_equal(state_of(path), before, f"{path}")
    found = logs_by_identity(world)
    for name, size in world.logs.items():
        check(name in found, f"a log of {size} bytes is lost")
        check(found[name].stat().st_size >= size, f"{found[name]} was cut")
    for name, log in found.items():
        world.logs[name] = log.stat().st_size


def check_shown(world, folder):
    """For a job that ended properly, `info` shows everything or says that it does not."""
    result = run([TOOL, "info", folder, "--format", "json"])
    check(result.status in (0, 1, REFUSED), f"info: {result}")
    if result.status == REFUSED:
        return
    info = json.loads(result.stdout)
    check_equal(results_of(info).get("violated", []), [], f"violated identities of {folder}")
    if not info["complete"]:
        return
    job = info["job"]
    check(job in world.finished, f"job {job} in {folder} did not end well, and is shown as whole")
    # A copy may be of one of its processes.
    there = {process_of(log) for log in folder.glob("*.ulog") if job_key(log) == job}
    check_equal(len(info["processes"]), len(there), f"processes of job {job} in {folder}")
    if len(there) == 2:
        check_equal(info["messages"]["matched"], world.messages, f"messages of {job} in {folder}")


# --- steps ---------------------------------------------------------------------------------------


def some_folder(world):
    return world.base / world.chance.choice(["a", "b", "c"])


def some_file(world):
    """A file of ours, of any folder."""
    found = [path for folder in world.folders() for path in entries(folder)
             if path not in world.foreign and path.is_file() and OURS.fullmatch(path.name)]
    return world.chance.choice(found) if found else None


def highest_number(folder):
    numbers = [re.fullmatch(re.escape(folder.name) + r"\.old\.([0-9]+)", path.name)
               for path in folder.parent.iterdir()]
    return max((int(found[1]) for found in numbers if found), default=0)


def expected(folder, cwd):
    """The expected action of `record` for the folder: refuse, move, share, or use it."""
    kind = kind_of(folder)
    if kind == "foreign":
        return "refuse"
    if kind == "missing":
        return "use"
    if lives(folder):
        return "share"
    if kind == "older run":
        return "refuse" if cwd == folder else "move"
    return "use"


def check_recorded(world, folder, does, before, number, result):
    if does == "refuse":
        check_equal(result.status, REFUSED, f"it should be refused: {result}")
        check_equal({identity(path) for path in entries(folder)}, before, f"entries of {folder}")
        return
    check_equal(result.status, 0, f"the job: {result}")
    now = {identity(path) for path in entries(folder)}
    moved = folder.with_name(f"{folder.name}.old.{number + 1}")
    if does == "move":
        check(moved.is_dir(), f"nothing was moved to {moved}: {result}")
        check_equal({identity(path) for path in entries(moved)}, before, f"entries of {moved}")
    else:
        check(before <= now, f"entries that left {folder} ({does}): {result}")
        check(not moved.exists(), f"{moved} was made: {result}")
    check_equal("keeps an older job" in result.stderr, does == "share", f"the warning: {result}")


def note_finished(world, folder, before):
    """A job whose two processes ended well."""
    jobs = {}
    for log in folder.glob("*.ulog"):
        if identity(log) not in before:
            jobs.setdefault(job_key(log), []).append(page_of(log)[CLOSED])
    for job, closed in jobs.items():
        check_equal(closed, [1, 1], f"logs of job {job}")
        world.finished.add(job)


def record(world, folder=None, cwd=None):
    folder = folder or some_folder(world)
    does, number = expected(folder, cwd), highest_number(folder)
    before = {identity(path) for path in entries(folder)}
    result = run(record_command("." if cwd else folder, [PROGRAMS / "plain_ucp"]), cwd=cwd)
    check_recorded(world, folder, does, before, number, result)
    if does != "refuse":
        note_finished(world, folder, before)
    return f"record into {folder.name}: {does}"


def record_here(world):
    folder = some_folder(world)
    if not folder.is_dir():
        return None  # -o . in nothing
    return record(world, folder, cwd=folder)


def start(world):
    if len(world.living) == 2:
        return None  # enough jobs
    folder, go = some_folder(world), world.base.parent / f"go{world.number()}"
    does, number = expected(folder, None), highest_number(folder)
    before = {identity(path) for path in entries(folder)}
    stack = contextlib.ExitStack()
    process = stack.enter_context(started(record_command(folder, [PROGRAMS / "plain_ucp", go])))
    if does == "refuse":
        check_recorded(world, folder, does, before, number, finish(process))
        stack.close()
        return f"start in {folder.name}: refused"
    wait_until(lambda: Path(f"{go}.ready").exists() or process.poll() is not None, "no job")
    logs = [log for log in folder.glob("*.ulog") if identity(log) not in before]
    check_equal(len(logs), 2, f"logs of a job that began in {folder}")
    check_equal(highest_number(folder) - number, does == "move", "folders that were moved")
    world.living.append((stack, process, go, folder, logs))
    return f"start in {folder.name}: {does}"


def some_living(world):
    return world.living.pop(world.chance.randrange(len(world.living))) if world.living else None


def end_well(world):
    job = some_living(world)
    if job is None:
        return None  # no job to end
    stack, process, go, folder, logs = job
    go.touch()
    check_equal(finish(process).status, 0, "a job that waited")
    check(all(log.exists() for log in logs), f"logs of a running job left {folder}")
    world.finished.add(job_key(logs[0]))
    stack.close()
    return f"a job in {folder.name} ends"


def kill_job(world):
    """Its processes die, or only `record`, so that nobody waits for them."""
    job = some_living(world)
    if job is None:
        return None  # no job to kill
    stack, process, go, folder, logs = job
    pids = [struct.unpack_from("=I", page_of(log), PID)[0] for log in logs]
    whom = world.chance.choice(["record", "job"])
    if whom == "record":
        process.kill()
        process.wait()
        check(all(log_lives(log) for log in logs), "the job died with its record")
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if whom == "job":
        check(finish(process).status != 0, "a killed job ended well")
    wait_until(lambda: not any(log_lives(log) for log in logs), "a job outlives its end")
    stack.close()
    return f"kill {whom} in {folder.name}"


def read(world):
    folders = world.folders()
    if not folders:
        return None  # nothing to read
    folder = world.chance.choice(folders)
    if world.chance.random() < 0.3:
        run([TOOL, "merge", folder])
    check_shown(world, folder)
    return f"read {folder.name}"


def copy_a_log(world):
    log, folder = some_file(world), some_folder(world)
    if log is None or log.suffix != ".ulog" or kind_of(folder) not in ("ours", "older run"):
        return None  # no log to copy
    copy = folder / f"copy{world.number()}.ulog"
    shutil.copy(log, copy)
    copy.chmod(0o644)
    return f"copy {log.name} to {folder.name}"


def seem_elsewhere(world):
    """A log begun by another host and never closed; its last sign of life is old, new, or in the
    future."""
    log = some_file(world)
    if log is None or log.suffix != ".ulog" or log_lives(log):
        return None  # no log to change
    ago = world.chance.choice([0, SILENCE_S - MARGIN_S, SILENCE_S + MARGIN_S, 10**5, -(10**5)])
    then = time.time_ns() - ago * 10**9
    log.chmod(0o644)
    with open(log, "r+b") as file:
        for offset, data in ((BOOT_ID, b"else"), (CLOSED, b"\0"), (HEARTBEAT, struct.pack("=Q", then))):
            file.seek(offset)
            file.write(data)
    os.utime(log, ns=(then, then))
    return f"{log.parent.name}/{log.name} seems to be elsewhere, {ago} s ago"


def set_clock(world):
    path = some_file(world)
    if path is None:
        return None  # no file to touch
    then = time.time() + world.chance.choice([-(10**8), -1000, 1000, 10**6])
    os.utime(path, (then, then))
    return f"touch {path.parent.name}/{path.name}"


def plant(world):
    """A file, folder or link that is not ours, some by names of ours."""
    folder = some_folder(world)
    if not folder.is_dir():
        if os.path.lexists(folder):
            return None  # no place to plant
        folder.mkdir()
    name = world.chance.choice(["notes.txt", "src", ".hidden", "data.ulog.bak", "run.json", "run.h5"])
    path = folder / name
    if os.path.lexists(path):
        return None  # planted before
    what = world.chance.choice(["file", "folder", "link"])
    if what == "file" and name.startswith("run."):
        what = "link"  # a file of that name is ours
    victim = world.base.parent / f"victim{world.number()}"
    victim.write_text("precious")
    world.foreign[victim] = state_of(victim)
    if what == "file":
        path.write_text("mine")
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(victim)
    os.utime(path, (1, 1), follow_symlinks=False)
    world.foreign[path] = state_of(path)
    return f"plant the {what} {folder.name}/{name}"


def weed(world):
    """The owner removes foreign things again."""
    planted = [path for path in world.foreign if path.parent.parent == world.base]
    if not planted:
        return None
    for path in planted:
        del world.foreign[path]
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for folder in world.folders():
        if not entries(folder):
            folder.rmdir()
    return "weed"


def others_may_run(program):
    return all(path.stat().st_mode & 0o001 for path in (program, *program.parents))


def another_user(world):
    """Another user records into a folder if permitted, and otherwise must not disturb it."""
    if os.geteuid() != 0 or not others_may_run(PROGRAMS / "plain_ucp"):
        return None  # one user only
    folder = some_folder(world)
    before = {identity(path) for path in entries(folder)}
    kind, does, was_there = kind_of(folder), expected(folder, None), folder.exists()
    owner = folder.stat().st_uid if was_there else STRANGER
    command = ["setpriv", "--reuid", STRANGER, "--regid", STRANGER, "--clear-groups",
               *record_command(folder, [PROGRAMS / "plain_ucp"])]
    result = run(command)
    if does == "refuse":
        check_equal(result.status, REFUSED, f"it should be refused: {result}")
    else:
        check_equal(result.status, 0, f"the other user's job: {result}")
    if owner != STRANGER:
        check_equal({identity(path) for path in entries(folder)}, before, f"another user changed {folder}")
    elif does in ("use", "move", "share"):
        note_finished(world, folder, before)
    return f"another user records into {folder.name}, {kind}"


STEPS_BY_WEIGHT = {record: 8, record_here: 2, start: 6, end_well: 2, kill_job: 4, read: 6, copy_a_log: 3,
                   seem_elsewhere: 4, set_clock: 3, plant: 2, weed: 6, another_user: 3}


def random_sequences(seed=SEED, steps=STEPS):
    chance = random.Random(int(seed))
    done = []
    with scratch() as folder:
        world = World(folder, chance)
        first = folder / "first"
        run(record_command(first, [PROGRAMS / "plain_ucp"]))
        info = json.loads(run([TOOL, "info", first, "--format", "json"]).stdout)
        world.messages = info["messages"]["matched"]
        check(world.messages > 0, f"no messages in the first run: {info}")
        try:
            while len(done) < int(steps):
                step = chance.choices(list(STEPS_BY_WEIGHT), list(STEPS_BY_WEIGHT.values()))[0]
                done.append(step.__name__)
                done[-1] = step(world)
                if done[-1] is None:  # there is nothing that it could be done to
                    done.pop()
                check_world(world)
            for place in world.folders():
                check_shown(world, place)
        finally:
            print("\n".join(done))
            for stack, *_ in world.living:
                stack.close()
        kinds = {step.split(":")[-1].strip() for step in done if step.startswith("record")}
        check({"use", "move", "share", "refuse"} <= kinds, f"not all that record does was met: {kinds}")


run_test(random_sequences)
