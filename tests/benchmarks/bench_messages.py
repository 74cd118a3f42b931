"""What recording adds to one message, layer by layer, compared with the floor: the cost that no
recorder can avoid."""

from dataclasses import dataclass

from jobs import MPICH, OPEN_MPI, Build, Mpi, run
from levels import (
    ALL, BARE, COUNTERS, NO_HELPER, PEER, STACKS, UCT, UCT_UCP, available, folder_of, forget, run_rounds,
)
from rows import Row, Target, least, middle

OF_FLOOR = 1.4
UCT_RECORD_NS = 26
THREE_LAYERS_NS = 180
STACKS_NS = 80
COUNTERS_NS = 15
SELF = "self Irecv+Send+Wait 8 B, Open MPI"


@dataclass(frozen=True)
class Case:
    subject: str
    program: str
    ranks: int  # or threads
    arguments: tuple  # of the program: case, bytes
    levels: tuple
    mpi: Mpi | None = None  # None: UCP without MPI
    transports: str | None = None  # UCX_TLS
    batches: int = 40
    operations: int = 500
    pause_us: int = 3000
    options: tuple = ()  # of the launcher

    @property
    def env(self):
        return {} if self.transports is None else {"UCX_TLS": self.transports}

    def available(self, build):
        return self.mpi is None or self.mpi.available(build)

    def command(self, build, level):
        words = (*self.arguments, self.batches, self.operations, self.pause_us)
        if self.mpi is None:
            return [build.program(self.program), *words]
        return self.mpi.command(
            build, self.program, self.ranks, *words, options=self.options, monitored=level.is_peer
        )


EVERY = (BARE, UCT, UCT_UCP, ALL, STACKS)
# Bare UCP: no MPI calls.
UCP_LEVELS = (BARE, UCT, ALL, STACKS)
SHARED = "posix,self"


def message_cases():
    yield Case(SELF, "message_costs", 1, ("self", 8), (*EVERY, COUNTERS, PEER), OPEN_MPI)
    yield Case(
        "ping-pong 8 B, posix, Open MPI", "message_costs", 2, ("pingpong", 8),
        (*EVERY, COUNTERS, PEER), OPEN_MPI, SHARED,
    )
    yield Case(
        "self Irecv+Send+Wait 8 B, MPICH, which needs no UCX for it", "message_costs", 1,
        ("self", 8), (BARE, ALL, STACKS), MPICH,
    )
    yield Case(
        "ping-pong 8 B, posix, MPICH", "message_costs", 2, ("pingpong", 8), EVERY, MPICH, SHARED
    )
    yield Case("self 8 B, UCP", "ucp_costs", 1, ("self", 8), UCP_LEVELS, None, SHARED)
    yield Case("ping-pong 8 B, posix, UCP", "ucp_costs", 2, ("pair", 8), UCP_LEVELS, None, SHARED)
    for name, words in (("MPI_Test of nothing", "test"), ("Send to MPI_PROC_NULL", "proc-null")):
        subject = f"{name}, Open MPI"
        yield Case(subject, "message_costs", 1, (words, 8), (BARE, ALL), OPEN_MPI)


def thread_cases():
    """Threads that record at the same time: shared data would make each of them slower. With more
    threads than cores this still shows, in CPU time."""
    for threads in (1, 2, 4, 8):
        yield Case(
            f"self 8 B, UCP, each of {threads} threads", "thread_costs", threads, (threads, 8),
            (BARE, ALL), None, SHARED, operations=200, pause_us=10_000,
        )


def saturated_cases():
    """No pause: the job does nothing but make records."""
    for name, options in (("rank bound to one core", ()), ("not bound", ("--bind-to", "none"))):
        yield Case(
            f"self 8 B without pause, {name}", "message_costs", 1, ("self", 8), (BARE, ALL, NO_HELPER),
            OPEN_MPI, pause_us=0, options=options,
        )
    yield Case(
        "ping-pong 8 B without pause", "message_costs", 2, ("pingpong", 8),
        (BARE, ALL, NO_HELPER), OPEN_MPI,
        pause_us=0,
    )
    for threads in (1, 2, 4, 8):
        # Long enough to exceed the recorder's memory.
        yield Case(
            f"self 8 B, UCP, without pause, each of {threads} thread{'s' if threads > 1 else ''}",
            "thread_costs", threads, (threads, 8), (BARE, ALL), None, SHARED, batches=100,
            operations=5000, pause_us=0,
        )


