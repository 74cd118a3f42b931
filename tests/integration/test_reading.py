"""Basics of the reading verbs: the job's complete command, plausible numbers, and a merged run as
new as the logs."""

import json
import os
import shutil

from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well

TOOL_FAILURE = 125


def command_is_the_launchers(good, folder):
    command = MPIS["ompi"].job("exchange", folder / "truth")
    check_equal(good.info["command"].split()[0], str(command[0]), "first word of the command")
    for word in map(str, command):
        check(word in good.info["command"], f"{word} is not in {good.info['command']}")
    # A run.json of another job says nothing about this one.
    other = Recording(folder / "other")
    shutil.copytree(good.folder, other.folder)
    run_json = other.folder / "run.json"
    job = json.loads(run_json.read_text())["job"]
    run_json.write_text(run_json.read_text().replace(job, job[::-1] + "0"))
    (other.folder / "run.h5").unlink()
    check(str(command[0]) not in other.info["command"].split(), "the command of another job")
    check("exchange" in other.info["command"], f"not rank 0's: {other.info['command']}")


def negative_numbers_are_refused(good, _):
    for option in ("--limit", "--min-bytes", "--max-bytes"):
        result = good.ask("messages", option, "-1")
        check_equal(result.status, TOOL_FAILURE, f"{option} -1: {result}")
        check(option in result.stderr, f"the error does not name {option}: {result}")


def late_log_is_merged(good, folder):
    """A log that is brought in later, with the times it has, is not overlooked."""
    late = folder / "late"
    late.mkdir()
    for log in good.logs[1:]:
        shutil.copy2(log, late)
    check_equal(len(Recording(late).info["processes"]), len(good.logs) - 1, "processes at first")
    check((late / "run.h5").exists(), "the merged run was not kept")
    times = good.logs[0].stat()
    shutil.copy2(good.logs[0], late)
    os.utime(late / good.logs[0].name, ns=(times.st_atime_ns, times.st_mtime_ns))
    check_equal(len(Recording(late).info["processes"]), len(good.logs), "processes in the end")


def verbs_read_well():
    with scratch() as folder:
        _, good = record_well(folder / "data", MPIS["ompi"].job("exchange", folder / "truth"))
        for case in (command_is_the_launchers, negative_numbers_are_refused, late_log_is_merged):
            case(good, folder)


run_test(verbs_read_well)
