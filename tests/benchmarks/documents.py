"""Writes measurements into the documents, between the marks that name them."""

import re

from tables import as_markdown, number


def find(run, **wanted):
    """The row with these members; None where the run has none."""
    for row in run["rows"]:
        if all(row[name] == value for name, value in wanted.items()):
            return row
    return None


def as_line(run):
    """The cost in a sentence, of the smallest values."""
    # The targets are about the first subject of these groups.
    of = lambda group: next((r["subject"] for r in run["rows"] if r["group"] == group), None)
    message = dict(group="messages", subject=of("messages"), statistic="min")
    timed = find(run, quantity="thread CPU of one", level="all", **message)
    stacks = find(run, quantity="added by call stacks", **message)
    solver = find(run, group="cg", level="all", statistic="min", unit="ms")
    log = find(run, group="log")
    parts = []
    if timed is not None:
        parts.append(f"On a machine whose kernel keeps time by {run['machine']['clock']}, recording everything adds "
                     f"{number(timed['added'])} ns to the {number(timed['bare'])} ns of a receive, send and wait of "
                     "8 bytes within a rank")
    if stacks is not None:
        parts.append(f"call stacks {number(stacks['added'])} ns more")
    if solver is not None:
        parts.append(f"the example solver takes {solver['ratio']:.2f} times as long")
    if log is not None:
        parts.append(f"an event takes {number(log['value'])} bytes on disk")
    return "; ".join(parts) + "." if parts else ""


CONTENTS = {"tables": as_markdown, "line": as_line}


def put_into(document, run):
    """Replaces what is between `<!-- bench: NAME -->` and `<!-- bench: end -->`."""
    text = document.read_text()
    marks = r"(<!-- bench: (\w+) -->\n).*?(<!-- bench: end -->)"

    def replace(match):
        return f"{match[1]}{CONTENTS[match[2]](run)}\n{match[3]}"

    replaced, count = re.subn(marks, replace, text, flags=re.S)
    if count == 0:
        raise SystemExit(f"bench: {document} has no marks, <!-- bench: {'|'.join(CONTENTS)} -->")
    document.write_text(replaced)
