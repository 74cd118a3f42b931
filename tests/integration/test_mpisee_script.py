"""mpisee's own analysis script opens profile.db as it is, in each of its views. The script is not
part of this repository: UCTRACE_TEST_MPISEE names it (mpisee-through/mpisee-through.py of mpisee's
sources)."""

import csv
import os
import re
import sys
from pathlib import Path

from harness import Skip, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

VIEWS = [[], ["-a"], ["-p"], ["-c"], ["-e"], ["-u"], ["-a", "-r", "0,1"], ["-b", "1024:8192"],
         ["-t", "0:10"], ["-c", "-s", "0"]]


def script():
    path = os.environ.get("UCTRACE_TEST_MPISEE")
    if not path:
        raise Skip("UCTRACE_TEST_MPISEE does not name mpisee's analysis script")
    check(Path(path).is_file(), f"UCTRACE_TEST_MPISEE names {path}, which is no file")
    return path


def calls_in(text, operation):
    """{communicator: calls} of an operation in the script's default view."""
    calls, name = {}, None
    for line in text.splitlines():
        if comm := re.match(r"([A-Za-z-]\S*)\s+\[", line):
            name = comm[1]
        elif row := re.match(rf"\s+{operation}\s+\d+\s+\d+\s+(\d+)\s", line):
            calls[name] = int(row[1])
    return calls


def script_reads_profile():
    mpi = MPIS["ompi"]
    command = [sys.executable, script(), "-i"]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("listing1"))
        check_equal(recording.ask("merge").status, 0, "status of merge")
        database = folder / "data" / "profile.db"
        said = {tuple(view): run_well([*command, database, *view]) for view in VIEWS}
        for view, result in said.items():
            check_equal(result.stderr, "", f"what the script says of {view}")
            bad = re.search(r"Failed|rror occur|No data", result.stdout)
            check(not bad, f"{view}: {result}")
        found = calls_in(said[()].stdout, "Allreduce")
        check_equal(found, {"W0.0": 30, "s0.1": 100, "s2.1": 100}, "calls in the default view")
        check("Allreduce" not in said[("-p",)].stdout, "a sum among point-to-point operations")
        ratio = re.search(r"Maximum Ratio of MPI time to Execution time: ([\d.]+)%", said[()].stdout)
        check(ratio and 0 < float(ratio[1]) <= 100, f"the share of MPI: {ratio}")
        table = folder / "out.csv"
        run_well([*command, database, "-a", "-o", table])
        rows = list(csv.DictReader(table.open()))
        sums = [row for row in rows if row["Call"] == "Allreduce" and row["Communicator"] == "s2.1"]
        check_equal({(row["Rank"], row["Calls"], row["Volume"]) for row in sums},
                    {("2", "100", "204800"), ("3", "100", "204800")}, "rows of the CSV file")


run_test(script_reads_profile)
