"""The content of data folders, for tests of the merged run and its place."""

import shutil
import sqlite3

from harness import PROGRAMS, TOOL, check, check_equal, need, run, run_well
from mpi_jobs import MPIS
from recordings import Recording, record_well

DISTURBED = PROGRAMS / "disturbed_files.so"
TOOL_FAILURE = 125
VIEWS = (["messages", "--format", "ndjson"], ["report", "--format", "json"], ["comms", "--format", "json"],
         ["info", "--format", "json"])


def record_four(folder):
    """A job of four ranks whose logs are copied by the tests."""
    return record_well(folder / "recorded", MPIS["ompi"].job("allreduce", 100, 2))[1]


def copy_of(recording, folder, *, ranks=slice(None), marker=False):
    """Its logs and run.json alone, in a folder without a merged run."""
    folder.mkdir()
    for log in recording.logs[ranks]:
        shutil.copy2(log, folder)
    shutil.copy2(recording.folder / "run.json", folder)
    if marker:
        (folder / "uctrace.folder").write_text("uctrace data folder, layout 1\n")
    return Recording(folder)


def generate(data, events, *options):
    """Logs of a whole job that nobody ran, of about so many events."""
    run_well([TOOL.with_name("uctrace-tracegen"), "-o", data, "--events", events, *options])


def views(data, store):
    """All output about the run in a store."""
    return [run_well([TOOL, verb, data, "--store", store, *options]).stdout for verb, *options in VIEWS]


def ask(folder, verb="info", *options, **more):
    """Runs a verb that must not block."""
    return run([TOOL, verb, folder, *options], timeout=30, **more)


def ask_well(folder, verb="info", *options, **more):
    result = ask(folder, verb, *options, **more)
    check_equal((result.status, result.stderr), (0, ""), f"status and errors of {verb}: {result}")
    return result


def check_one_line(result, *parts, status=TOOL_FAILURE):
    check_equal(result.status, status, f"exit status: {result}")
    check_equal(len(result.stderr.splitlines()), 1, f"lines of errors: {result}")
    for part in parts:
        check(part in result.stderr, f"{part!r} is not said: {result}")


def processes_of(folder):
    return len(Recording(folder).info["processes"])


def identity_of(path):
    status = path.stat()
    return status.st_ino, status.st_ctime_ns


def was_merged_anew(folder, change=lambda: None):
    """Whether the next verb makes another store."""
    change()
    before = identity_of(folder / "run.h5")
    ask_well(folder)
    return identity_of(folder / "run.h5") != before


def store_id(folder):
    dump = run_well([need("h5dump"), "-y", "-w", "0", "-d", "/run/store_id/bytes", folder / "run.h5"])
    data = dump.stdout.split("DATA {")[1].split("}")[0]
    return bytes(int(number) for number in data.replace(",", " ").split()).decode()


def profile_id(folder):
    profile = sqlite3.connect(f"file:{folder / 'profile.db'}?mode=ro", uri=True)
    try:
        return profile.execute("SELECT value FROM metadata WHERE key = 'store id'").fetchone()[0]
    finally:
        profile.close()


def check_pair(folder):
    """Store and profile are of one merge, and nothing else was left."""
    check_equal(profile_id(folder), store_id(folder), "store of the profile")
    left = [path.name for path in folder.iterdir() if ".uctrace-new-" in path.name]
    check_equal(left, [], "files that a merge left")
