"""What the hooks of a rebuilt UCX cost while no tool is attached, and what recording over it costs.

usage: compare_ucx.py --stock PREFIX --rebuilt PREFIX [--build DIR] [--repetitions N] [--json FILE]

Both are to be the same version, built with the same options. The same program runs in turns over the
stock one, over the rebuilt one, and recorded over each. Where the machine is shared, trust the minima
and the instruction counts.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from jobs import OPEN_MPI, Build, run, scratch_folder

LIBRARIES = ("libucm", "libucs", "libuct", "libucp")
CASES = {  # subject: ranks, case of message_costs, bytes, UCX_TLS, what counts
    "self Irecv+Send+Wait 8 B": (1, "self", 8, "self", "cpu_ns"),
    "ping-pong 8 B, posix": (2, "pingpong", 8, "posix,self", "wall_ns"),
    "ping-pong 64 KiB, posix": (2, "pingpong", 65536, "posix,self", "wall_ns"),
}
BATCHES, PAUSE_US = 60, 3000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default_build = Path(__file__).resolve().parents[2] / "build"
    parser.add_argument("--build", type=Path, default=default_build)
    parser.add_argument("--stock", type=Path, required=True)
    parser.add_argument("--rebuilt", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def preload(prefix):
    return ":".join(str(prefix.resolve() / "lib" / f"{name}.so.0") for name in LIBRARIES)


def ways_of(arguments, tool, folder):
    """{name: (words in front of the command, UCX to preload)}"""
    recorded = [tool, "record", "-o", folder]
    over_rebuilt = [*recorded, "--ucx", arguments.rebuilt]
    return {
        "stock": ([], arguments.stock),
        "rebuilt": ([], arguments.rebuilt),
        "stock, recorded": ([*recorded, "--"], arguments.stock),
        "rebuilt, recorded": ([*over_rebuilt, "--"], arguments.rebuilt),
    }


def measure(build, case, ways, repetitions):
    """{way: [result of a run]}; each round begins with another way."""
    ranks, name, size, transports, _ = case
    operations = 100 if size > 1000 else 500
    words = (name, size, BATCHES, operations, PAUSE_US)
    options = ("--oversubscribe", "-x", "LD_PRELOAD", "-x", "UCX_TLS")
    command = OPEN_MPI.command(build, "message_costs", ranks, *words, options=options)
    results = {way: [] for way in ways}
    names = list(ways)
    for repetition in range(repetitions):
        turn = repetition % len(names)
        for way in names[turn:] + names[:turn]:
            front, prefix = ways[way]
            environment = {"LD_PRELOAD": preload(prefix), "UCX_TLS": transports}
            results[way].append(run([*front, *command], environment).result)
    return results


def summary(results, clock):
    batches = [result[clock] for result in results]
    row = {
        "min_ns": min(map(min, batches)),
        "median_ns": statistics.median(map(statistics.median, batches)),
    }
    counts = [result["instructions"] for result in results if "instructions" in result]
    if counts:
        row["instructions"] = statistics.median(counts)
    return row


def main():
    arguments = parse_arguments()
    build = Build(arguments.build.resolve())
    if not build.program("message_costs.ompi").exists():
        sys.exit(f"not built yet; first: ninja -C {build.root} benchmark-programs")
    table = {}
    with scratch_folder() as folder:
        ways = ways_of(arguments, build.tool, folder / "data")
        for subject, case in CASES.items():
            print(f"measuring: {subject}", file=sys.stderr, flush=True)
            results = measure(build, case, ways, arguments.repetitions)
            table[subject] = {way: summary(runs, case[-1]) for way, runs in results.items()}
    for subject, rows in table.items():
        print(subject)
        for way, row in rows.items():
            values = ", ".join(f"{name} {value:,.1f}" for name, value in row.items())
            print(f"  {way:<18} {values}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
