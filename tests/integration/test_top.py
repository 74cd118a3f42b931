"""`uctrace top` compared with readings of `uctrace counters` before and after it: of a running, an ended and a killed
job, and with nothing to show."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from pathlib import Path

from counter_files import CLASSES, by_pair, counters
from counting_jobs import RunningJob, two_running
from harness import TOOL, check, check_equal, finish, run, run_test, run_well, scratch, started, wait_until
from launchers import tells_failures
from mpi_jobs import MPIS
from recordings import record, record_well

REDRAWN = b"\x1b[H\x1b[2J"
OWN_SCREEN, OTHER_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
WIDTH, HEIGHT = 80, 24
NARROW = 44  # so narrow that titles and the line of keys are wrapped
TITLES = ("By class and rank pair", "By class and size", "By transport, device", "By device (of",
          "By GPU")  # in the order of the key


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
    """Totals lie between those of the readings before and after, and rates are bounded by the difference."""
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
        if tells_failures(mpi.name):
            check(result.status != 0, "a rank was killed")
        found, last = top(folder / "data"), counters(folder / "data")
        check_equal(by_pair(found, *CLASSES), by_pair(last, *CLASSES), "the last numbers")
        check("killed" in {row["state"] for row in found["processes"]}, f"{found['processes']}")


class Terminal:
    """`uctrace top` on a terminal of its own, and what it draws there."""

    def __init__(self, *options, width=WIDTH):
        self.width = width
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
        self.settings = termios.tcgetattr(theirs)
        # In a session of its own with this as controlling terminal: so keys arrive, and generate signals.
        self.process = subprocess.Popen(["setsid", "--ctty", "--wait", str(TOOL), "top", *map(str, options)],
                                        stdin=theirs, stdout=theirs, stderr=theirs)
        self.theirs = theirs
        self.output = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        os.close(self.ours)
        os.close(self.theirs)

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def read(self):
        ready, _, _ = select.select([self.ours], [], [], 30)
        check(ready, f"it draws nothing more; so far: {self.output.decode(errors='replace')}")
        self.output += os.read(self.ours, 65536)

    def wait_for(self, *words):
        """The next complete picture from now on that contains these words."""
        drawn = len(self.pictures())
        while True:
            for picture in self.pictures()[drawn:]:
                if all(word in picture for word in words) and "q quit" in picture:
                    return picture
            self.read()

    def is_stopped(self):
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def pictures(self):
        return [picture.decode(errors="replace") for picture in self.output.split(REDRAWN)[1:]]

    def end(self):
        """Its exit status, after all its output is read; the terminal is restored."""
        while self.process.poll() is None:
            if select.select([self.ours], [], [], 0.1)[0]:
                self.output += os.read(self.ours, 65536)
        while select.select([self.ours], [], [], 0)[0]:
            self.output += os.read(self.ours, 65536)
        check_equal(termios.tcgetattr(self.theirs), self.settings, "settings of the terminal")
        entered, left = (self.output.count(code) for code in (OWN_SCREEN, OTHER_SCREEN))
        check(entered == left >= 1, f"the screen of its own was entered {entered} times, and left {left} times")
        return self.process.returncode

    def last_screen(self):
        """What stays on the terminal."""
        return self.output.split(OTHER_SCREEN)[-1].decode(errors="replace")


def check_fits(picture, width=WIDTH):
    lines = picture.replace("\r", "").split("\n")
    check(len(lines) <= HEIGHT, f"{len(lines)} lines: {picture}")
    check(all(len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= width for line in lines), picture)


def terminal(mpi):
    """On a terminal it redraws until the job has ended, and fits the terminal, also where the first line is wrapped;
    its last picture stays."""
    with scratch() as folder:
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            with Terminal(job.data, "--interval", "100ms", width=60) as shown:
                for _ in range(3):
                    shown.wait_for("rates of")
                job.stop()
                check_equal(shown.end(), 0, "status of top")
            check_equal(finish(process).status, 0, "the job")
        pictures = shown.pictures()
        check("the job has ended" in pictures[-1], pictures[-1])
        check("the job has ended" in shown.last_screen(), shown.last_screen())
        check("q quit" not in shown.last_screen(), "keys are told that nobody takes")
        for picture in pictures:
            check_fits(picture.split(OTHER_SCREEN.decode())[0], shown.width)


def keys(mpi):
    with scratch() as folder:
        job = RunningJob(mpi, folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            with Terminal(job.data, "--interval", "100ms") as shown:
                shown.wait_for(TITLES[0], "sort by: as it is")
                for title in TITLES[1:3]:
                    shown.press("v")
                    shown.wait_for(title)
                for name in ("messages/s", "bytes", "messages", "bytes/s"):
                    shown.press("s")
                    shown.wait_for(f"sort by: {name},")
                shown.press("p")
                shown.wait_for("PAUSED", "p go on")
                shown.press("v")
                check_fits(shown.wait_for("PAUSED", TITLES[3]))
                shown.press("p")
                shown.wait_for("p pause")
                shown.press("\x1a")  # Ctrl-Z
                wait_until(shown.is_stopped, "Ctrl-Z does not stop it")
                check_equal(termios.tcgetattr(shown.theirs), shown.settings, "settings while it is stopped")
                shown.process.send_signal(signal.SIGCONT)
                shown.wait_for("p pause")
                shown.press("q")
                check_equal(shown.end(), 0, "status after q")
            with Terminal(job.data, "--interval", "100ms") as shown:
                shown.wait_for("q quit")
                shown.press("\x03")
                check_equal(shown.end(), 0, "status after Ctrl-C")
            with Terminal(job.data, "--interval", "100ms", width=NARROW) as shown:
                for title in TITLES:
                    check_fits(shown.wait_for(title), NARROW)
                    shown.press("v")
                shown.press("q")
                check_equal(shown.end(), 0, "status on a narrow terminal")
            job.stop()
            check_equal(finish(process).status, 0, "the job")


def two_jobs(mpi):
    """Of two jobs that count in one folder the newer one is shown, and the other one named; --job shows the other."""
    with scratch() as folder, two_running(mpi, folder) as (data, older, newer):
        for options, shown, other in (((), newer, older), (("--job", older), older, newer)):
            found = top(data, "--interval", "100ms", *options)
            check_equal(found["run"]["job"], shown, f"the job that is shown with {options}")
            told = {job["job"]: (job["shown"], job["counting"]) for job in found["jobs"]}
            check_equal(told, {shown: (True, mpi.ranks), other: (False, mpi.ranks)}, "jobs")
            text = run_well([TOOL, "top", data, "--once", "--interval", "100ms", *options]).stdout
            check(f"job {other} counts, too" in text and f"job {shown} counts, too" not in text, text)
        chosen = counters(data, "--job", older)
        check_equal(len(chosen["processes"]), mpi.ranks, "processes of the chosen job")
        refused = run([TOOL, "top", data, "--once", "--job", "none"])
        check(refused.status == 125 and older in refused.stderr and newer in refused.stderr, f"{refused}")


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


CASES = {"running": running, "ended": ended, "killed": killed, "terminal": terminal, "keys": keys,
         "two_jobs": two_jobs}


def main(what, *parts):
    if what not in MPIS:
        bad_input()
    for part in parts:
        CASES[part](MPIS[what])


run_test(main)