def gap_case():
    """Batches of one exchange: the longest one is a caller's worst wait."""
    subject = "worst of 20,000 self exchanges 8 B, Open MPI"
    return Case(
        subject, "message_costs", 1, ("self", 8), (BARE, ALL), OPEN_MPI, batches=20_000,
        operations=1, pause_us=0,
    )


@dataclass(frozen=True)
class Contents:
    """The size of one operation in a rank's log."""

    events: float
    uct_events: float
    clock: str  # "cycle counter", or "system" where the kernel keeps time by something else
    readings: float
    bytes: float

    @staticmethod
    def of(build, folder, operations):
        found = run([build.program("log_contents"), folder]).result
        if not found["types"]:
            raise RuntimeError(f"the logs in {folder} hold no events that this build can read")
        count = lambda key, prefix="": sum(
            kind[key] for name, kind in found["types"].items() if name.startswith(prefix)
        )
        return Contents(
            events=count("records") / operations,
            uct_events=count("records", "uct_") / operations,
            clock=found["clock"],
            readings=found["clock_readings"] / operations,
            bytes=count("bytes") / operations,
        )

    def floor_ns(self, prices):
        reading = prices["vdso_ns" if self.clock == "system" else "tick_ns"]
        return self.readings * reading + self.bytes * prices["store_ns_per_byte_median"]


