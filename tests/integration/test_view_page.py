"""The page of a real recording shows the same sums as its raw messages, in a real browser."""

import json

from harness import TOOL, check, check_equal, run, run_test, scratch
from mpi_jobs import MPIS
from page import check_commands, data_of, in_browser, make_page, packed_column
from recordings import Recording, record_well


def page_data(recording, file, *options):
    written = recording.ask("view", "-o", file, *options)
    check(written.status == 0, f"no page: {written}")
    return data_of(file.read_text())


def check_span(recording, folder):
    """A page of a span holds the messages that the same span of `messages` lists."""
    starts = sorted(message["t_start_ns"] for message in recording.messages)
    edges = [starts[len(starts) // 4], starts[len(starts) // 2]]
    options = [f"--from={edges[0]}ns", f"--to={edges[1] / 1e6:.6f}ms"]
    listed = json.loads(recording.ask("messages", "--format", "json", *options).stdout)["messages"]
    inside = [m for m in recording.messages if edges[0] <= m["t_start_ns"] < edges[1]]
    check(listed == inside, f"{len(listed)} messages in a span that has {len(inside)}")
    data = page_data(recording, folder / "span.html", *options, "--limit=7")
    counted = sum(packed_column(data, "cells", "messages"))
    check(counted == len(inside), f"{counted} messages in the page of {len(inside)}")
    time = data["time"]
    check(time["from_ns"] == edges[0] and time["is_part"], f"the page is of {time}")
    check(time["embedded"] <= 7 < time["events"], f"not limited: {time}")
    refused = recording.ask("view", "--from", "3 weeks")
    check("is no time of a run; give a time such as" in refused.stderr, f"no advice: {refused}")


def check_size(recording, folder):
    """A page that would be too large has fewer operations in detail, and the same sums."""
    def made(*options, most=None):
        file = folder / "fits.html"
        env = {} if most is None else {"UCTRACE_TEST_PAGE_BYTES": str(most)}
        written = run([TOOL, "view", recording.folder, "-o", file, *options], env=env)
        check(written.status == 0, f"no page: {written}")
        return file.stat().st_size, data_of(file.read_text()), written.stderr
    whole, all_data, said = made()
    check(said == "", f"nothing is to be said: {said}")
    bare, _, _ = made("--limit", 0)
    most = (whole + bare) // 2
    size, data, said = made(most=most)
    check(size <= most, f"the page has {size} bytes, {most} are allowed")
    embedded, events = data["time"]["embedded"], data["time"]["events"]
    check(0 < embedded < all_data["time"]["embedded"], f"{data['time']}")
    check(f"the page has {embedded} of {events} operations in detail" in said and "view --tiles" in said,
          f"not said: {said}")
    check(packed_column(data, "cells", "messages") == packed_column(all_data, "cells", "messages"), "sums are cut")
    size, data, said = made(most=bare // 2)
    check(size == whole and "it may be slow to open" in said, f"no operation can be spared for it: {size}, {said}")
    size, data, said = made("--limit", 500000, most=most)
    check(size == whole and "it may be slow to open" in said, f"who asks for so many gets them: {size}, {said}")


def check_waits(recording, folder):
    """The page's sums of waits equal those of `uctrace waits`, for the run and for a part of it."""
    kinds = json.loads(recording.ask("waits", "--format", "json").stdout)["waits"]
    check(any(wait["time_ns"] for wait in kinds), f"nobody waited: {kinds}")
    starts = sorted(message["t_start_ns"] for message in recording.messages)
    middle = starts[len(starts) // 2]
    for options in [], [f"--from={middle}ns"]:
        listed = json.loads(recording.ask("waits", "--format", "json", *options).stdout)["waits"]
        apart = ("barrier_completion", "nxn_completion", "wait_finalize")
        said = sum(wait["time_ns"] for wait in listed if wait["kind"] not in apart)
        data = page_data(recording, folder / "waits.html", *options)
        shown = sum(packed_column(data, "wait_sums", "ns"))
        check(shown == said, f"{shown} ns of waits in the page, {said} in the command {options}")


def check_communicators(recording, folder):
    """The page's communicators are those of the run, and their calls those of `uctrace comms`."""
    rows = page_data(recording, folder / "communicators.html")["communicators"]["rows"]
    listed = json.loads(recording.ask("comms", "--by", "comm", "--format", "json").stdout)["comms"]
    shown = {row["name"]: (row["called"], row["calls"], row["ns"], row["waiting_ns"]) for row in rows if row["calls"]}
    said = {row["comm"]: (row["user_name"], row["calls"], row["time_ns"], row["waiting_ns"]) for row in listed if row["calls"]}
    check_equal(shown, said, "communicators with their calls")
    stored = recording.table("communicators")
    check_equal({row["name"]: (row["size"], row["remote_size"], row["made_by"]) for row in rows if row["name"]},
                {row["name"]: (row["size"], row["remote_size"], row["function"] or None) for row in stored},
                "communicators of the run")


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
        page, messages = make_page(recording, folder)
        check_span(recording, folder)
        check_size(recording, folder)
        check_waits(recording, folder)
        check_communicators(recording, folder)
        in_browser("--page", page, "--messages", messages)
        check_damaged(folder)


run_test(page_agrees_with_messages)
