"""Counts the instructions that the recorder adds to one operation of each kind, and compares them
with the baseline.

usage: count_instructions.py [--build DIR] [--built-with TEXT] [--update]

The program instructions/record_kinds runs under callgrind without and with the preload library; the
difference is the recorder's. Counts are the same on every run of a build, busy machine or not, so
that 5 % more is a finding and no noise. They depend on the compiler: the baseline names the one that
it is for, and with another there is nothing to compare. Where the clock is not the cycle counter, only
what reads no clock is compared. Exit status: 0 = as the baseline says,
1 = not so, 77 = cannot be compared here.
"""

import argparse
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from jobs import Build, info, run, scratch_folder

BASELINE = Path(__file__).resolve().parent / "instructions.json"
TOLERANCE = 0.05
OPERATIONS = 64  # of a batch
ATTEMPTS = 10
SKIPPED = 77

# For each batch of record_kinds: the records of one operation.
KINDS = {
    "uct_short": "UCT am_short",
    "uct_put_short": "UCT put_short",
    "uct_bcopy": "UCT am_bcopy",
    "uct_zcopy": "UCT am_zcopy and its completion",
    "uct_active": "UCT am_bcopy of an active message with a header of 88 bytes",
    "uct_arrival": "UCT arrival",
    "ucp_send": "UCP send that ends at once",
    "ucp_send_pending": "UCP send and its completion",
    "ucp_receive": "UCP receive and its completion",
    "mpi_call": "MPI call without a peer",
    "mpi_message": "MPI call with a peer",
    "mpi_exchange": "MPI call with two peers",
    "self_exchange": "Irecv + Send + Wait, three layers, 8 events",
}
# With `--stacks mpi` as well: the stack is one that was seen before.
WITH_STACKS = ("mpi_call", "mpi_message", "self_exchange")
STACKS = "_stacks"  # behind the name of a kind
# While recording is off until something happens: counters go on.
WHILE_OFF = ("uct_short", "uct_bcopy", "uct_zcopy", "uct_arrival", "ucp_send", "ucp_receive", "mpi_call",
             "mpi_message", "self_exchange")
OFF = "_off"
# With counters and no events, for which no clock is read.
ONLY_COUNTED = ("uct_short", "uct_bcopy", "ucp_send", "mpi_call", "mpi_message", "self_exchange")
COUNTED = "_counted"
# With GPU memory known from a history.
ON_GPU = ("uct_zcopy", "ucp_send", "ucp_receive")
GPU = "_gpu"


class CannotCount(Exception):
    pass


class OtherClock(CannotCount):
    pass


@dataclass(frozen=True)
class Change:
    kind: str
    before: float | None  # None: it is not in the baseline
    now: float | None  # None: it is in the baseline only

    @property
    def share(self):
        return self.now / self.before - 1

    @property
    def verdict(self):
        if self.before is None or self.now is None:
            return "another set of kinds"
        if self.share > TOLERANCE:
            return "MORE"
        return "less: update the baseline" if self.share < -TOLERANCE else "ok"


def compare(baseline, counts):
    kinds = [*counts, *(kind for kind in baseline if kind not in counts)]
    return [Change(kind, baseline.get(kind), counts.get(kind)) for kind in kinds]


def read_dumps(text):
    """The least instructions of each batch: it was repeated, and some repetitions took a chunk."""
    least = {}
    for kind, total in re.findall(r"--dump-after=batch_(\w+)\n.*?^totals: (\d+)$", text, re.M | re.S):
        least[kind] = min(int(total), least.get(kind, int(total)))
    return least


def count(build, folder, env, more):
    out = folder / "callgrind.out"
    out.unlink(missing_ok=True)
    dumps = [f"--dump-after=batch_{kind}" for kind in KINDS]
    valgrind = ["valgrind", "--tool=callgrind", "--combine-dumps=yes", "--toggle-collect=batch_*"]
    program = build.program("record_kinds")
    run([*valgrind, f"--callgrind-out-file={out}", *dumps, program, OPERATIONS, more], env)
    counts = read_dumps(out.read_text())
    if missing := set(KINDS) - set(counts):
        raise CannotCount(f"callgrind saw no batch of {', '.join(sorted(missing))}")
    return counts


def of_one(totals):
    return {kind: round(total / OPERATIONS, 1) for kind, total in totals.items()}


def count_added_by_events(build, folder, bare, more):
    """By kind. `bare`: without the recorder."""
    recorded = count_recorded(build, folder, "all", {}, more)
    stacks = count_recorded(build, folder, "stacks", {"UCTRACE_STACKS": "mpi"}, more)
    off = count_recorded(build, folder, "off", {"UCTRACE_START_ON": "pcontrol"}, more)
    driver = str(build.root / "tests" / "virtual-gpu")
    of_gpu = {"RECORD_KINDS_GPU": "1", "LD_LIBRARY_PATH": driver}
    gpu = count_recorded(build, folder, "gpu", of_gpu, more)
    totals = {kind: recorded[kind] - bare[kind] for kind in KINDS}
    totals |= {kind + STACKS: stacks[kind] - bare[kind] for kind in WITH_STACKS}
    totals |= {kind + OFF: off[kind] - bare[kind] for kind in WHILE_OFF}
    totals |= {kind + GPU: gpu[kind] - bare[kind] for kind in ON_GPU}
    return of_one(totals)


