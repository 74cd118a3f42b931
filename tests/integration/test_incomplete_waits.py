"""Waits of incomplete runs: no wait is claimed for unknown events."""

import json

from harness import TOOL, check, check_equal, run_test, run_well, scratch
from stores import generate

JOB = ["--processes", 4, "--hosts", 2, "--seed", 3]
MISSING = "1"
CASES = {
    "missing": ["--fault", f"missing:{MISSING}"],
    "dropped": ["--fault", f"dropped:{MISSING}:3"],
    "unclosed": ["--fault", f"unclosed:{MISSING}"],
    "window": ["--window", "3:9"],
    "windows": ["--window", "3:5", "--window", "12:14"],
}
# In these runs calls of some ranks are missing between their first and last one.
LACKING = {"dropped": {MISSING}, "windows": {"0", "1", "2", "3"}}


def told(data, *options):
    return json.loads(run_well([TOOL, "waits", data, "--format", "json", *options]).stdout)


def unknown_share(found):
    """Of the time in MPI of all ranks."""
    in_mpi = sum(rank["mpi_ns"] for rank in found["balance"])
    return sum(rank["unknown_ns"] for rank in found["balance"]) / in_mpi


def check_useful_time(name, data, found):
    """Unrecorded time does not count as computing."""
    lacking = LACKING.get(name, set())
    for rank in found["balance"]:
        check_equal(rank["compute_ns"] is None, rank["rank"] in lacking, f"{name}: {rank}")
    for efficiency, value in found["efficiency"].items():
        check_equal(value is None, bool(lacking), f"{name}: {efficiency}")
    text = run_well([TOOL, "waits", data]).stdout
    check_equal("were not recorded\n" in text, bool(lacking), f"{name}: the reason: {text}")
    check_equal("; calls that were not recorded count as outside MPI" in text, bool(lacking), f"{name}: {text}")
    simulated = run_well([TOOL, "simulate", data, "--balance", "run"]).stdout
    check_equal(f"calls of {len(lacking)} ranks were not recorded" in simulated, bool(lacking), f"{name}: {simulated}")


def check_sums(name, data, found):
    for rank in found["balance"]:
        parts = sum(rank[key] for key in ("waiting_ns", "moving_ns", "unknown_ns", "other_ns"))
        check_equal(parts, rank["mpi_ns"], f"{name}: {rank}")
    identities = json.loads(run_well([TOOL, "info", data, "--format", "json"]).stdout)["identities"]
    told = {identity["name"]: identity["result"] for identity in identities
            if identity["name"] in ("waits", "delays")}
    check_equal(told, {"waits": "holds", "delays": "holds"}, f"{name}: identities of waits")


def main():
    with scratch() as folder:
        generate(folder / "whole", 20000, *JOB)
        whole = told(folder / "whole")
        check_sums("whole", folder / "whole", whole)
        check_useful_time("whole", folder / "whole", whole)
        causes = {wait["causing_rank"] for wait in told(folder / "whole", "--by", "pair")["waits"]}
        check(int(MISSING) in causes, f"of the whole run others wait for rank {MISSING}: {causes}")
        for name, options in CASES.items():
            data = folder / name
            generate(data, 20000, *JOB, *options)
            found = told(data)
            check_sums(name, data, found)
            check_useful_time(name, data, found)
            if name != "unclosed":  # all that was called is there
                check(unknown_share(found) > 2 * unknown_share(whole), f"{name}: {found['balance']}")
            if name == "missing":
                check("; of 3 of 4 ranks\n" in run_well([TOOL, "waits", data]).stdout, "who is missing is said")
                by_pair = told(data, "--by", "pair")["waits"]
                check(all(wait["causing_rank"] != int(MISSING) for wait in by_pair), f"{by_pair}")
                check(any(wait["unknown_ns"] > 0 for wait in by_pair), f"{by_pair}")
            if name == "window":
                text = run_well([TOOL, "waits", data]).stdout
                check("windows" in text and "may or may not be waiting" in text, text)


run_test(main)
