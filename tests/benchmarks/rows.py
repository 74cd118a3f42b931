"""One measured number per row, each with its unit and statistic, as a table and as JSON."""

import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    group: str
    subject: str
    quantity: str  # with its unit
    statistic: str
    recorded: float
    bare: float | None = None  # the same without the recorder
    ratio: float | None = None
    budget: float | None = None  # the most that `compared` may be
    compared: str | None = None  # "recorded" or "added"
    dropped_share: float | None = None  # of the records of these runs; None where none are made

    @property
    def added(self):
        return None if self.bare is None else self.recorded - self.bare

    @property
    def over_budget(self):
        return None if self.budget is None else getattr(self, self.compared) > self.budget


def least(group, subject, quantity, bare, recorded, **more):
    """The smallest of all values: what is left when nothing disturbs."""
    low, high = min(bare), min(recorded)
    return Row(group, subject, quantity, "min", high, low, ratio_of(high, low), **more)


def middle(group, subject, quantity, bare, recorded, ratios=True, **more):
    """The medians of one value a run; the ratio is the median of the pairs' own ratios,
    left out where the quantity is about 0 without the recorder."""
    of_pairs = [ratio_of(b, a) for a, b in zip(bare, recorded)] if ratios else [None]
    ratio = None if None in of_pairs else statistics.median(of_pairs)
    return Row(
        group,
        subject,
        quantity,
        f"median of {len(recorded)} runs",
        statistics.median(recorded),
        statistics.median(bare),
        ratio,
        **more,
    )


def ratio_of(value, base):
    return value / base if base > 0 else None


def as_json(row):
    return asdict(row) | {"added": row.added, "over_budget": row.over_budget}


def number(value):
    if value is None:
        return "-"
    magnitude = abs(value)
    text = f"{value:,.0f}" if magnitude >= 1000 else f"{value:.{0 if magnitude >= 100 else 1}f}"
    return "0.0" if text == "-0.0" else text


def share(value):
    if value is None:
        return "-"
    return "0" if value == 0 else f"{100 * value:.2g} %"


def verdict(row):
    if row.budget is None:
        return "-"
    return f"{number(row.budget)} {'OVER' if row.over_budget else 'kept'}"


def format_table(rows):
    heads = ["subject", "quantity", "statistic", "without", "with", "added", "ratio", "dropped"]
    heads.append("budget")
    table = [heads] + [
        [
            row.subject,
            row.quantity,
            row.statistic,
            number(row.bare),
            number(row.recorded),
            number(row.added),
            "-" if row.ratio is None else f"{row.ratio:.2f}",
            share(row.dropped_share),
            verdict(row),
        ]
        for row in rows
    ]
    widths = [max(len(line[column]) for line in table) for column in range(len(heads))]
    lines = []
    for line in table:
        left = [text.ljust(width) for text, width in zip(line[:3], widths)]
        right = [text.rjust(width) for text, width in zip(line[3:], widths[3:])]
        lines.append("  ".join(left + right).rstrip())
    return "\n".join(lines)