def count_added_by_counters(build, folder, bare, more):
    """The same where operations are only counted."""
    data = folder / "data-counted"
    data.mkdir()
    recorder = {"LD_PRELOAD": str(build.library), "UCTRACE_DIR": str(data), "UCTRACE_COUNTERS": "only"}
    counted = count(build, folder, recorder, more)
    return of_one({kind + COUNTED: counted[kind] - bare[kind] for kind in ONLY_COUNTED})


def count_all_added(build, more=0):
    """Instructions added to an operation, by kind; `more` operations are made than are divided by. Where the clock is
    another, those of what reads none, and why."""
    with scratch_folder() as folder:
        bare = count(build, folder, {}, more)
        counters = count_added_by_counters(build, folder, bare, more)
        try:
            return count_added_by_events(build, folder, bare, more) | counters, None
        except OtherClock as reason:
            return counters, reason


def count_recorded(build, folder, name, choices, more):
    """Only for a run without drops: a dropped record costs less. On a busy machine the recorder's own thread may
    sometimes be late."""
    for attempt in range(ATTEMPTS):
        data = folder / f"data-{name}-{attempt}"
        data.mkdir()
        # If a chunk is missing the thread waits for it, unlike in most repetitions.
        recorder = {"LD_PRELOAD": str(build.library), "UCTRACE_DIR": str(data), "UCTRACE_NEVER_DROP": "1",
                    **choices}
        counts = count(build, folder, recorder, more)
        facts = info(build, data, check=False)
        if facts["clock"]["source"] != "tsc":
            raise OtherClock(f"the clock here is {facts['clock']['source']}, not the cycle counter")
        if name == "gpu" and facts["gpu"]["queries"] > 0:
            raise SystemExit(f"the driver was asked {facts['gpu']['queries']} times, in spite of the history")
        events = facts["events"]
        seen = [events["outside_window"]] if name == "off" else [
            events[layer] for layer in ("uct", "ucp", "mpi")
        ]
        if events["dropped"] == 0 and min(seen) > 0:
            return counts
    raise CannotCount(f"not everything was recorded in {ATTEMPTS} runs: {events}")


def title_of(kind):
    for suffix, said in ((STACKS, ", stacks"), (OFF, ", recording off"), (COUNTED, ", only counted"),
                         (GPU, ", memory of a GPU")):
        if kind.endswith(suffix):
            return KINDS.get(kind.removesuffix(suffix), kind) + said
    return KINDS.get(kind, kind)


def format_changes(changes):
    lines = [f"{'instructions added to one':<57}  baseline     now"]
    for change in changes:
        before, now = ("-" if v is None else f"{v:.1f}" for v in (change.before, change.now))
        share = "" if None in (change.before, change.now) else f"{change.share:+7.1%}"
        lines.append(f"{title_of(change.kind):<57}  {before:>8}  {now:>6}  {share}  {change.verdict}".rstrip())
    return "\n".join(lines)


def write_baseline(built_with, counts):
    baseline = {"built_with": built_with, "instructions": counts}
    BASELINE.write_text(json.dumps(baseline, indent=1) + "\n")


def guard(build, built_with):
    baseline = json.loads(BASELINE.read_text())
    if baseline["built_with"] != built_with:
        raise CannotCount(f"the baseline is of {baseline['built_with']}, this is {built_with}")
    counts, other_clock = count_all_added(build)
    expected = baseline["instructions"]
    if other_clock:
        print(f"{other_clock}: only what reads no clock is compared")
        expected = {kind: count for kind, count in expected.items() if kind.endswith(COUNTED)}
    changes = compare(expected, counts)
    print(format_changes(changes))
    if all(change.verdict == "ok" for change in changes):
        return 0
    print(
        f"\nThe record path changed by more than {TOLERANCE:.0%}. If that is meant, update "
        f"{BASELINE.name}:\n    ninja -C {build.root} update-instructions\nand let the commit message "
        "say what it is for, and what it costs."
    )
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--built-with", default="")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    build = Build(arguments.build.resolve())
    try:
        if shutil.which("valgrind") is None:
            raise CannotCount("valgrind is not installed")
        if arguments.update:
            counts, other_clock = count_all_added(build)
            if other_clock:
                print(f"{other_clock}: only what reads no clock is updated")
                counts = json.loads(BASELINE.read_text())["instructions"] | counts
            write_baseline(arguments.built_with, counts)
            print(format_changes(compare(counts, counts)))
            return 0
        return guard(build, arguments.built_with)
    except CannotCount as reason:
        print(f"skipped: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
