"""What comes after the job: merging its logs and making its page."""

import statistics

from jobs import OPEN_MPI, info, record, run
from rows import Row, Target

MIB = 1024 * 1024


class OfflineBenchmarks:
    def __init__(self, build, scratch, rounds):
        self.build = build
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
        """A log of about a million events: 8 B messages between two ranks."""
        events = self.record("message_costs", 2, "pingpong", 8, 280, 500, 2000)
        subject = f"log of {events:,} events, 2 ranks"
        store = self.data / "run.h5"
        merges = []
        for _ in range(self.rounds):
            store.unlink(missing_ok=True)
            merges.append(run([self.build.tool, "merge", self.data]))
        walls = [merge.wall_s for merge in merges]
        memory = 1024 * statistics.median(merge.max_rss_kib for merge in merges)
        of_runs = f"of {len(walls)} runs"
        for quantity, unit, statistic, value in (
            ("merge", "events/s", f"max {of_runs}", events / min(walls)),
            ("merge", "events/s", f"median {of_runs}", events / statistics.median(walls)),
            ("memory of the merge", "B an event", f"median {of_runs}", memory / events),
            ("store", "B an event", "one run", store.stat().st_size / events),
        ):
            yield self.row("merge", subject, quantity, unit, value, statistic)

    def measure_page(self):
        """The page of about a million operations and messages of 16 ranks, in Chromium."""
        events = self.record("page_traffic", 16, 1300, options=("--oversubscribe",))
        page = self.scratch / "report.html"
        run([self.build.tool, "merge", self.data])
        view = run([self.build.tool, "view", self.data, "-o", page])
        subject = f"{events:,} events, 16 ranks"
        yield self.row("page", subject, "page", "MiB", page.stat().st_size / MIB, limit=8)
        yield self.row("page", subject, "page from the store", "s", view.wall_s)
        driver = self.build.root / "viewer" / "npm" / "tests" / "measure.mjs"
        measured = run(["node", driver, page, "--json", "--repetitions", self.rounds])
        for row in measured.result["rows"]:
            for statistic in ("median", "max"):
                yield self.row("page", subject, row["name"], "ms", row[f"{statistic}_ms"],
                               f"{statistic} of {self.rounds}")
