"""Shared by the tests of `uctrace export`."""

import json
import sys
from collections import defaultdict
from pathlib import Path

from harness import Skip, TOOL, check, check_equal, run, run_well
from mpi_jobs import MPIS
from recordings import record_well


def export(recording, path, to, *options):
    result = run_well([TOOL, "export", recording.folder, "--to", to, "-o", path, *options])
    check_equal(result.stdout, f"{path}\n", "what is printed")
    return result


def recorded(mpi_name, folder, program="attribution", *arguments):
    mpi = MPIS[mpi_name]
    _, recording = record_well(folder / "data", mpi.job(program, *arguments), switches=["--stacks", "mpi"])
    check(recording.messages, "the job has no messages")
    return recording


def pairs_of(messages):
    """{(src, dst): [messages, bytes]} of what `report --by pairs` counts."""
    pairs = defaultdict(lambda: [0, 0])
    for message in messages:
        pair = pairs[message["src"], message["dst"]]
        pair[0] += 1
        pair[1] += message["bytes"]
    return dict(pairs)


def reported_pairs(recording):
    return json.loads(run_well([TOOL, "report", recording.folder, "--by", "pairs", "--format", "json"]).stdout)["pairs"]


def python_with(*modules):
    """Debian's modules are there for Debian's Python alone."""
    for python in ("/usr/bin/python3", sys.executable):
        if Path(python).exists() and run([python, "-c", f"import {', '.join(modules)}"]).status == 0:
            return python
    raise Skip(f"no Python here has {' and '.join(modules)}")


def end_of_transfer(row):
    return row["t_end_ns"] if row["t_complete_ns"] < 0 else row["t_complete_ns"]
