"""The levels of a measurement: nothing, one more layer at a time, call stacks, or the comparable tool
that every Debian has."""

import shutil
from dataclasses import dataclass, field

from jobs import Recorded, record, run


@dataclass(frozen=True)
class Level:
    key: str
    title: str
    options: tuple | None = None  # of `uctrace record`; None: it runs without
    needs: str | None = None  # an option of `record` that the level needs
    is_peer: bool = False  # Open MPI's monitoring


BARE = Level("bare", "bare")
UCT = Level("uct", "UCT only", ("--layers", "uct"), "--layers")
UCT_UCP = Level("uct+ucp", "UCT + UCP", ("--layers", "uct,ucp"), "--layers")
ALL = Level("all", "all three", ())
STACKS = Level("stacks", "all, with stacks", ("--stacks", "mpi"), "--stacks")
NO_HELPER = Level("no helper", "all, without a helper", ("--no-helper",), "--no-helper")
COUNTERS = Level("counters", "counters, no events", ("--counters",), "--counters")
PEER = Level("monitoring", "Open MPI monitoring", is_peer=True)


def available(build, levels):
    """The levels that this build supports, and notes on why others are missing. Call stacks are on
    only in their own level."""
    known = run([build.tool, "help", "record"]).output
    stacks_off = ("--stacks", "off") if "--stacks" in known else ()
    found, notes = [], []
    for level in levels:
        if level.needs is not None and level.needs not in known:
            notes.append(f"'{level.title}' is left out: `record` has no {level.needs} yet")
        elif level.options is None or level is STACKS:
            found.append(level)
        else:
            options = level.options + stacks_off
            found.append(Level(level.key, level.title, options, level.needs))
    return found, notes


@dataclass
class Rounds:
    """The outcomes of one command at each level, by the key of the level, in order of the rounds."""

    outcomes: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)

    def values(self, key, pick):
        return [pick(outcome) for outcome in self.outcomes[key]]

    def dropped_share(self, key):
        return self.events[key].dropped_share if key in self.events else None


def folder_of(scratch, level):
    return scratch / f"data-{level.key}"


def run_rounds(build, scratch, levels, command_of, rounds, env=None):
    """Every level once a round. Each round starts with another level, and every other one runs
    backwards, so that drift favours none. The folder of a level keeps its newest recording."""
    result = Rounds({level.key: [] for level in levels}, {})
    for number in range(rounds):
        shift = number // 2 % len(levels)
        turns = [*levels[shift:], *levels[:shift]]
        for level in turns if number % 2 == 0 else reversed(turns):
            command = command_of(level)
            if level.options is None:
                outcome = run(command, env)
            else:
                folder = folder_of(scratch, level)
                outcome = record(build, folder, command, env, level.options)
                result.events.setdefault(level.key, Recorded()).add(outcome.errors)
            result.outcomes[level.key].append(outcome)
    return result


def forget(scratch, levels):
    for level in levels:
        shutil.rmtree(folder_of(scratch, level), ignore_errors=True)
