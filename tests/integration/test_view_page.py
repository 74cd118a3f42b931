"""The page of a real recording shows the same sums as its raw messages, in a real browser."""

import json
import re
import shlex

from harness import (
    BUILD_ROOT,
    MPIS,
    Recording,
    SKIPPED,
    Skip,
    check,
    need,
    record_well,
    run,
    run_test,
    scratch,
)

# Where the page was built, with the packages that drive the browser.
PAGE_TEST = BUILD_ROOT / "viewer" / "npm" / "tests" / "page.mjs"
BROWSER_TIMEOUT_S = 150


def page_data(recording, file, *options):
    written = recording.ask("view", "-o", file, *options)
    check(written.status == 0, f"no page: {written}")
    found = re.search(r'id="uctrace-data">(.*?)</script>', file.read_text(), re.DOTALL)
    return json.loads(found.group(1))


def check_span(recording, folder):
    """A page of a span holds the messages that the same span of `messages` lists."""
    starts = sorted(message["t_start_ns"] for message in recording.messages)
    edges = [starts[len(starts) // 4], starts[len(starts) // 2]]
    options = [f"--from={edges[0]}ns", f"--to={edges[1] / 1e6:.6f}ms"]
    listed = json.loads(recording.ask("messages", "--format", "json", *options).stdout)
    inside = [m for m in recording.messages if edges[0] <= m["t_start_ns"] < edges[1]]
    check(listed == inside, f"{len(listed)} messages in a span that has {len(inside)}")
    data = page_data(recording, folder / "span.html", *options, "--limit=7")
    counted = sum(cell["messages"] for cell in data["cells"])
    check(counted == len(inside), f"{counted} messages in the page of {len(inside)}")
    time = data["time"]
    check(time["from_ns"] == edges[0] and time["is_part"], f"the page is of {time}")
    check(time["embedded"] <= 7 < time["events"], f"not limited: {time}")
    refused = recording.ask("view", "--from", "3 weeks")
    check("is no time of a run; give a time such as" in refused.stderr, f"no advice: {refused}")


def in_browser(*options):
    result = run([need("node"), PAGE_TEST, *options], timeout=BROWSER_TIMEOUT_S)
    if result.status == SKIPPED:
        raise Skip((result.stderr or result.stdout).strip())
    check(result.status == 0, f"the page is wrong: {result}")


def check_commands(recording, folder, *options):
    """The command that the page shows for a selection gives the sums that it shows."""
    page, selections = folder / "selected.html", folder / "selections.json"
    written = recording.ask("view", "-o", page, *options)
    check(written.status == 0, f"no page: {written}")
    in_browser("--page", page, "--selections", selections)
    wrong, shown = [], json.loads(selections.read_text())
    for selection in shown:
        tool, verb, *words = shlex.split(selection.pop("command"))
        check((tool, verb) == ("uctrace", "report"), f"a command of {tool} {verb}")
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
    check(not wrong, "\n".join(wrong))
    return shown


def check_damaged(folder):
    """Without one rank's log, much is unknown; page and command line must call it the same."""
    _, recording = record_well(folder / "damaged", MPIS["ompi"].job("exchange"))
    gone = recording.info["processes"][-1]["pid"]
    logs = [log for log in recording.logs if f"-{gone}-" in log.name]
    check(len(logs) == 1, f"{len(logs)} logs of process {gone}")
    logs[0].unlink()
    damaged = Recording(recording.folder)
    (damaged.folder / "run.h5").unlink(missing_ok=True)
    shown = check_commands(damaged, folder)
    check(len(shown) > 30, f"only {len(shown)} selections")
    starts = sorted(m["t_start_ns"] for m in damaged.messages if m["t_start_ns"] is not None)
    check_commands(damaged, folder, f"--from={starts[len(starts) // 3]}ns")


def page_agrees_with_messages():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("exchange"))
        page, messages = folder / "report.html", folder / "messages.json"
        written = recording.ask("view", "-o", page)
        check(written.status == 0 and page.exists(), f"no page: {written}")
        messages.write_text(json.dumps(recording.messages))
        check_span(recording, folder)
        in_browser("--page", page, "--messages", messages)
        check_damaged(folder)


run_test(page_agrees_with_messages)
