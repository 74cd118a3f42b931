"""Reads the output of `uctrace counters`, compares it with the program `counted`, and reads profiles in the format
of Open MPI's monitoring."""

import json
import re
from collections import Counter
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


def truth_of(output):
    """What the program says, summed."""
    pairs, sizes, calls = {}, Counter(), {}
    for line in output.splitlines():
        match line.split():
            case ["message", kind, rank, peer, size]:
                key = kind, int(rank), int(peer)
                messages, total = pairs.get(key, (0, 0))
                pairs[key] = messages + 1, total + int(size)
                sizes[kind, int(size).bit_length()] += 1
            case ["call", kind, rank, size]:
                key = int(rank), kind
                count, total = calls.get(key, (0, 0))
                calls[key] = count + 1, total + int(size)
    return pairs, sizes, calls


def check_truth(found, output):
    pairs, sizes, calls = truth_of(output)
    told = [name for name in CLASSES if name != "internal"]
    check(any(key[0] == "external" for key in pairs), "the program said nothing")
    check_equal(by_pair(found, *told), pairs, "messages and bytes by class and pair")
    found_sizes = {
        (row["class"], row["bin"]): row["messages"] for row in found["sizes"] if row["class"] in told
    }
    check_equal(found_sizes, {k: v for k, v in sizes.items() if k[0] != "collective"}, "size bins")
    found_calls = {}
    for row in found["communicators"]:
        count, total = found_calls.get((row["rank"], row["kind"]), (0, 0))
        found_calls[row["rank"], row["kind"]] = count + row["calls"], total + row["bytes"]
    check_equal(found_calls, calls, "collective calls by kind")


PROF_LINE = re.compile(r"([EISRC])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent(?:\t([0-9,]+))?$")
LETTERS = dict(zip("EISRC", CLASSES))


def read_prof(path):
    """A profile in the format of Open MPI's monitoring, read by our own parser."""
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
