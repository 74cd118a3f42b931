"""Work after the job: merging its logs and making its page."""

import json
import shutil
import statistics

from jobs import OPEN_MPI, info, record, run
from rows import Row, Target

MIB = 1024 * 1024
BOUND = "256M"
MANY_EVENTS = 3_000_000  # of which a merge takes long


class OfflineBenchmarks:
    def __init__(self, build, scratch, rounds, scales):
        self.build = build
        self.scales = scales
        self.scratch = scratch
        self.data = scratch / "data"
        self.rounds = rounds
        self.notes = []

    def record(self, program, ranks, *words, options=()):
        record(self.build, self.data, OPEN_MPI.command(self.build, program, ranks, *words,
                                                       options=options))
        facts = info(self.build, self.data)
        return sum(facts["events"][layer] for layer in ("uct", "ucp", "mpi"))

    def row(self, group, subject, quantity, unit, value, statistic="one run", limit=None):
        targets = () if limit is None else (Target("value", limit, quantity),)
        return Row(group=group, subject=subject, level="", quantity=quantity, unit=unit,
                   statistic=statistic, value=value, targets=targets)

    def measure_merge(self):
        """Generated jobs: steps of all kinds, and a stencil alone. One thread, two threads, a memory
        bound and two ranks alternate, so that a slow minute of the machine hits all."""
        for events, processes in self.scales:
            for name, mix in (("steps of all kinds", ()), ("stencil", ("--mix", "only,nonblocking=1"))):
                made = self.generate(events, processes, *mix)
                subject = f"{name}: {made:,} events, {processes} processes"
                yield from self.rows_of_merges(subject, made, self.merge_in_turns(events))

    def generate(self, events, processes, *mix):
        """How many events there are."""
        shutil.rmtree(self.data, ignore_errors=True)
        run([self.build.generator, "-o", self.data, "--processes", processes,
             "--events", events, "--truth", "totals", *mix])
        return json.loads((self.data / "truth.json").read_text())["totals"]["events"]

    def merge_in_turns(self, events):
        merge = [self.build.tool, "merge", self.data]
        ways = {
            "by 1 thread": [*merge, "--threads", 1],
            "by 2 threads": [*merge, "--threads", 2],
            f"within {BOUND}": [*merge, "--threads", 2, "--memory", BOUND],
            "by 2 ranks": [*OPEN_MPI.launcher, "-np", 2, *merge, "--threads", 1],
        }
        merges = {way: [] for way in ways}
        for _ in range(self.rounds if events <= MANY_EVENTS else 1):
            for way, command in ways.items():
                merges[way].append(run(command))
        return merges

    def rows_of_merges(self, subject, events, merges):
        for way, runs in merges.items():
            walls = [merge.wall_s for merge in runs]
            memory = 1024 * statistics.median(merge.max_rss_kib for merge in runs)
            of_runs = f"of {len(runs)} runs"
            for quantity, unit, statistic, value in (
                (f"merge {way}", "events/s", f"max {of_runs}", events / min(walls)),
                (f"merge {way}", "events/s", f"median {of_runs}", events / statistics.median(walls)),
                (f"memory {way}", "MiB", f"median {of_runs}", memory / MIB),
            ):
                yield self.row("merge", subject, quantity, unit, value, statistic)
        store = self.data / "run.h5"
        yield self.row("merge", subject, "store", "B an event", store.stat().st_size / events)

    def measure_page(self):
        """The page of about a million operations and messages of 16 ranks, in Chromium."""
        events = self.record("page_traffic", 16, 1300, options=("--oversubscribe",))
        page = self.scratch / "report.html"
        run([self.build.tool, "merge", self.data])
        view = run([self.build.tool, "view", self.data, "-o", page])
        subject = f"{events:,} events, 16 ranks"
        yield self.row("page", subject, "page", "MiB", page.stat().st_size / MIB, limit=8)
        yield self.row("page", subject, "page from the store", "s", view.wall_s)
        yield from self.rows_of_browser("page", subject, page)

    def measure_tiles(self):
        """Pages with tiles of generated jobs, in Chromium."""
        for events, processes in self.scales:
            made = self.generate(events, processes)
            folder = self.scratch / "tiles"
            shutil.rmtree(folder, ignore_errors=True)
            run([self.build.tool, "merge", self.data])
            view = run([self.build.tool, "view", self.data, "--tiles", "-o", folder])
            subject = f"{made:,} events, {processes} processes"
            page, tiles = folder / "index.html", [path.stat().st_size for path in (folder / "tiles").iterdir()]
            yield self.row("tiles", subject, "page from the store", "s", view.wall_s)
            yield self.row("tiles", subject, "memory of view", "MiB", view.max_rss_kib * 1024 / MIB)
            yield self.row("tiles", subject, "page", "MiB", page.stat().st_size / MIB)
            yield self.row("tiles", subject, f"{len(tiles)} tiles", "MiB", sum(tiles) / MIB)
            yield self.row("tiles", subject, "the largest tile", "MiB", max(tiles) / MIB)
            yield from self.rows_of_browser("tiles", subject, page)

    def rows_of_browser(self, group, subject, page):
        driver = self.build.root / "viewer" / "npm" / "tests" / "measure.mjs"
        measured = run(["node", driver, page, "--json", "--repetitions", self.rounds])
        for row in measured.result["rows"]:
            for statistic in ("median", "max"):
                yield self.row(group, subject, row["name"], "ms", row[f"{statistic}_ms"],
                               f"{statistic} of {self.rounds}")
