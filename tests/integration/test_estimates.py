"""What UCX expects of messages stands beside what they took: the numbers that ucp_ep_evaluate_perf gives the
program itself, whatever the program or the user told UCX of the job. Both are rounded: to nanoseconds, and the
bandwidth to bytes a second."""

import json

from harness import PROGRAMS, TOOL, check, check_equal, run_test, run_well, scratch
from recordings import record_well

PROGRAM = PROGRAMS / "ucp_estimates"
# What the program tells, what the user sets.
CASES = {
    "nothing told": ((), {}),
    "a large job": ((1000, 64), {}),
    "the user says otherwise": ((1000, 64), {"UCX_NUM_EPS": "7", "UCX_NUM_PPN": "3"}),
    "the user says auto": ((50, 2), {"UCX_NUM_EPS": "auto"}),
    "tcp": ((), {"UCX_TLS": "tcp,self"}),
    "tcp of a large job": ((200, 16), {"UCX_TLS": "tcp,self"}),
}


def sizes_of(folder):
    report = json.loads(run_well([TOOL, "report", folder, "--by", "protocol", "--format", "json"]).stdout)
    return report["protocol_sizes"]


def check_case(folder, arguments, environment):
    result, recording = record_well(folder, [PROGRAM, *arguments], env=environment)
    told = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]  # UCX may warn
    check_equal(len(told), 16, "what the program was told")
    rows = sizes_of(recording.folder)
    found = 0
    for row in rows:
        mine = [t["ns"] for t in told if t["reach"] == row["reach"]
                and row["from_bytes"] <= t["bytes"] < row["below_bytes"]]
        if not mine:
            continue
        found += 1
        for key, ns in (("ucx_least_ns", min(mine)), ("ucx_most_ns", max(mine))):
            check(abs(row[key] - ns) <= max(1, ns / 1e5), f"{key} of {row}: UCX itself says {ns} ns")
    check_equal(found, 8, f"rows of messages of the program in {rows}")
    return recording


def check_that_it_matters(folder):
    """Else a large job would show nothing: processes of a node share what a network device can carry."""
    few, many = (max(row["ucx_least_ns"] for row in sizes_of(folder / name) if row["reach"] == "host")
                 for name in ("tcp", "tcp of a large job"))
    check(many > 2 * few, f"16 processes share what one has: {few} and {many} ns")


def estimates():
    with scratch() as folder:
        for name, (arguments, environment) in CASES.items():
            check_case(folder / name, [str(a) for a in arguments], environment)
        check_that_it_matters(folder)


run_test(estimates)
