"""Measures what the recorder costs and prints a table, each number with its unit and statistic.

usage: run_benchmarks.py [--build DIR] [--only GROUP ...] [--repetitions N] [--json FILE]

Every comparison runs its command without and with the recorder in turns. Close other programs, or
trust the minima and the instruction counts only. docs/performance.md explains the quantities.
"""

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from jobs import MPICH, OPEN_MPI, Build, Mpi, info, record, run, run_pairs, scratch_folder
from log_contents import read_logs
from rows import Row, as_json, format_table, least, middle

KIB_PER_MIB = 1024
MS_PER_S = 1e3

# The budgets of the design. The floor is what nobody can avoid: clock readings and stored bytes.
TARGET_OF_FLOOR = 1.4
BYTES_PER_EVENT = 24
RESIDENT_MIB = 24
START_UP_MS = 60


@dataclass(frozen=True)
class MessageCase:
    subject: str
    mpi: Mpi
    ranks: int
    arguments: tuple  # case of message_costs, bytes
    clock: str = "cpu_ns"  # wall_ns where a rank waits for another one
    transports: str | None = None  # UCX_TLS
    batches: int = 60
    operations: int = 500
    pause_us: int = 3000
    options: tuple = ()

    @property
    def env(self):
        return {} if self.transports is None else {"UCX_TLS": self.transports}

    def command(self, build):
        return self.mpi.command(
            build,
            "message_costs",
            self.ranks,
            *self.arguments,
            self.batches,
            self.operations,
            self.pause_us,
            options=self.options,
        )


def message_cases():
    for mpi in (OPEN_MPI, MPICH):
        yield MessageCase(f"self Irecv+Send+Wait 8 B, {mpi.title}", mpi, 1, ("self", 8))
        yield MessageCase(f"MPI_Test of nothing, {mpi.title}", mpi, 1, ("test", 8))
        yield MessageCase(f"Send to PROC_NULL, {mpi.title}", mpi, 1, ("proc-null", 8))
        for size in (8, 65536):
            for name, transports in (("posix", "posix,self"), ("default", None)):
                yield MessageCase(
                    f"ping-pong {size} B, {name}, {mpi.title}",
                    mpi,
                    2,
                    ("pingpong", size),
                    clock="wall_ns",
                    transports=transports,
                    operations=500 if size == 8 else 100,
                )


def saturated_cases():
    """No pause: the job does nothing but make records."""
    for name, options in (("rank bound to one core", ()), ("not bound", ("--bind-to", "none"))):
        yield MessageCase(
            f"self 8 B without pause, {name}",
            OPEN_MPI,
            1,
            ("self", 8),
            pause_us=0,
            options=options,
        )
    yield MessageCase(
        "ping-pong 8 B without pause", OPEN_MPI, 2, ("pingpong", 8), clock="wall_ns", pause_us=0
    )


def milliseconds(pairs):
    return [
        [MS_PER_S * outcome.wall_s for outcome in outcomes]
        for outcomes in (pairs.bare, pairs.recorded)
    ]


