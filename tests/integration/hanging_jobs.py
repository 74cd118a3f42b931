"""Hanging jobs of tests/programs/hangs.c: started, queried until they have settled, killed."""

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import replace as with_changes
from pathlib import Path

from hang_shapes import RANKS, seats
from harness import TOOL, check, check_equal, run_well, wait_until
from mpi_jobs import MPIS
from recordings import record_command

SETTLE_TIMEOUT_S = 120
LONGEST_NS = 600 * 10**9  # that a test takes


def ask_hang(data, *options):
    return json.loads(run_well([TOOL, "hang", data, "--format", "json", *options]).stdout)


class Job:
    """`record` of a shape that runs; `pids` are those of its ranks."""

    def __init__(self, mpi, shape, folder, *options):
        self.mpi = with_changes(MPIS[mpi], ranks=RANKS)
        self.folder, self.data = folder, folder / "data"
        self.command = record_command(self.data, self.mpi.job_with_windows("hangs", shape, folder), options)

    def ask(self):
        return ask_hang(self.data)

    def wait_for_ranks(self):
        files = [self.folder / f"{rank}.rank" for rank in range(RANKS)]
        wait_until(lambda: all(file.exists() for file in files), "not all ranks began", timeout=60)
        self.pids = [int(file.read_text()) for file in files]

    def settled(self, shape):
        """The hang once all ranks have settled, as of one instant."""
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while True:
            hang = self.ask()
            rows = {row["rank"]: row for row in hang["ranks"]}
            arrived = len(rows) == RANKS and all(
                row["settled"] and sits(row, shape.sits[rank]) for rank, row in rows.items()
            )
            if arrived and hang["verdict"] == shape.verdict:
                return hang
            check(time.monotonic() < deadline, f"it does not settle: {json.dumps(hang, indent=1)}")

    def asked_until(self, wanted):
        """The first hang that satisfies the condition."""
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while True:
            hang = self.ask()
            if wanted(hang):
                return hang
            check(time.monotonic() < deadline, f"it does not come to it: {json.dumps(hang, indent=1)}")

    def kill(self):
        """Kills the ranks; their launcher, which may not notice, is ended with the job."""
        for pid in self.pids:
            with suppress(ProcessLookupError):  # a launcher ends the others where one has died
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in self.pids), "killed ranks live")


def state_of(pid):
    """From /proc: "T" is stopped; "X" also if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def is_alive(pid):
    return state_of(pid) not in "ZX"


def sits(row, call):
    if row["polls"]:
        return call == "MPI_Test"
    # The wait for a lock depends on the library: in MPI_Win_lock, or when it is released.
    return row["call"] == call or (call is None and (row["in_no_call"] or row["call"].startswith("MPI_Win_")))


def check_named(hang, shape, state):
    check_equal(hang["state"], state, "state")
    check_equal(hang["verdict"], shape.verdict, f"verdict {hang['summary']}")
    for rank, row in seats(hang).items():
        check(sits(row, shape.sits[rank]), f"rank {rank} sits in {row['call']}")
        check(row["since_ns"] is not None and row["for_ns"] is not None, f"since when: {row}")
        # A settled rank came there before the instant that all logs cover.
        check(not row["settled"] or 0 < row["for_ns"] < LONGEST_NS, f"for how long: {row}")
    shape.check(hang)


def check_texts(data, hang):
    text = run_well([TOOL, "hang", data]).stdout
    for line in hang["summary"]:
        check(line.split(" since ")[0] in text, f"{line!r} is not in\n{text}")
    for step in hang["cycle"]:
        check(step["text"] in text, f"{step['text']!r} is not in\n{text}")
    csv = run_well([TOOL, "hang", data, "--format", "csv", "--limit", "2"]).stdout.splitlines()
    check_equal(len(csv), 3, "lines of CSV, cut to two rows")
    rows = run_well([TOOL, "hang", data, "--format", "ndjson"]).stdout.splitlines()
    tables = [json.loads(row)["table"] for row in rows]
    check_equal(tables.count("ranks"), RANKS, "rows of ranks")
