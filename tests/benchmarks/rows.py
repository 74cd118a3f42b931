"""One measured number per row, with its unit, statistic and spread, and what it should be."""

import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Target:
    """The most that a part of a row may be, and where that comes from."""

    of: str  # "value", "added" or "ratio"
    limit: float
    why: str

    def judge(self, row):
        found = getattr(row, self.of)
        if found is None:
            return None
        return {
            "met": found <= self.limit,
            "found": found,
            "by": found - self.limit,
            "by_share": (found - self.limit) / self.limit if self.limit else None,
        }


@dataclass(frozen=True)
class Row:
    group: str
    subject: str
    level: str  # with what it was measured: a key of levels.py
    quantity: str
    unit: str
    statistic: str
    value: float
    bare: float | None = None  # the same without anything
    added: float | None = None  # of medians: the median of the rounds' own differences
    ratio: float | None = None
    spread: float | None = None  # half of what the middle half of the rounds covers, of `added`
    dropped_share: float | None = None  # of the records; None where none are made
    targets: tuple = ()

    def as_json(self):
        judged = [asdict(target) | (target.judge(self) or {}) for target in self.targets]
        return asdict(self) | {"targets": judged}


def half_of_middle(values):
    if len(values) < 4:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2


def ratio_of(value, base):
    return value / base if base > 0 else None


def least(bare, value, targets=(), **row):
    """The smallest of all: what is left when nothing disturbs. Lists of lists or of numbers."""
    low, high = smallest(bare), smallest(value)
    return Row(
        statistic="min", value=high, bare=low, added=high - low, ratio=ratio_of(high, low),
        targets=tuple(targets), **row,
    )


def middle(bare, value, targets=(), ratios=True, **row):
    """The median of the rounds' medians; differences and ratios are taken within a round, so that a
    slow minute of the machine hits both sides. `ratios` False where there is about 0 to begin with."""
    before, after = ([median_of(v) for v in values] for values in (bare, value))
    added = [b - a for a, b in zip(before, after)]
    of_rounds = [ratio_of(b, a) for a, b in zip(before, after)] if ratios else [None]
    return Row(
        statistic=f"median of {len(after)} rounds",
        value=statistics.median(after),
        bare=statistics.median(before),
        added=statistics.median(added),
        ratio=None if None in of_rounds else statistics.median(of_rounds),
        spread=half_of_middle(added),
        targets=tuple(targets),
        **row,
    )


def alone(values, targets=(), **row):
    """What has no counterpart without the recorder."""
    values = [median_of(value) for value in values]
    return Row(
        statistic=f"median of {len(values)}" if len(values) > 1 else "one run",
        value=statistics.median(values),
        spread=half_of_middle(values) if len(values) > 1 else None,
        targets=tuple(targets),
        **row,
    )


def smallest(values):
    return min(min(value) if isinstance(value, list) else value for value in values)


def median_of(value):
    return statistics.median(value) if isinstance(value, list) else value
