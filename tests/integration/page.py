"""Pages of recordings in a real browser (viewer/tests/page.mjs)."""

import base64
import itertools
import json
import re
import shlex
import zlib

from harness import BUILD_ROOT, SKIPPED, Skip, check, check_equal, need, run

# The build folder of the page, with the packages that drive the browser.
PAGE_TESTS = BUILD_ROOT / "viewer" / "npm" / "tests"
PAGE_TEST = PAGE_TESTS / "page.mjs"
BROWSER_TIMEOUT_S = 150


def make_page(recording, folder):
    """The page of a recording, and its messages as the command line lists them: two files."""
    page, messages = folder / "report.html", folder / "messages.json"
    written = recording.ask("view", "-o", page)
    check(written.status == 0 and page.exists(), f"no page: {written}")
    messages.write_text(json.dumps(recording.messages))
    return page, messages


def data_of(html):
    """The data of a page as one object (docs/page-data.md)."""
    run, packed = (json.loads(re.search(rf'id="uctrace-{name}">(.*?)</script>', html, re.DOTALL).group(1))
                   for name in ("data", "packed"))
    return {**run, "packed": packed}


def packed_column(data, table, column):
    """The numbers of a column of a page's packed tables (docs/page-data.md)."""
    planes, at = zlib.decompress(base64.b64decode(data["packed"]["deflated"])), 0
    for described in data["packed"]["tables"]:
        rows = described["rows"]
        for one in described["columns"]:
            if (described["name"], one["name"]) == (table, column):
                check(not one["signed"] and not one["differences"], f"{table}.{column} is coded otherwise: {one}")
                return [sum(planes[at + plane * rows + row] << 8 * plane for plane in range(one["bytes"]))
                        for row in range(rows)]
            at += rows * one["bytes"]
    raise AssertionError(f"the page has no {table}.{column}")


def packed_rows(packed, table):
    """The rows of a packed table in any coding, as dictionaries."""
    planes, at = zlib.decompress(base64.b64decode(packed["deflated"])), 0
    check_equal((len(planes), zlib.adler32(planes)), (packed["bytes"], packed["adler32"]), "packed bytes")
    for described in packed["tables"]:
        rows, columns = described["rows"], {}
        for one in described["columns"]:
            values = [sum(planes[at + plane * rows + row] << 8 * plane for plane in range(one["bytes"]))
                      for row in range(rows)]
            at += rows * one["bytes"]
            if one["signed"]:
                values = [-(value + 1) // 2 if value % 2 else value // 2 for value in values]
            columns[one["name"]] = list(itertools.accumulate(values)) if one["differences"] else values
        if described["name"] == table:
            return [dict(zip(columns, row)) for row in zip(*columns.values())]
    raise AssertionError(f"there is no {table}")


def in_browser(*options, script=PAGE_TEST, browser="chromium"):
    result = run([need("node"), script, *options], timeout=BROWSER_TIMEOUT_S, env={"UCTRACE_BROWSER": browser})
    if result.status == SKIPPED:
        raise Skip((result.stderr or result.stdout).strip())
    check(result.status == 0, f"the page is wrong: {result}")


def check_commands(recording, folder, *options):
    """The command that the page shows for a selection gives the displayed sums."""
    page, selections = folder / "selected.html", folder / "selections.json"
    written = recording.ask("view", "-o", page, *options)
    check(written.status == 0, f"no page: {written}")
    in_browser("--page", page, "--selections", selections)
    return compare_commands(recording, selections)


def time_of_messages(recording, words):
    """Nanoseconds from start to end of those that `uctrace messages` lists, where both are known."""
    listed = recording.ask("messages", "--format", "json", *(word for word in words if word != "--internal"))
    check(listed.status == 0, f"messages are not listed: {listed}")
    times = ((m["t_start_ns"], m["t_end_ns"]) for m in json.loads(listed.stdout)["messages"])
    return sum(max(0, end - start) for start, end in times if start is not None and end is not None)


def compare_commands(recording, selections):
    wrong, shown = [], json.loads(selections.read_text())
    for selection in shown:
        shown_time = selection.pop("time")
        tool, verb, where, *words = shlex.split(selection.pop("command"))
        check_equal((tool, verb, where), ("uctrace", "report", str(recording.folder)), "a command of the page")
        said = recording.ask(verb, "--format", "json", *words)
        check(said.status == 0, f"the page's command is refused: {said}")
        report = json.loads(said.stdout)
        sums = {
            name: sum(row[name] for row in report[table])
            for table, names in (
                ("mpi", ("bytes", "messages")),
                ("contenders", ("transfers", "wire_bytes")),
            )
            for name in names
        }
        if sums != selection:
            wrong.append(f"{' '.join(words)}: page {selection}, command {sums}")
        listed_time = time_of_messages(recording, words)
        if shown_time != listed_time:
            wrong.append(f"{' '.join(words)}: messages took {shown_time} ns in the page, {listed_time} in the command")
    check(not wrong, "\n".join(wrong))
    return shown
