"""Calls of UCC are recorded one by one, as a program lists them, with the collective operation that each is for, the
layer and algorithm that UCC chose, and the UCP operations that it made.

usage: test_ucc.py MPI PLAN [late|real]
The plans are those of ucc_collectives.c, and copies: two copies of UCC in one process. `late`: UCC sends in calls that
make progress. It runs over the UCC of tests/stand-in-ucc, which Debian 12 lacks; with `real`
over the one in the folder $UCTRACE_TEST_UCC (its prefix), which must be 1.1 or newer.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

from checks import check_complete
from harness import PROGRAMS, SOURCE_ROOT, TOOL, Skip, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

MPI, PLAN, REAL, LATE = MPIS[sys.argv[1]], sys.argv[2], "real" in sys.argv[3:], "late" in sys.argv[3:]
IN_WINDOW = PLAN == "window"
NO_PEER = -(2**31)
FAILURE = {"errors": 1}  # calls that fail, of each rank


def program(folder):
    """Built over the real UCC, with its own header, or the one that is built already."""
    if not REAL:
        return "ucc_collectives"
    prefix = os.environ.get("UCTRACE_TEST_UCC")
    if not prefix:
        raise Skip("UCTRACE_TEST_UCC names no folder with a UCC")
    compiler = {"ompi": "mpicc.openmpi", "mpich": "mpicc.mpich"}[MPI.name]
    made = folder / "ucc_collectives"
    libraries = next(path.parent for path in sorted(Path(prefix).rglob("libucc.so")))
    run_well([compiler, "-std=gnu11", "-g", "-O2", f"-I{prefix}/include",
              SOURCE_ROOT / "tests" / "programs" / "ucc_collectives.c", "-o", made, f"-L{libraries}", "-lucc",
              f"-Wl,-rpath,{libraries}"])
    return made


def truth_of(files):
    """Of each rank, in their order: (function, collective, bytes, peer, line)."""
    truth = {}
    for rank in range(MPI.ranks):
        rows = [line.split() for line in Path(f"{files}.{rank}").read_text().splitlines()]
        truth[rank] = [(function, operation.strip("-"), int(amount), NO_PEER if root == "-1" else int(root), int(line))
                       for function, operation, amount, _, _, root, line in rows]
    return truth


def with_lines(recording):
    stacks, sites = recording.table("stacks"), recording.table("call_sites")
    ranks = [process["rank"] for process in recording.table("processes")]
    rows = recording.table("library_calls")
    for row in rows:
        check(row["stack"] >= 0, f"a call without a place: {row}")
        row["line"] = sites[stacks[row["stack"]]["call_site"]]["line"]
        row["rank"] = ranks[row["process"]]
    return rows


def check_calls(recording, truth):
    rows = with_lines(recording)
    failed = [row for row in rows if row["status"] < 0]
    check_equal(Counter(row["rank"] for row in failed),
                Counter({rank: FAILURE[PLAN] for rank in range(MPI.ranks)} if PLAN in FAILURE else {}),
                "calls that failed")
    check_equal({row["collective"] for row in failed} - {""}, set(), "operations of calls that failed")
    for rank, wanted in truth.items():
        mine = sorted((row for row in rows if row["rank"] == rank and "_collective_" in row["function"]
                       and row["status"] == 0),
                      key=lambda row: row["t_start_ns"])
        found = [(row["function"], row["collective"], row["bytes"], row["peer"], row["line"]) for row in mine]
        check_equal(found, wanted, f"calls of rank {rank}")
        check_equal(len({row["scope"] for row in mine if row["collective"]}), 2, f"teams of rank {rank}")
    if IN_WINDOW:
        return rows
    others = Counter(row["function"] for row in rows if "_collective_" not in row["function"])
    once = ("ucc_init_version", "ucc_context_create", "ucc_context_destroy", "ucc_finalize")
    check_equal(others, Counter({**{name: MPI.ranks for name in once}, "ucc_team_create_post": 2 * MPI.ranks,
                                 "ucc_team_destroy": 2 * MPI.ranks}), "other calls")
    return rows


def check_layers(rows):
    """The stand-in has one algorithm over UCP, and copies in teams of one; of the real one what every release has."""
    of_one = MPI.ranks // 2 == 1  # the half teams
    for row in rows:
        if not row["collective"]:
            continue
        if REAL:
            check(set(row["layers"].split(", ")) & {"tl_ucp", "tl_self", "tl_shm"}, f"layers: {row}")
            check(row["algorithm"], f"algorithm: {row}")
        else:
            expected = {("tl_ucp", "linear")} | ({("tl_self", "default")} if of_one else set())
            check((row["layers"], row["algorithm"]) in expected, f"layers and algorithm: {row}")


def check_operations(recording, rows):
    """Who sends is a collective operation: every message of UCC's own worker names one, unless several were in
    progress when it was posted."""
    operations = recording.table("ucp_operations")
    posted = Counter(o["library_call"] for o in operations if o["library_call"] >= 0 and not o["library_inferred"])
    inferred = Counter(o["library_call"] for o in operations if o["library_inferred"])
    for number, row in enumerate(rows):
        check_equal((row["operations"], row["inferred_operations"]), (posted[number], inferred[number]),
                    f"operations of {row}")
    for operation in operations:
        if operation["library_call"] < 0:
            continue
        call = rows[operation["library_call"]]
        check_equal(operation["process"], call["process"], f"process of {operation}")
        within = call["t_start_ns"] <= operation["t_start_ns"] <= call["t_end_ns"]
        check(within != bool(operation["library_inferred"]), f"{operation} and {call}")
    asked = [m["library_call"] for m in recording.messages if m["library_call"] and m["library_call"]["collective"]]
    check(asked, "no message is for a collective operation")
    check_equal({(a["library"], a["link"]) for a in asked} - {("UCC", "exact"), ("UCC", "inferred")}, set(), "askers")
    if LATE:
        check_equal({a["link"] for a in asked}, {"inferred"}, "how messages were linked")
        mine = [row for row in rows if row["function"] == "ucc_collective_post" and row["layers"] == "tl_ucp"]
        sent = sum(row["inferred_bytes"] for row in mine)
        of_messages = sum(m["bytes"] for m in recording.messages
                          if m["library_call"] and m["library_call"]["collective"])
        check_equal(sent, of_messages, "bytes inferred")
        check(len(mine) > 8 and sent > 0, f"posts and what they sent: {mine}")
    elif not REAL:  # which posts all at once
        check_equal({a["link"] for a in asked}, {"exact"}, "how operations were linked")
        mine = [row for row in rows if row["function"] == "ucc_collective_post" and row["layers"] == "tl_ucp"]
        sends = sum(row["operations"] for row in mine)
        check(sends > 0 and all(row["operations"] > 0 for row in mine), f"operations of {mine}")


def check_report(recording, rows):
    report = json.loads(run_well([TOOL, "report", recording.folder, "--by", "library", "--format", "json"]).stdout)
    found = {(r["function"], r["collective"], r["layers"], r["algorithm"]): r for r in report["library"]}
    sums = {}
    for row in rows:
        key = (row["function"], *(row[name] or None for name in ("collective", "layers", "algorithm")))
        one = sums.setdefault(key, Counter())
        known = row["bytes"] >= 0
        one.update(calls=1, asked_bytes=row["bytes"] if known else 0, calls_without_bytes=not known,
                   operations=row["operations"], payload_bytes=row["operation_bytes"],
                   inferred_operations=row["inferred_operations"], inferred_bytes=row["inferred_bytes"])
    check_equal(set(found), set(sums), "rows of the report")
    for key, one in sums.items():
        check_equal({name: found[key][name] for name in one}, dict(one), f"the row of {key}")


def check_receipt(recording):
    message = next(m for m in recording.messages if m["library_call"] and m["library_call"]["collective"])
    text = run_well([TOOL, "messages", recording.folder, "--id", message["id"]]).stdout
    call = message["library_call"]
    check(f"(UCC: {call['collective']}, {call['algorithm']} by {call['layers']}" in text,
          f"the receipt names no collective operation: {text}")


def check_info(recording):
    libraries = recording.info["libraries"]
    check_equal([(library["library"], library["processes"]) for library in libraries], [("UCC", MPI.ranks)], "libraries")
    if not REAL:
        check_equal(libraries[0]["version"], "1.0.0-stand-in", "version")


def ucc_is_a_layer_of_its_own(*_):
    with scratch() as folder:
        job = MPI.job(program(folder), PLAN, folder / "truth")
        switches = ["--start-on", "pcontrol:1", "--stop-on", "pcontrol:0"] if IN_WINDOW else []
        result, recording = record_well(folder / "data", job, switches=switches,
                                        env={"STAND_IN_UCC_LATE": "1"} if LATE else {})
        if not REAL:
            check_equal((result.stdout, result.stderr.count("rank")), ("", 0), "what the job prints")
        if not IN_WINDOW:
            check_complete(recording.info, layers=("uct", "ucp", "mpi", "library"), processes=MPI.ranks)
        violated = [i for i in recording.info["identities"] if i["result"] == "violated"]
        check_equal(violated, [], "identities that are violated")
        rows = check_calls(recording, truth_of(folder / "truth"))
        check_layers(rows)
        check_operations(recording, rows)
        check_report(recording, rows)
        check_receipt(recording)
        check_info(recording)


def copies_are_told_apart(*_):
    """Each plug-in reaches its own copy, as without uctrace, and the calls of both are recorded."""
    with scratch() as folder:
        plug_ins = [PROGRAMS.parent / "stand-in-ucc" / f"ucc_user{suffix}.so" for suffix in ("", "_second")]
        command = [PROGRAMS / "ucc_copies", *plug_ins]
        alone = run_well(command)
        check_equal(len(set(alone.stdout.split())), 2, "copies that were used")
        result, recording = record_well(folder / "data", command)
        check_equal(result.stdout, alone.stdout, "the copies that the plug-ins reach")
        rows = recording.table("library_calls")
        check_equal(Counter(row["function"] for row in rows),
                    Counter({f"ucc_{name}": 4 for name in ("init_version", "context_create", "team_create_post", "collective_init",
                                                           "collective_post", "collective_finalize", "team_destroy",
                                                           "context_destroy", "finalize")}), "calls")
        check_equal({row["layers"] for row in rows if row["collective"]}, {"tl_self", "tl_self_second"}, "layers")


run_test(copies_are_told_apart if PLAN == "copies" else ucc_is_a_layer_of_its_own)
