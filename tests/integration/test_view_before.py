"""`uctrace view --before`: the page of a run shows the same as `uctrace diff` of it and an earlier one, in a real
browser."""

import json
from dataclasses import replace

from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from page import data_of, in_browser
from recordings import record_well

MPI = replace(MPIS["ompi"], ranks=2)
MOST_CHANGES = 500  # cli/view.cpp


def told(comparison):
    """The facts about the runs, without the names of their folders."""
    return {key: value for key, value in comparison.items() if key not in ("a", "b")}


def view_before():
    with scratch() as folder:
        job = MPI.job("phases", "network", 20, "262144,300")
        record_well(folder / "before", job)
        _, recording = record_well(folder / "after", job, env={"UCX_TLS": "tcp,self"})
        page = folder / "page.html"
        written = recording.ask("view", "-o", page, "--before", folder / "before")
        check_equal(written.status, 0, f"no page: {written}")
        comparison = data_of(page.read_text())["comparison"]
        diff = json.loads(run_well([TOOL, "diff", folder / "before", folder / "after", "--format", "json",
                                    "--limit", MOST_CHANGES]).stdout)
        check_equal(told(comparison), told(diff), "the comparison of the page")
        check_equal([setting["name"] for setting in comparison["settings"]], ["UCX_TLS"], "settings")
        check(any("transport tcp" in change["what"] for change in comparison["changes"]), f"{comparison['changes']}")
        in_browser("--page", page)

        cut = json.loads(run_well([TOOL, "diff", folder / "before", folder / "after", "--format", "json",
                                   "--limit", 1]).stdout)
        check_equal(cut["left_out"], {key: len(diff[key]) - 1 for key in ("changes", "others")}, "what --limit left out")
        alone = recording.ask("view", "-o", page)
        check(alone.status == 0 and data_of(page.read_text())["comparison"] is None, f"without --before: {alone}")
        refused = run([TOOL, "view", folder / "after", "--before", folder / "none"])
        check(refused.status == 125 and "none" in refused.stderr, f"no earlier run: {refused}")


run_test(view_before)
