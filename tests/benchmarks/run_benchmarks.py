"""Measures what the recorder costs and prints tables, each number with its unit, statistic, spread
and target.

usage: bench [--quick] [--only GROUP ...] [--rounds N] [--scales EVENTSxPROCESSES ...] [--json FILE] [--into DOCUMENT ...]
       bench --from FILE [--into DOCUMENT ...]

Every comparison runs its command without the recorder and with each level of it in turns. Close
other programs, or trust the minima and the instruction counts only. docs/performance.md explains the
quantities.
"""

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path

from bench_jobs import JobBenchmarks
from bench_messages import MessageBenchmarks, measure_floor
from bench_offline import OfflineBenchmarks
from documents import put_into
from jobs import Build, run, scratch_folder
from machine import describe
from tables import as_text

ROUNDS, QUICK_ROUNDS = 15, 3
SCALE = "1000000x16"
# Not part of a run that does not name them: they measure nothing of the job.
OFFLINE = ("merge", "page", "tiles")
GROUPS = ("floor", "messages", "scaling", "gaps", "cg", "bandwidth", "log", "start-up", "end",
          "memory", "saturated", *OFFLINE)


class Benchmarks:
    def __init__(self, build, scratch, rounds, scales):
        self.prices = run([build.program("floor"), scratch / "floor"]).result
        self.messages = MessageBenchmarks(build, scratch, rounds, self.prices)
        self.jobs = JobBenchmarks(build, scratch, rounds)
        self.offline = OfflineBenchmarks(build, scratch, rounds, scales)

    def rows_of(self, group):
        return {
            "floor": lambda: measure_floor(self.prices),
            "messages": self.messages.measure_messages,
            "scaling": self.messages.measure_scaling,
            "gaps": self.messages.measure_gaps,
            "saturated": self.messages.measure_saturated,
            "cg": self.jobs.measure_cg,
            "bandwidth": self.jobs.measure_bandwidth,
            "log": self.jobs.measure_log,
            "start-up": self.jobs.measure_start_up,
            "end": self.jobs.measure_end,
            "memory": self.jobs.measure_memory,
            "merge": self.offline.measure_merge,
            "page": self.offline.measure_page,
            "tiles": self.offline.measure_tiles,
        }[group]()

    @property
    def notes(self):
        return list(dict.fromkeys([*self.messages.notes, *self.jobs.notes, *self.offline.notes]))


def scale(text):
    """'10000000x256' -> (10000000, 256)"""
    events, _, processes = text.partition("x")
    return int(events), int(processes)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    default_build = Path(__file__).resolve().parents[2] / "build"
    parser.add_argument("--build", type=Path, default=default_build, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP",
                        help=f"of {', '.join(GROUPS)}; all but {', '.join(OFFLINE)} by default")
    parser.add_argument("--quick", action="store_true", help="less than 3 minutes, and less sure")
    parser.add_argument("--rounds", type=int, help=f"of each comparison [{ROUNDS}]")
    parser.add_argument("--scales", type=scale, nargs="+", default=[scale(SCALE)], metavar="EVENTSxPROCESSES",
                        help=f"of generated jobs, which are merged and shown in pages with tiles [{SCALE}]")
    parser.add_argument("--json", type=Path, help="write all that was found")
    parser.add_argument("--from", type=Path, metavar="FILE", dest="written",
                        help="measure nothing: show what --json wrote")
    parser.add_argument("--into", type=Path, nargs="+", default=[], metavar="DOCUMENT",
                        help="put the tables between the marks of these documents")
    return parser.parse_args()


def measure(build, groups, rounds, scales):
    started, load_before = time.time(), os.getloadavg()[0]
    with scratch_folder() as folder:
        benchmarks = Benchmarks(build, folder, rounds, scales)
        rows = []
        for group in groups:
            print(f"measuring: {group}", file=sys.stderr, flush=True)
            rows += [row.as_json() for row in benchmarks.rows_of(group)]
        load = {"before": load_before, "after": os.getloadavg()[0]}
        return {
            "date": time.strftime("%Y-%m-%d", time.gmtime(started)),
            "uctrace": run([build.tool, "--version"]).output.split()[-1],
            "command": shlex.join(["build/bench", *command_words()]),
            "rounds": rounds,
            "seconds": time.time() - started,
            "load": load,
            "machine": describe(folder),
            "notes": benchmarks.notes + notes_on(load),
            "rows": rows,
        }


def notes_on(load):
    cores = len(os.sched_getaffinity(0))
    if load["before"] < cores / 2:
        return []
    return [f"the machine was busy before the run (load average {load['before']:.1f} on {cores} cores): "
            "medians, and what needs both cores, say little"]


def command_words():
    """As the user typed them, without the folder that the script in it adds."""
    words = sys.argv[1:]
    if "--build" in words:
        at = words.index("--build")
        del words[at : at + 2]
    return words


def main():
    arguments = parse_arguments()
    if arguments.written is not None:
        result = json.loads(arguments.written.read_text())
    else:
        build = Build(arguments.build.resolve())
        if not build.program("floor").exists():
            sys.exit(f"not built yet; first: ninja -C {build.root} benchmark-programs "
                     "uctrace-tracegen")
        groups = arguments.only or [group for group in GROUPS if group not in OFFLINE]
        rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
        result = measure(build, groups, rounds, arguments.scales)
    print(as_text(result))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    for document in arguments.into:
        put_into(document, result)


if __name__ == "__main__":
    main()