class MessageBenchmarks:
    def __init__(self, build: Build, scratch, rounds, prices):
        self.build = build
        self.scratch = scratch
        self.rounds = rounds
        self.prices = prices  # of the floor
        self.notes = []

    def measure_messages(self):
        for case in message_cases():
            yield from self.measure("messages", case)

    def measure_scaling(self):
        for case in thread_cases():
            yield from self.measure("scaling", case)

    def measure_saturated(self):
        for case in saturated_cases():
            yield from self.measure("saturated", case)

    def take(self, case):
        levels, notes = available(self.build, case.levels)
        self.notes += [note for note in notes if note not in self.notes]
        rounds = run_rounds(
            self.build, self.scratch, levels, lambda level: case.command(self.build, level),
            self.rounds, case.env,
        )
        return levels, rounds

    def measure(self, group, case):
        if not case.available(self.build):
            self.notes.append(f"{case.subject} is left out: {case.mpi.title} is not installed")
            return
        levels, rounds = self.take(case)
        ns = {level.key: rounds.values(level.key, lambda o: o.result["cpu_ns"]) for level in levels}
        # The batch before the first is recorded too.
        operations = case.operations * (case.batches + 1) * case.ranks
        contents = {}
        for level in levels:
            about = {"group": group, "subject": case.subject, "level": level.key}
            if level is not BARE:
                about["dropped_share"] = rounds.dropped_share(level.key)
            if level.options is not None and level.key != COUNTERS.key:  # which has no events
                contents[level.key] = Contents.of(
                    self.build, folder_of(self.scratch, level), operations
                )
                self.tell_clock(contents[level.key].clock)
            if level is BARE:
                continue
            targets = self.targets(group, case, level, contents.get(level.key), about)
            timed = {**about, "quantity": "thread CPU of one", "unit": "ns"}
            yield least(ns["bare"], ns[level.key], targets, **timed)
            yield middle(ns["bare"], ns[level.key], targets, **timed)
            yield from self.besides(rounds, level, contents.get(level.key), about, case.ranks)
        if group == "messages":
            yield from self.differences(case, ns, contents)
        forget(self.scratch, levels)

    def tell_clock(self, clock):
        note = (f"this kernel does not keep time by the cycle counter, so uctrace reads the system clock: the floors "
                f"count {self.prices['vdso_ns']:.1f} ns a reading, not {self.prices['tick_ns']:.1f} ns")
        if clock == "system" and note not in self.notes:
            self.notes.append(note)

    def targets(self, group, case, level, contents, about):
        """If a rank waits for another, part of the recording costs nothing; a run that drops
        records meets no budget."""
        if level.key == COUNTERS.key and case.ranks == 1:
            return (Target("added", COUNTERS_NS, "counters"),)
        if group != "messages" or contents is None or about.get("dropped_share"):
            return ()
        found = []
        if case.ranks == 1:
            floor = OF_FLOOR * contents.floor_ns(self.prices)
            if level is not STACKS:
                found.append(Target("added", floor, "its floor and 40 %"))
        if case.subject == SELF and level.key == ALL.key:
            found.append(Target("added", THREE_LAYERS_NS, "all three layers"))
        return tuple(found)

    def besides(self, rounds, level, contents, about, ranks):
        results = lambda key, name: rounds.values(key, lambda o: o.result.get(name))
        if None not in results("bare", "instructions") and ranks == 1:
            pair = [results(key, "instructions") for key in ("bare", level.key)]
            yield middle(*pair, quantity="instructions of one", unit="", **about)
        if contents is None:
            return
        pair = [results(key, "other_threads_cpu_ns") for key in ("bare", level.key)]
        yield middle(*pair, ratios=False, quantity="CPU of other threads", unit="ns", **about)
        for quantity, unit, value in (
            ("floor", "ns", contents.floor_ns(self.prices)),
            ("clock readings", "", contents.readings),
            ("bytes stored", "B", contents.bytes),
            ("events", "", contents.events),
        ):
            yield Row(quantity=quantity, unit=unit, statistic="last round", value=value, **about)

    def differences(self, case, ns, contents):
        """What a UCT record adds, and what stacks add to the rest."""
        about = {"group": "messages", "subject": case.subject}
        # If ranks wait for each other, part of a record is made in idle time.
        if UCT.key in ns and case.ranks == 1:
            share = 1 / contents[UCT.key].uct_events
            yield from between(
                ns["bare"], ns[UCT.key], share, (Target("added", UCT_RECORD_NS, "a UCT record"),),
                level=UCT.key, quantity="added by one UCT record", **about,
            )
        if STACKS.key in ns:
            target = Target("added", STACKS_NS, "call stacks")
            yield from between(
                ns[ALL.key], ns[STACKS.key], 1, (target,) if case.subject == SELF else (),
                level=STACKS.key, quantity="added by call stacks", **about,
            )

    def measure_gaps(self):
        case = gap_case()
        levels, rounds = self.take(case)
        for name, clock in (("thread CPU", "cpu_ns"), ("wall", "wall_ns")):
            bare, recorded = (
                rounds.values(key, lambda o, c=clock: max(o.result[c]) / 1e3)
                for key in (BARE.key, ALL.key)
            )
            about = {"group": "gaps", "subject": case.subject, "level": ALL.key, "unit": "us"}
            about["dropped_share"] = rounds.dropped_share(ALL.key)
            yield least(bare, recorded, quantity=f"longest exchange, {name}", **about)
            yield middle(bare, recorded, quantity=f"longest exchange, {name}", **about)
        forget(self.scratch, levels)


def between(before, after, share, targets, **about):
    """The rows of a difference that several records share."""
    scaled = [[[value * share for value in batch] for batch in rounds] for rounds in (before, after)]
    for statistic in (least, middle):
        row = statistic(*scaled, targets, unit="ns", **about)
        # Only the difference itself is meaningful.
        yield Row(**{**vars(row), "value": row.added, "bare": None, "ratio": None})


def measure_floor(prices):
    about = {"group": "floor", "subject": "this machine", "level": ""}
    for key, quantity, scale in (
        ("tick_ns", "reading the cycle counter", 1),
        ("vdso_ns", "reading the system clock", 1),
        ("store_ns_per_byte_median", "storing 64 B into ready pages", 64),
    ):
        yield Row(quantity=quantity, unit="ns", statistic="min of 2000 batches" if scale == 1 else
                  "median of 256 chunks", value=scale * prices[key], **about)
