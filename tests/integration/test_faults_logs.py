"""Logs that are missing, foreign, truncated or too new: one plain line, and the rest is still
merged."""

import os
import shutil
import struct

from checks import SENT_COLUMNS, check_incomplete, check_same_multiset, read_truth, sent_like
from harness import TOOL, check, check_equal, run, run_test, scratch
from logs import PAGE_BYTES
from mpi_jobs import MPIS
from recordings import Recording, record_well

TOOL_FAILURE = 125
VERSION_OFFSET = 8  # docs/log-format.md: u32 after the magic
# Root can read everything, unless it drops that capability.
PRIVILEGES = "-dac_override,-dac_read_search"
WITHOUT_PRIVILEGE = ["setpriv", f"--bounding-set={PRIVILEGES}", f"--inh-caps={PRIVILEGES}"]
if os.geteuid() != 0:
    WITHOUT_PRIVILEGE = []


def check_one_plain_line(result, *mentioned):
    check_equal(result.status, TOOL_FAILURE, f"exit status of {result}")
    check_equal(result.stdout, "", "standard output of a failure")
    lines = result.stderr.splitlines()
    check_equal(len(lines), 1, f"lines of the error: {result}")
    check(lines[0].startswith("uctrace: "), f"the error does not say who speaks: {lines[0]}")
    check(";" in lines[0], f"the error does not say what to do: {lines[0]}")
    for word in mentioned:
        check(str(word) in lines[0], f"the error does not mention {word}: {lines[0]}")
    check(".cpp" not in lines[0], f"the error names a source file: {lines[0]}")


def make_newer(log):
    with log.open("r+b") as file:
        file.seek(VERSION_OFFSET)
        file.write(struct.pack("=I", 0x7FFFFFFF))


def make_foreign(log):
    log.write_bytes(b"no log of uctrace\n" * 8192)


def cut(log):
    """Keeps the process page and part of the records."""
    os.truncate(log, PAGE_BYTES + 3000)


def copy_of(recording, folder):
    """The logs alone: what was merged before must not help."""
    folder.mkdir()
    for log in recording.logs:
        shutil.copy(log, folder)
    return Recording(folder)


def missing_or_unreadable_folder(good, folder, _):
    check_one_plain_line(Recording(folder / "none").ask("info"), folder / "none")
    (folder / "empty").mkdir()
    check_one_plain_line(Recording(folder / "empty").ask("info"), folder / "empty")

    secret = copy_of(good, folder / "secret")
    secret.folder.chmod(0)
    result = run([*WITHOUT_PRIVILEGE, TOOL, "info", secret.folder])
    check_one_plain_line(result, secret.folder)


def no_readable_log(good, folder, _):
    for name, damage in (("newer", make_newer), ("foreign", make_foreign)):
        damaged = copy_of(good, folder / name)
        for log in damaged.logs:
            damage(log)
        check_one_plain_line(damaged.ask("info"), damaged.folder)


def one_damaged_log(good, folder, truth):
    for damage in (make_newer, make_foreign, os.remove, cut):
        damaged = copy_of(good, folder / f"one-{damage.__name__}")
        victim = damaged.logs[1]
        damage(victim)
        check_incomplete(damaged.info)
        check_readable_part(damaged, truth)
        report = damaged.ask("report")
        check_equal(report.status, 0, f"exit status of {report}")
        text = report.stdout + report.stderr
        if damage is os.remove:
            check("missing" in text, f"the report does not say that a log is missing: {report}")
        else:
            check(victim.name in text, f"the report does not name {victim.name}: {report}")


def check_readable_part(recording, truth):
    """What whole logs say about each other is still exact."""
    ranks = {p["rank"] for p in recording.info["processes"] if p["complete"]}
    check(len(ranks) > 1, f"fewer than two whole logs: {recording.info['processes']}")

    def among_readable(rows):
        return [row for row in rows if row["src"] in ranks and row["dst"] in ranks]

    check_same_multiset(
        among_readable(sent_like(truth, recording)),
        among_readable(truth),
        SENT_COLUMNS,
        "readable messages",
    )


def damaged_logs_are_survived():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        _, good = record_well(folder / "data", mpi.job("exchange", folder / "truth"))
        truth = read_truth(folder / "truth", mpi)
        for case in (missing_or_unreadable_folder, no_readable_log, one_damaged_log):
            case(good, folder, truth)


run_test(damaged_logs_are_survived)
