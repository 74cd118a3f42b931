"""Pipit (github.com/hpcgroup/pipit) reads the same from an OTF2 archive as uctrace reports about the run. It is not
in Debian: UCTRACE_TEST_PIPIT names a folder of its sources."""

import json
import os
from bisect import bisect_right

from exports import export, python_with
from harness import SOURCE_ROOT, Skip, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

BINS, SLABS = 5, 4
READING_S = 200


def histogram(values, edges, weights=None):
    """In bins of which all but the last leave out their end, as numpy's."""
    sums = [0] * (len(edges) - 1)
    for place, value in enumerate(values):
        at = min(bisect_right(edges, value) - 1, len(sums) - 1)
        sums[at] += 1 if weights is None else weights[place]
    return sums


def pipit_reads_what_was_recorded(name):
    pipit = os.environ.get("UCTRACE_TEST_PIPIT")
    if not pipit:
        raise Skip("UCTRACE_TEST_PIPIT names no folder with the sources of Pipit")
    mpi = MPIS[name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("allreduce", 8192, 5))
        export(recording, folder / "archive", "otf2")
        reader = [python_with("otf2"), SOURCE_ROOT / "tests" / "integration" / "read_pipit.py",
                  folder / "archive", BINS, SLABS]
        found = json.loads(run_well(reader, timeout=READING_S, env={**os.environ, "PYTHONPATH": pipit}).stdout)
        messages = [m for m in recording.messages if m["src"] is not None and m["dst"] is not None]
        check(messages, "the job has no messages")
        for output, weight in (("size", lambda m: m["bytes"]), ("count", lambda m: 1)):
            matrix = [[0] * mpi.ranks for _ in range(mpi.ranks)]
            for message in messages:
                matrix[message["src"]][message["dst"]] += weight(message)
            check_equal(found[output], matrix, f"comm_matrix of {output}")
            volume, edges = found["over_time"][output]
            expected = histogram([m["t_start_ns"] for m in messages], edges, [weight(m) for m in messages])
            check_equal(volume, expected, f"comm_over_time of {output}")
        counts, edges = found["histogram"]
        check_equal(counts, histogram([m["bytes"] for m in messages], edges), "message_histogram")


run_test(pipit_reads_what_was_recorded)
