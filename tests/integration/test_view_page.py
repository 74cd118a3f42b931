"""The page of a real recording shows the same sums as its raw messages, in a real browser."""

import json
import re

from harness import (
    BUILD_ROOT,
    MPIS,
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


def page_agrees_with_messages():
    node = need("node")
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("exchange"))
        page, messages = folder / "report.html", folder / "messages.json"
        written = recording.ask("view", "-o", page)
        check(written.status == 0 and page.exists(), f"no page: {written}")
        messages.write_text(json.dumps(recording.messages))
        check_span(recording, folder)
        browser = [node, PAGE_TEST, "--page", page, "--messages", messages]
        result = run(browser, timeout=BROWSER_TIMEOUT_S)
        if result.status == SKIPPED:
            raise Skip((result.stderr or result.stdout).strip())
        check(result.status == 0, f"the page is wrong: {result}")


run_test(page_agrees_with_messages)
