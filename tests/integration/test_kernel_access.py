"""What GPU kernels may use directly is recorded as granted by the program, and all totals say that
kernels' own transfers are not included. The functions are stand-ins: no packaged UCX has them, and
the host side needs no GPU."""

import json
from collections import Counter

from harness import PROGRAMS, TOOL, check, check_equal, run_test, run_well, scratch
from recordings import record_well

NOT_SEEN = "what they move is not seen, and in no total here"


def kernels_are_told_of():
    program = [PROGRAMS / "kernel_access"]
    with scratch() as folder:
        alone = run_well(program)
        result, recording = record_well(folder / "data", program)
        functions = lambda text: [line.split()[0] for line in text.splitlines()]  # addresses differ
        check_equal(functions(result.stdout), functions(alone.stdout), "output of the program")
        check_equal(recording.info["faults"], [], "faults")
        violated = [i for i in recording.info["identities"] if i["result"] == "violated"]
        check_equal(violated, [], "identities violated")
        given = Counter()
        for line in result.stdout.splitlines():
            function, local, remote, size, released = line.split()
            given[function, int(local), int(remote), int(size), released == "1"] += 1
        rows = recording.table("kernel_accesses")
        found = Counter((row["function"], row["local_address"], row["remote_address"], row["bytes"],
                         row["t_until_ns"] >= 0) for row in rows)
        check_equal(found, given, "what kernels may use")
        endpoint = next(row for row in rows if row["function"] == "uct_ep_get_device_ep")
        check_equal((endpoint["transport"], endpoint["device"]), ("scripted", "mlx5_1:1"), "its endpoint")
        check_equal(endpoint["peer_process"], 0, "the process at its other end")
        failed = [row for row in recording.table("memory_calls") if row["status"] != "UCS_OK"]
        check_equal([row["function"] for row in failed], ["ucp_device_remote_mem_list_create"], "calls that failed")
        told = recording.info["gpu_initiated"]
        buffers = [row for row in rows if row["bytes"]]
        check_equal(told, {"endpoints": 1, "buffers": len(buffers), "bytes": sum(r["bytes"] for r in buffers),
                           "moved_bytes": None}, "info")
        for verb in ("info", "report"):
            text = run_well([TOOL, verb, recording.folder]).stdout
            check(NOT_SEEN in " ".join(text.split()), f"{verb} does not say it: {text}")
        report = json.loads(run_well([TOOL, "report", recording.folder, "--format", "json"]).stdout)
        check(any(NOT_SEEN in note for note in report["notes"]), f"{report['notes']}")


def others_are_quiet():
    with scratch() as folder:
        _, recording = record_well(folder / "data", [PROGRAMS / "plain_ucp"])
        check_equal(recording.info["gpu_initiated"], None, "info of a job without such calls")
        check(NOT_SEEN not in run_well([TOOL, "report", recording.folder]).stdout, "the report is quiet")


def both():
    kernels_are_told_of()
    others_are_quiet()


run_test(both)
