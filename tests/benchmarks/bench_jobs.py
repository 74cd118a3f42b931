"""The effect of recording on whole jobs: run time, bandwidth, start, end, memory, the size of the
log."""

import re

from jobs import MPICH, OPEN_MPI, Build, info, run
from levels import ALL, BARE, PEER, STACKS, available, folder_of, forget, run_rounds
from rows import Row, Target, alone, least, middle

CG_RATIO, CG_STACKS_RATIO = 1.03, 1.06
BANDWIDTH_RATIO = 1.02
START_UP_MS = 60
RESIDENT_MIB = 24
BYTES_PER_EVENT = 24
# From the fewest events to the most: how much a longer run may add to the end.
END_GROWS_MS = 1
KIB, MIB = 1024, 1024 * 1024
SHARED = {"UCX_TLS": "posix,self"}


def milliseconds(rounds, key):
    return rounds.values(key, lambda outcome: 1e3 * outcome.wall_s)


def solver_ms(outcome):
    return 1e3 * float(re.search(r"^time +([0-9.]+) s", outcome.output, re.M)[1])


class JobBenchmarks:
    def __init__(self, build: Build, scratch, rounds):
        self.build = build
        self.scratch = scratch
        self.rounds = rounds
        self.notes = []

    def take(self, levels, command_of, rounds=None, env=None):
        levels, notes = available(self.build, levels)
        self.notes += [note for note in notes if note not in self.notes]
        return levels, run_rounds(
            self.build, self.scratch, levels, command_of, rounds or self.rounds, env
        )

    def measure_cg(self):
        """The example solver: halo exchanges of 32 KiB and two sums in each of 600 iterations."""
        program = self.build.root / "examples" / "cg"
        subject = "cg --poisson 64 --iterations 600, 2 ranks, Open MPI"

        def command(level):
            words = ("--poisson", 64, "--iterations", 600, "--tolerance", 1e-99)
            return OPEN_MPI.command(self.build, program, 2, *words, monitored=level.is_peer)

        levels, rounds = self.take((BARE, ALL, STACKS, PEER), command)
        limits = {ALL.key: CG_RATIO, STACKS.key: CG_STACKS_RATIO}
        for level in levels[1:]:
            about = {"group": "cg", "subject": subject, "level": level.key, "unit": "ms"}
            about["dropped_share"] = rounds.dropped_share(level.key)
            limit = limits.get(level.key)
            targets = (Target("ratio", limit, "the example"),) if limit else ()
            for quantity, pick, wanted in (
                ("time of the solver, as it prints it", solver_ms, targets),
                ("CPU time of the job with its launcher", lambda o: 1e3 * o.cpu_s, targets),
                ("wall time of the job with its launcher", lambda o: 1e3 * o.wall_s, ()),
            ):
                pair = [rounds.values(key, pick) for key in (BARE.key, level.key)]
                yield least(*pair, wanted, quantity=quantity, **about)
                yield middle(*pair, wanted, quantity=quantity, **about)
        forget(self.scratch, levels)

    def measure_bandwidth(self):
        for size, messages in ((64 * KIB, 512), (256 * KIB, 256), (MIB, 64), (4 * MIB, 32)):
            words = ("window", size, 12, messages, 1000)
            levels, rounds = self.take(
                (BARE, ALL, PEER),
                lambda level, w=words: OPEN_MPI.command(
                    self.build, "message_costs", 2, *w, monitored=level.is_peer
                ),
            )
            for level in levels[1:]:
                pair = [
                    rounds.values(key, lambda o: [ns / 1e3 for ns in o.result["wall_ns"]])
                    for key in (BARE.key, level.key)
                ]
                targets = (Target("ratio", BANDWIDTH_RATIO, "bandwidth"),)
                for statistic in (least, middle):
                    yield statistic(
                        *pair, targets if level.key == ALL.key else (), group="bandwidth",
                        subject=f"window of 16 x {size // KIB} KiB, Open MPI", level=level.key,
                        quantity="wall time of a message", unit="us",
                        dropped_share=rounds.dropped_share(level.key),
                    )
        forget(self.scratch, levels)

    def measure_start_up(self):
        preload = {"LD_PRELOAD": str(self.build.library), "UCTRACE_DIR": str(self.scratch)}
        bare, preloaded = [], []
        for repetition in range(8 * self.rounds):
            values, env = ((bare, {}), (preloaded, preload))[repetition % 2]
            values.append(1e3 * run(["/bin/true"], env).wall_s)
        about = {"group": "start-up", "level": ALL.key, "unit": "ms"}
        target = (Target("added", START_UP_MS, "start-up of a process"),)
        subject = "/bin/true with the library preloaded"
        for statistic in (least, middle):
            yield statistic(
                bare, preloaded, target, subject=subject, quantity="wall time", **about
            )
        for mpi in (OPEN_MPI, MPICH):
            if not mpi.available(self.build):
                continue
            levels, rounds = self.take(
                (BARE, ALL), lambda level, m=mpi: m.command(self.build, "start_up", 2),
                2 * self.rounds,
            )
            between = [
                rounds.values(key, lambda o: o.result["total_ns"] / 1e6)
                for key in (BARE.key, ALL.key)
            ]
            whole = [milliseconds(rounds, key) for key in (BARE.key, ALL.key)]
            for quantity, values, targets in (
                ("MPI_Init to the end of MPI_Finalize", between, target),
                ("whole job with its launcher and `record`", whole, ()),
            ):
                for statistic in (least, middle):
                    yield statistic(
                        *values, targets, subject=f"2 ranks, {mpi.title}", quantity=quantity,
                        **about,
                    )
        forget(self.scratch, levels)

    def measure_end(self):
        """From the last line of main to the end of the process: what the recorder still writes."""
        added = {}
        env = {"LD_PRELOAD": str(self.build.library)}
        for exchanges in (1_000, 30_000, 300_000):
            words = ("self", 8, 1, exchanges // 2, 0)
            command = [self.build.program("ucp_costs"), *words]
            bare, recorded = [], []
            for repetition in range(2 * max(5, self.rounds)):
                folder = self.scratch / f"end-{exchanges}"
                folder.mkdir(exist_ok=True)
                for log in folder.iterdir():
                    log.unlink()
                values, more = ((bare, {}), (recorded, {**env, "UCTRACE_DIR": str(folder)}))[
                    repetition % 2
                ]
                outcome = run(command, SHARED | more)
                values.append((outcome.ended_ns - outcome.result["ended_ns"]) / 1e6)
            facts = info(self.build, folder)
            events = sum(facts["events"][layer] for layer in ("uct", "ucp", "mpi"))
            row = middle(
                bare, recorded, group="end", subject=f"after {events:,} events, UCP", level=ALL.key,
                quantity="from the end of main to the end of the process", unit="ms", ratios=False,
            )
            added[exchanges] = row.added
            yield row
        fewest, most = min(added), max(added)
        yield Row(
            group="end", subject=f"after {most // fewest} times the events", level=ALL.key,
            quantity="what the longer run adds to the end", unit="ms",
            statistic="difference of the medians", value=added[most] - added[fewest],
            targets=(Target("value", END_GROWS_MS, "the end does not depend on the events"),),
        )

    def measure_memory(self):
        for threads in (1, 8):
            for name, messages in (("short", 2_000), ("long", 60_000)):
                yield self.resident(threads, name, messages)
        yield self.resident(8, "long", 60_000, drained=True)

    def resident(self, threads, name, messages, drained=False):
        """The unwritten part of a drained log, as on a network file system, is in memory."""
        words = (threads, messages // threads)
        levels, rounds = self.take(
            (BARE, ALL),
            lambda _: OPEN_MPI.command(
                self.build, "memory_use", 1, *words, options=("--bind-to", "none")
            ),
            max(3, self.rounds // 2),
            {"UCTRACE_DRAIN": "1"} if drained else None,
        )
        resident = [
            rounds.values(key, lambda o: o.result["memory"]["Pss"] / KIB)
            for key in (BARE.key, ALL.key)
        ]
        forget(self.scratch, levels)
        return middle(
            *resident, (Target("added", RESIDENT_MIB, "memory of a rank"),),
            group="memory", level=ALL.key, quantity="resident (Pss)", unit="MiB",
            subject=f"{threads} thread{'s' if threads > 1 else ''}, {name} run: "
            f"{messages:,} self exchanges{', drained log' if drained else ''}",
            dropped_share=rounds.dropped_share(ALL.key),
        )

    def measure_log(self):
        """Bytes on disk of jobs with many events that all differ."""
        for subject, mpi, ranks, words, env in (
            ("self exchange 8 B, Open MPI", OPEN_MPI, 1, ("self", 8, 200, 500, 1000), {}),
            ("ping-pong 8 B, posix, Open MPI", OPEN_MPI, 2, ("pingpong", 8, 200, 500, 1000), SHARED),
            ("ping-pong 64 KiB, Open MPI", OPEN_MPI, 2, ("pingpong", 65536, 100, 100, 1000), {}),
        ):
            levels, _ = self.take(
                (ALL,), lambda _, w=words: mpi.command(self.build, "message_costs", ranks, *w), 1, env
            )
            yield from self.log_size("log", subject, folder_of(self.scratch, ALL))
        forget(self.scratch, levels)

    def log_size(self, group, subject, folder):
        facts = info(self.build, folder)
        events = sum(facts["events"][layer] for layer in ("uct", "ucp", "mpi"))
        yield alone(
            [facts["log"]["bytes"] / events],
            (Target("value", BYTES_PER_EVENT, "an event on disk"),),
            group=group, subject=subject, level=ALL.key, quantity=f"log of {events:,} events",
            unit="B an event",
        )
