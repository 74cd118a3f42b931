"""`uctrace top` beside two readings of `uctrace counters` around it: of a job that runs, has ended, was killed, and where
there is nothing to show."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from counter_files import CLASSES, by_pair, counters
from counting_jobs import RunningJob
from harness import TOOL, check, check_equal, finish, run, run_test, run_well, scratch, started
from mpi_jobs import MPIS
from recordings import record, record_well

REDRAWN = b"\x1b[H\x1b[2J"
WIDTH, HEIGHT = 80, 24


def top(folder, *options):
    return json.loads(run_well([TOOL, "top", folder, "--once", "--format", "json", *options]).stdout)


def flows_of(found):
    """{table: {labels: (messages per second or None, bytes per second, messages, bytes)}}"""
    tables = {}
    for name, count in (("pairs", "messages"), ("transports", "operations"), ("functions", "calls")):
        own = {"messages", "operations", "calls", "bytes", "messages_per_s", "operations_per_s", "calls_per_s",
               "bytes_per_s"}
        tables[name] = {
            tuple(value for key, value in row.items() if key not in own):
                (row.get(f"{count}_per_s"), row.get("bytes_per_s"), row[count], row["bytes"])
            for row in found[name]
        }
    return tables


def check_between(found, before, after):
    """Totals lie between those of the two readings around, and rates are no more than came in between."""
    seconds = found["interval_s"]
    check(seconds > 0, "an interval")
    flows, least, most = flows_of(found), flows_of(before), flows_of(after)
    rates = 0
    for name, rows in flows.items():
        check(set(least[name]) <= set(rows) <= set(most[name]), f"rows of {name}: {rows}")
        for labels, (messages_per_s, bytes_per_s, messages, size) in rows.items():
            low, high = least[name].get(labels, (0, 0, 0, 0)), most[name][labels]
            check(low[2] <= messages <= high[2] and low[3] <= size <= high[3], f"{labels}: {low}, {high}")
            check(0 <= messages_per_s * seconds <= messages - low[2] + seconds, f"{labels} of {name}: messages/s")
            check(0 <= bytes_per_s * seconds <= size - low[3] + seconds, f"{labels} of {name}: bytes/s")
            rates += messages_per_s > 0
    return rates


def running(mpi):
    with scratch() as folder:
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            before = counters(job.data)
            found = top(job.data, "--interval", "300ms")
            after = counters(job.data)
            check(check_between(found, before, after) > 0, f"nothing was sent in {found['interval_s']} s")
            check_equal(found["run"]["counting"], mpi.ranks, "processes that count")
            check_equal([row["state"] for row in found["processes"]], ["counting"] * mpi.ranks, "states")
            check(all(row["operations_per_s"] > 0 for row in found["processes"]), f"{found['processes']}")
            rates = [row["bytes_per_s"] for row in found["pairs"]]
            check_equal(rates, sorted(rates, reverse=True), "the greatest first")
            one = top(job.data, "--interval", "100ms", "--by", "devices", "--limit", 1)
            check_equal((len(one["devices"]), "pairs" in one), (1, False), "one row of one table")
            job.stop()
            check_equal(finish(process).status, 0, "the job")


def ended(mpi):
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("counted"), switches=["--counters"])
        found, last = top(recording.folder), counters(recording.folder)
        check_equal((found["run"]["ended"], found["interval_s"]), (True, 0), "it has ended")
        for name, rows in flows_of(found).items():
            told = {labels: row[2:] for labels, row in rows.items()}
            check_equal(told, {labels: row[2:] for labels, row in flows_of(last)[name].items()}, f"totals of {name}")
            check_equal({row[:2] for row in rows.values()}, {(0, 0)}, f"rates of {name}")
        text = run_well([TOOL, "top", recording.folder]).stdout
        check("the job has ended" in text, text)


def killed(mpi):
    """A process that is killed leaves its last numbers."""
    with scratch() as folder:
        result, _ = record(folder / "data", mpi.job("counted", "die"), switches=["--counters"])
        check(result.status != 0, "a rank was killed")
        found, last = top(folder / "data"), counters(folder / "data")
        check_equal(by_pair(found, *CLASSES), by_pair(last, *CLASSES), "the last numbers")
        check("killed" in {row["state"] for row in found["processes"]}, f"{found['processes']}")


def terminal(mpi):
    """On a terminal it draws again until the job has ended, and fits."""
    with scratch() as folder:
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
            shown = subprocess.Popen([str(TOOL), "top", str(job.data), "--interval", "100ms"],
                                     stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
            os.close(theirs)
            output = b""
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # EIO: the other end is closed
                    break
                if not part:
                    break
                output += part
                if output.count(REDRAWN) == 3:
                    job.stop()
            os.close(ours)
            check_equal(shown.wait(timeout=60), 0, "status of top")
            check_equal(finish(process).status, 0, "the job")
        pictures = [picture.decode() for picture in output.split(REDRAWN)[1:]]
        check(len(pictures) >= 3, f"drawn {len(pictures)} times")
        check("the job has ended" in pictures[-1], pictures[-1])
        for picture in pictures:
            lines = picture.replace("\r", "").split("\n")
            check(len(lines) <= HEIGHT, f"{len(lines)} lines: {picture}")
            check(all(len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= WIDTH for line in lines), picture)


def bad_input():
    with scratch() as folder:
        (folder / "empty").mkdir()
        _, traced = record_well(folder / "traced", MPIS["mpich"].job("counted"))
        _, counted = record_well(folder / "counted", MPIS["mpich"].job("counted"), switches=["--counters"])
        for where, words in ((folder / "none", "cannot read the folder"), (folder / "empty", "it has no counter files"),
                             (traced.folder, "its job was recorded without them")):
            result = run([TOOL, "top", where])
            check_equal((result.status, len(result.stderr.splitlines())), (125, 1), f"{result}")
            check(words in result.stderr, f"{result}")
        short = run([TOOL, "top", counted.folder, "--interval", "10ms"])
        check(short.status == 125 and "less than 100ms" in short.stderr, f"{short}")

        (counted.folder / "a.counters").write_bytes(struct.pack("=QI", 0x31544E4352544355, 99) + bytes(8192))
        found = top(counted.folder)
        check_equal(len(found["processes"]), MPIS["mpich"].ranks, "the other processes")
        check(len(found["unread"]) == 1 and "version 99" in found["unread"][0], f"{found['unread']}")


CASES = {"running": running, "ended": ended, "killed": killed, "terminal": terminal}


def main(what, *parts):
    if what not in MPIS:
        bad_input()
    for part in parts:
        CASES[part](MPIS[what])


run_test(main)
