"""Shared by the tests of `uctrace export`."""

import json
import sys
from collections import defaultdict
from pathlib import Path

import perfetto
from harness import Skip, SOURCE_ROOT, TOOL, check, check_equal, need, run, run_well
from mpi_jobs import MPIS
from recordings import record_well


def export(recording, path, to, *options):
    result = run_well([TOOL, "export", recording.folder, "--to", to, "-o", path, *options])
    check_equal(result.stdout, f"{path}\n", "what is printed")
    return result


READING_S = 200  # in Python, record by record, on a busy machine


def export_otf2(recording, path, *options):
    """The content of an archive as read by OTF2's Python module, after OTF2's own tool finds no
    error."""
    return export_otf2_with_remarks(recording, path, *options)[0]


def export_otf2_with_remarks(recording, path, *options):
    """And what the command says on standard error."""
    result = run([TOOL, "export", recording.folder, "--to", "otf2", "-o", path, *options])
    if "built without the OTF2 library" in result.stderr:
        raise Skip(result.stderr.strip())
    check_equal((result.status, result.stdout), (0, f"{path}\n"), f"status and output of {result}")
    anchor = path / "traces.otf2"
    run_well([need("otf2-print"), "--silent", anchor])
    reader = [python_with("otf2"), SOURCE_ROOT / "tests" / "integration" / "read_otf2.py", anchor]
    return json.loads(run_well(reader, timeout=READING_S).stdout), result.stderr


def export_perfetto(recording, path):
    export(recording, path, "perfetto")
    trace = perfetto.read_trace(path)
    perfetto.close_slices(trace)
    return trace


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
    """Debian's modules exist only for Debian's Python."""
    for python in ("/usr/bin/python3", sys.executable):
        if Path(python).exists() and run([python, "-c", f"import {', '.join(modules)}"]).status == 0:
            return python
    raise Skip(f"no Python here has {' and '.join(modules)}")


def end_of_transfer(row):
    return row["t_end_ns"] if row["t_complete_ns"] < 0 else row["t_complete_ns"]
