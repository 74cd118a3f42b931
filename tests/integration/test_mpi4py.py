"""A foreign test suite: mpi4py's own tests have the same results when recorded, and all identities of the
recording hold.

Not in the tree and not among the tests that run by default: UCTRACE_TEST_MPI4PY names the folder of
mpi4py's tests (with runtests.py) of the version that is installed. docs/contributing.md says where they are."""

import os
import re
from pathlib import Path

from checks import check_accounts, results_of
from harness import Skip, check, check_equal, run, run_test, scratch
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX
from recordings import Recording, record_command

PYTHON = "/usr/bin/python3"  # Debian's mpi4py is of Debian's Python
RANKS = 2
# They start more processes than the launcher has slots, which hangs or fails even without uctrace.
LEFT_OUT = ["-e", "spawn", "-e", "dynproc"]  # -e: the name of this option in 3 and in 4
TIMEOUT_S = 400


def suite_line(tests):
    mpi = MPIS["ompi"]
    launcher = [*mpi.launcher, *OPEN_MPI_OVER_UCX, mpi.count_option, RANKS]
    return [*launcher, PYTHON, tests / "runtests.py", *LEFT_OUT]


def verdicts(result):
    """What each rank says of the tests that it ran."""
    lines = (result.stdout + result.stderr).splitlines()
    counts = sorted(re.sub(r" in .*", "", line) for line in lines if re.match(r"Ran \d+ tests", line))
    ends = sorted(line for line in lines if re.match(r"(OK|FAILED)\b", line))
    return counts, ends


def mpi4py_is_the_same():
    tests = Path(os.environ.get("UCTRACE_TEST_MPI4PY", "/nowhere"))
    if not (tests / "runtests.py").exists():
        raise Skip("UCTRACE_TEST_MPI4PY names no folder with mpi4py's runtests.py")
    if run([PYTHON, "-c", "import mpi4py"]).status != 0:
        raise Skip("mpi4py is not installed")
    with scratch() as folder:
        alone = run(suite_line(tests), cwd=tests, timeout=TIMEOUT_S)
        check_equal(alone.status, 0, f"the suite fails without uctrace: {alone}")
        expected = verdicts(alone)
        check(len(expected[0]) == RANKS, f"no verdict of each rank: {alone}")
        recorded = run(record_command(folder / "data", suite_line(tests)), cwd=tests, timeout=TIMEOUT_S)
        check_equal(recorded.status, 0, f"the suite fails when it is recorded: {recorded}")
        check_equal(verdicts(recorded), expected, "what the suite says")
        recording = Recording(folder / "data")
        info = recording.info
        check(info["complete"], "the record is not complete")
        check_equal(info["faults"], [], "faults")
        check_accounts(info)
        results = results_of(info)
        check_equal(set(results), {"holds"}, f"identities: {results}")
        print(f"{expected[0][0]}, {expected[1][0]}; {len(results['holds'])} identities hold")


run_test(mpi4py_is_the_same)