class Benchmarks:
    def __init__(self, build, repetitions, folder):
        self.build = build
        self.repetitions = repetitions
        self.scratch = folder
        self.data = folder / "data"
        self._floor = None

    @property
    def floor(self):
        if self._floor is None:
            self._floor = run([self.build.program("floor"), self.scratch / "floor"]).result
        return self._floor

    def measure_floor(self):
        for key, quantity, statistic in (
            ("tick_ns", "reading the cycle counter, ns", "min of 2000 batches"),
            ("vdso_ns", "reading the system clock, ns", "min of 2000 batches"),
            ("store_ns_per_byte_median", "storing 64 B, ns", "median of 256 chunks"),
        ):
            scale = 64 if key.startswith("store") else 1
            yield Row("floor", "this machine", quantity, statistic, scale * self.floor[key])

    def measure_messages(self):
        for case in message_cases():
            yield from self.measure_case("messages", case)

    def measure_saturated(self):
        for case in saturated_cases():
            yield from self.measure_case("saturated", case)

    def measure_case(self, group, case):
        if not case.mpi.available(self.build):
            print(f"skipped: {case.subject}: {case.mpi.title} is not installed", file=sys.stderr)
            return
        pairs = run_pairs(
            self.build, self.data, case.command(self.build), self.repetitions, case.env
        )
        about = {"dropped_share": pairs.events.dropped_share}
        bare = [outcome.result for outcome in pairs.bare]
        recorded = [outcome.result for outcome in pairs.recorded]
        contents = read_logs(self.data)
        records = max(1, sum(contents.records.values()))
        # The warm-up batch is recorded too.
        operations = case.operations * (case.batches + 1)
        per_rank = 1 / case.ranks / operations * self.undo_drops(records)
        readings = contents.clock_readings * per_rank
        bytes_stored = sum(contents.bytes.values()) * per_rank
        floor = readings * self.floor["tick_ns"]
        floor += bytes_stored * self.floor["store_ns_per_byte_median"]

        # Where a rank waits, part of the recording costs it nothing; dropping records is no way to
        # keep a budget.
        target = {}
        if case.ranks == 1 and pairs.events.dropped == 0:
            target = {"budget": TARGET_OF_FLOOR * floor, "compared": "added"}
        name = "thread CPU" if case.clock == "cpu_ns" else "one way, wall"
        yield least(
            group,
            case.subject,
            f"{name}, ns",
            [min(result[case.clock]) for result in bare],
            [min(result[case.clock]) for result in recorded],
            **target,
            **about,
        )
        yield middle(
            group,
            case.subject,
            f"{name}, ns",
            [statistics.median(result[case.clock]) for result in bare],
            [statistics.median(result[case.clock]) for result in recorded],
            **about,
        )
        if case.ranks == 1 and "instructions" in bare[0]:
            yield middle(
                group,
                case.subject,
                "instructions of the thread",
                [result["instructions"] for result in bare],
                [result["instructions"] for result in recorded],
                **about,
            )
        yield middle(
            group,
            case.subject,
            "CPU of other threads, ns",
            [result["other_threads_cpu_ns"] for result in bare],
            [result["other_threads_cpu_ns"] for result in recorded],
            ratios=False,
            **about,
        )
        for quantity, value in (
            ("events", records * per_rank),
            ("clock readings", readings),
            ("bytes of records", bytes_stored),
        ):
            yield Row(group, case.subject, f"{quantity} per operation and rank", "last run", value)

    def undo_drops(self, records):
        """What was recorded, times this, is what happened."""
        events = info(self.build, self.data)["events"]
        return 1 + events["dropped"] / records

    def measure_start_up(self):
        repetitions = max(60, self.repetitions)
        preload = {"LD_PRELOAD": str(self.build.library), "UCTRACE_DIR": str(self.scratch)}
        bare, preloaded = [], []
        for repetition in range(2 * repetitions):
            values, env = ((bare, {}), (preloaded, preload))[repetition % 2]
            values.append(MS_PER_S * run(["/bin/true"], env).wall_s)
        for statistic in (least, middle):
            yield statistic(
                "start-up",
                "/bin/true with the library",
                "wall, ms",
                bare,
                preloaded,
                budget=START_UP_MS,
                compared="added",
            )
        alone = run_pairs(self.build, self.data, ["/bin/true"], repetitions)
        for statistic in (least, middle):
            subject = "/bin/true under `uctrace record`"
            yield statistic("start-up", subject, "wall, ms", *milliseconds(alone))
        for mpi in (OPEN_MPI, MPICH):
            if mpi.available(self.build):
                yield from self.measure_job_start(mpi, repetitions)

    def measure_job_start(self, mpi, repetitions):
        subject = f"MPI_Init to Finalize, 2 ranks, {mpi.title}"
        pairs = run_pairs(
            self.build, self.data, mpi.command(self.build, "start_up", 2), repetitions
        )
        budget = {"budget": START_UP_MS, "compared": "added"}
        for key, limit in (("init_ns", {}), ("finalize_ns", {}), ("total_ns", budget)):
            values = [
                [outcome.result[key] / 1e6 for outcome in outcomes]
                for outcomes in (pairs.bare, pairs.recorded)
            ]
            quantity = f"{key.removesuffix('_ns')}, ms"
            for statistic in (least, middle):
                yield statistic("start-up", subject, quantity, *values, **limit)
        for statistic in (least, middle):
            quantity = "whole job with its launcher, ms"
            yield statistic("start-up", subject, quantity, *milliseconds(pairs))

    def measure_memory(self):
        messages = 50_000
        for threads in (1, 8):
            command = OPEN_MPI.command(
                self.build, "memory_use", 1, threads, messages, options=("--bind-to", "none")
            )
            pairs = run_pairs(self.build, self.data, command, self.repetitions)
            for part in ("Rss", "Pss", "Pss_Anon", "Pss_File", "Pss_Shmem"):
                values = [
                    [outcome.result["memory"].get(part, 0) / KIB_PER_MIB for outcome in outcomes]
                    for outcomes in (pairs.bare, pairs.recorded)
                ]
                limit = {"budget": RESIDENT_MIB, "compared": "added"} if part == "Pss" else {}
                yield middle(
                    "memory",
                    f"{threads} recording thread{'s' if threads > 1 else ''}",
                    f"{part}, MiB",
                    *values,
                    dropped_share=pairs.events.dropped_share,
                    **limit,
                )

    def measure_merge(self):
        """A log of about a million events: 8 B messages between two ranks."""
        events_wanted, pilot = 1_000_000, 2_000

        def record_messages(count):
            batches = max(1, round(count / 500)) - 1
            command = OPEN_MPI.command(
                self.build, "message_costs", 2, "pingpong", 8, batches, 500, 2000
            )
            record(self.build, self.data, command)
            return info(self.build, self.data)

        events = record_messages(pilot)["events"]
        per_message = sum(events[layer] for layer in ("uct", "ucp", "mpi")) / pilot
        facts = record_messages(events_wanted / per_message)
        events = sum(facts["events"][layer] for layer in ("uct", "ucp", "mpi"))
        dropped = facts["events"]["dropped"]
        about = {"dropped_share": dropped / (events + dropped)}
        subject = f"log of {events:,} events, 2 ranks"
        yield Row(
            "merge",
            subject,
            "log bytes per event",
            "one run",
            facts["log"]["bytes"] / events,
            budget=BYTES_PER_EVENT,
            compared="recorded",
            **about,
        )
        yield from self.measure_merging(subject, events)

    def measure_merging(self, subject, events):
        store = self.data / "run.h5"
        merges = []
        for _ in range(self.repetitions):
            store.unlink(missing_ok=True)
            merges.append(run([self.build.tool, "merge", self.data]))
        walls = [merge.wall_s for merge in merges]
        memory_mib = statistics.median(merge.max_rss_kib for merge in merges) / KIB_PER_MIB
        page = self.scratch / "report.html"
        view = run([self.build.tool, "view", self.data, "-o", page])
        of_runs = f"of {len(walls)} runs"
        for quantity, statistic, value in (
            ("merge, events/s", f"max {of_runs}", events / min(walls)),
            ("merge, events/s", f"median {of_runs}", events / statistics.median(walls)),
            ("merge, max RSS MiB", f"median {of_runs}", memory_mib),
            ("merge, max RSS bytes per event", f"median {of_runs}", memory_mib * 2**20 / events),
            ("store, bytes per event", "one run", store.stat().st_size / events),
            ("page, KiB", "one run", page.stat().st_size / 1024),
            ("page from the store, s", "one run", view.wall_s),
        ):
            yield Row("merge", subject, quantity, statistic, value)


    def measure_page(self):
        """The page of about a million operations and messages of 16 ranks, in Chromium."""
        command = OPEN_MPI.command(
            self.build, "page_traffic", 16, 1300, options=("--oversubscribe",)
        )
        record(self.build, self.data, command)
        page = self.scratch / "report.html"
        run([self.build.tool, "merge", self.data])
        view = run([self.build.tool, "view", self.data, "-o", page])
        counts = info(self.build, self.data)
        events = sum(counts["events"][layer] for layer in ("uct", "ucp", "mpi"))
        subject = f"{events:,} events, 16 ranks"
        yield Row("page", subject, "page, MiB", "one run", page.stat().st_size / 2**20, budget=8,
                  compared="recorded")
        yield Row("page", subject, "page from the store, s", "one run", view.wall_s)
        driver = self.build.root / "viewer" / "npm" / "tests" / "measure.mjs"
        measured = run(["node", driver, page, "--json", "--repetitions", self.repetitions])
        for row in measured.result["rows"]:
            for statistic in ("median", "max"):
                yield Row("page", subject, f"{row['name']}, ms",
                          f"{statistic} of {self.repetitions}", row[f"{statistic}_ms"])


GROUPS = {
    "floor": Benchmarks.measure_floor,
    "messages": Benchmarks.measure_messages,
    "saturated": Benchmarks.measure_saturated,
    "start-up": Benchmarks.measure_start_up,
    "memory": Benchmarks.measure_memory,
    "merge": Benchmarks.measure_merge,
    "page": Benchmarks.measure_page,
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default_build = Path(__file__).resolve().parents[2] / "build"
    parser.add_argument("--build", type=Path, default=default_build)
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    build = Build(arguments.build.resolve())
    if not build.program("floor").exists():
        sys.exit(f"not built yet; first: ninja -C {build.root} benchmark-programs")
    rows = []
    with scratch_folder() as folder:
        benchmarks = Benchmarks(build, arguments.repetitions, folder)
        for group in arguments.only:
            print(f"measuring: {group}", file=sys.stderr, flush=True)
            rows += GROUPS[group](benchmarks)
    print(format_table(rows))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([as_json(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
