"""The page of a real recording shows the same sums as its raw messages, in a real browser."""

import json

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
BROWSER_TIMEOUT_S = 90


def page_agrees_with_messages():
    node = need("node")
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("exchange"))
        page, messages = folder / "report.html", folder / "messages.json"
        written = recording.ask("view", "-o", page)
        check(written.status == 0 and page.exists(), f"no page: {written}")
        messages.write_text(json.dumps(recording.messages))
        browser = [node, PAGE_TEST, "--page", page, "--messages", messages]
        result = run(browser, timeout=BROWSER_TIMEOUT_S)
        if result.status == SKIPPED:
            raise Skip((result.stderr or result.stdout).strip())
        check(result.status == 0, f"the page is wrong: {result}")


run_test(page_agrees_with_messages)
