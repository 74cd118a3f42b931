"""Reads what `uctrace counters` prints, and profiles in the format of Open MPI's monitoring."""

import json
import re
from pathlib import Path

from harness import TOOL, check, check_equal, run

CLASSES = ("external", "internal", "one-sided-sent", "one-sided-received", "collective")


def counters(folder, *options):
    result = run([TOOL, "counters", folder, "--format", "json", *options])
    check(result.status == 0, f"counters failed: {result}")
    return json.loads(result.stdout)


def by_pair(found, *classes):
    return {
        (row["class"], row["rank"], row["peer"]): (row["messages"], row["bytes"])
        for row in found["pairs"]
        if row["class"] in classes
    }


PROF_LINE = re.compile(r"([EISRC])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent(?:\t([0-9,]+))?$")
LETTERS = dict(zip("EISRC", CLASSES))


def read_prof(path):
    """What a profile in the format of Open MPI's monitoring says, by a parser of our own."""
    pairs, bins, sections = {}, {}, []
    for line in Path(path).read_text().splitlines():
        if line.startswith("#"):
            sections.append(line)
            continue
        match = PROF_LINE.match(line)
        if not match:
            check(re.match(r"D\t[^\t]+\tprocs: [0-9,]*$|(O2A|A2O|A2A)\t\d+\t\d+ bytes\t\d+ msgs sent$", line),
                  f"{path}: {line!r}")
            continue
        letter, rank, peer, size, messages, histogram = match.groups()
        pairs[LETTERS[letter], int(rank), int(peer)] = int(messages), int(size)
        if histogram:
            bins[int(rank), int(peer)] = [int(number) for number in histogram.split(",")]
    check_equal(sections[:3], ["# POINT TO POINT", "# OSC", "# COLLECTIVES"], f"sections of {path}")
    return pairs, bins
