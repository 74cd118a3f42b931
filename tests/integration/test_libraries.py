"""Calls of libraries above UCX other than MPI: those of OpenSHMEM are recorded one by one, as a program lists them, with
the UCP operations that they posted.

usage: test_libraries.py calls|together|without|left_out|tool
"""

import json
from collections import Counter

from checks import check_complete
from harness import PROGRAMS, TOOL, Skip, check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import OPEN_MPI_OVER_UCX
from recordings import record_well

PES = 3
NO_PEER = -(2**31)
LONG_PUT = {"library": "OpenSHMEM", "function": "shmem_long_put", "collective": None, "algorithm": None, "layers": None,
            "link": "exact"}
# Calls of which Open MPI makes one UCP operation that moves all of their bytes.
PUTS = ("shmem_putmem", "shmem_long_put", "shmem_put32", "shmem_float_p", "shmem_double_p", "shmem_schar_p", "shmem_long_p")
GETS = ("shmem_long_get", "shmem_ctx_getmem", "shmem_float_g", "shmem_double_g", "shmem_schar_g")


def job(name, *arguments):
    """Without osc/rdma, whose end crashes Open MPI 4.1.4 after that of OpenSHMEM."""
    program = PROGRAMS / name
    if not program.exists():
        raise Skip(f"{name} was not built: no oshcc")
    return [*(need("oshrun"), "--oversubscribe", *OPEN_MPI_OVER_UCX, "--mca", "spml", "ucx", "--mca", "osc", "^rdma"),
            *("-np", PES, program, *arguments)]


def calls_of(recording):
    """{rank: {lane: [row]}}, with the line that each call was made in."""
    stacks, sites = recording.table("stacks"), recording.table("call_sites")
    ranks = [process["rank"] for process in recording.table("processes")]
    found = {}
    for row in recording.table("library_calls"):
        check(row["stack"] >= 0, f"a call without a place: {row}")
        row["line"] = sites[stacks[row["stack"]]["call_site"]]["line"]
        check(row["t_start_ns"] <= row["t_end_ns"], f"a call that ends before it begins: {row}")
        found.setdefault(ranks[row["process"]], {}).setdefault(row["lane"], []).append(row)
    for lanes in found.values():
        for rows in lanes.values():
            rows.sort(key=lambda row: row["t_start_ns"])
    return found


def comparable(row):
    return tuple(row[column] for column in ("function", "peer", "bytes", "scope", "status", "line"))


def threads_of(truth):
    threads = {}
    for line in truth.read_text().splitlines():
        row = json.loads(line)
        threads.setdefault(row["thread"], []).append(comparable(row))
    return threads


def check_operations(recording, rows):
    """A put or get of a block is one operation of its bytes, which names the call; its message names the function."""
    operations = recording.table("ucp_operations")
    numbered = recording.table("library_calls")
    of_call = {}
    for operation in operations:
        if operation["library_call"] >= 0:
            of_call.setdefault(operation["library_call"], []).append(operation)
    for number, row in enumerate(numbered):
        mine = of_call.get(number, [])
        check_equal(row["operations"], len(mine), f"operations of {row}")
        for operation in mine:
            check_equal(operation["process"], row["process"], f"process of an operation of {row}")
            check(row["t_start_ns"] <= operation["t_start_ns"] <= row["t_end_ns"], f"{operation} is not within {row}")
        for functions, word in ((PUTS, "put"), (GETS, "get")):
            if row["function"] in functions and row["bytes"] > 0:
                moved = [o["bytes"] for o in mine if word in o["function"]]
                check_equal(sum(moved), row["bytes"], f"bytes that operations of {row['function']} moved")
    asked = Counter(m["library_call"]["function"] for m in recording.messages if m["library_call"])
    for function in (*PUTS, *GETS):
        called = sum(row["function"] == function and row["bytes"] > 0 for row in rows)
        check(asked[function] >= called, f"{asked[function]} messages of {called} calls of {function}")
    check_equal({m["library_call"]["library"] for m in recording.messages if m["library_call"]}, {"OpenSHMEM"},
                "libraries that asked")


def check_report(recording, rows):
    told = json.loads(run_well([TOOL, "report", recording.folder, "--by", "library", "--format", "json"]).stdout)
    found = {row["function"]: row for row in told["library"]}
    check_equal({row["library"] for row in found.values()}, {"OpenSHMEM"}, "libraries of the report")
    named = {}
    for row in rows:
        named.setdefault(row["function"], []).append(row)
    check_equal(set(found), set(named), "functions of the report")
    for function, mine in named.items():
        row = found[function]
        times = [call["t_end_ns"] - call["t_start_ns"] for call in mine]
        expected = {"calls": len(mine), "time_ns": sum(times), "max_ns": max(times),
                    "asked_bytes": sum(call["bytes"] for call in mine),
                    "operations": sum(call["operations"] for call in mine),
                    "payload_bytes": sum(call["operation_bytes"] for call in mine)}
        check_equal({name: row[name] for name in expected}, expected, f"the row of {function}")
    csv = run_well([TOOL, "report", recording.folder, "--by", "library", "--format", "csv"]).stdout.splitlines()
    check_equal(len(csv), 1 + len(found), "lines of the CSV")
    text = run_well([TOOL, "report", recording.folder, "--by", "library"]).stdout
    check(f"By library: {len(rows)} calls" in text and "shmem_putmem" in text, f"the text has no table: {text}")


def check_call_sites(recording, rows):
    """Each line with its calls, and no UCP operation of the library beside them."""
    told = json.loads(run_well([TOOL, "report", recording.folder, "--by", "call-sites", "--format", "json"]).stdout)
    found = Counter({(row["function"], row["call_site"].rpartition(":")[2].rstrip(")")): row["calls"]
                     for row in told["call_sites"]})
    check_equal(found, Counter((row["function"], str(row["line"])) for row in rows), "calls by call site")


def check_info(recording, rows):
    libraries = recording.info["libraries"]
    check_equal([(l["library"], l["calls"], l["processes"]) for l in libraries], [("OpenSHMEM", len(rows), PES)],
                "libraries of info")
    check(libraries[0]["version"].startswith("1."), f"version: {libraries}")
    check("http" in libraries[0]["version"], f"name: {libraries}")
    check_equal(recording.info["events"]["library"], len(rows), "calls of info")
    check_equal(recording.info["layers"]["library"]["state"], "on", "state of the layer")
    check("OpenSHMEM" in run_well([TOOL, "info", recording.folder]).stdout, "info in words names no library")


def check_receipt(recording):
    message = next(m for m in recording.messages
                   if m["library_call"] and m["library_call"]["function"] == "shmem_long_put")
    text = run_well([TOOL, "messages", recording.folder, "--id", message["id"]]).stdout
    check("shmem_long_put of rank" in text and "(OpenSHMEM)" in text, f"the receipt names no call: {text}")
    check("shmem_calls.c:" in text, f"the receipt names no line: {text}")


def calls_are_those_of_the_program():
    with scratch() as folder:
        alone = run_well(job("shmem_calls"))
        result, recording = record_well(folder / "data", job("shmem_calls", folder / "truth"))
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_complete(recording.info, layers=("uct", "ucp", "library"), processes=PES)
        found = calls_of(recording)
        check_equal(sorted(found), list(range(PES)), "ranks that called")
        for rank in range(PES):
            wanted = threads_of(folder / f"truth.{rank}.jsonl")
            check_equal(len(wanted), 4, "threads that called")
            lanes = [[comparable(row) for row in rows] for rows in found[rank].values()]
            for thread, calls in wanted.items():
                check(calls in lanes, f"calls of thread {thread} of rank {rank} are not those recorded:\n"
                      f"{difference(calls, lanes)}")
            check_equal(len(lanes), len(wanted), "threads with calls")
        rows = [row for lanes in found.values() for mine in lanes.values() for row in mine]
        check_equal({row["call"] for row in rows}, {-1}, "MPI calls around")
        check_operations(recording, rows)
        check_report(recording, rows)
        check_call_sites(recording, rows)
        check_info(recording, rows)
        check_receipt(recording)


def difference(calls, lanes):
    """The first call that differs from the likeliest lane."""
    likely = max(lanes, key=lambda lane: sum(a == b for a, b in zip(calls, lane)))
    for number, (wanted, recorded) in enumerate(zip(calls, likely)):
        if wanted != recorded:
            return f"call {number} is {wanted}, recorded: {recorded}"
    return f"{len(calls)} calls, recorded: {len(likely)}"


def mpi_and_openshmem_stand_together():
    with scratch() as folder:
        _, recording = record_well(folder / "data", job("shmem_mpi"))
        check_complete(recording.info, layers=("uct", "ucp", "mpi", "library"), processes=PES)
        libraries = Counter(row["function"] for row in recording.table("library_calls"))
        check_equal(libraries, Counter({"shmem_init": PES, "shmem_long_put": 5 * PES, "shmem_barrier_all": 5 * PES,
                                        "shmem_finalize": PES}), "calls of OpenSHMEM")
        calls = Counter(row["function"] for row in recording.table("mpi_calls"))
        check_equal((calls["MPI_Init"], calls["MPI_Sendrecv"], calls["MPI_Barrier"]), (PES, 5 * PES, 5 * PES),
                    "calls of MPI")
        both = [m for m in recording.messages if m["library_call"] and m["mpi"]]
        check_equal(both, [], "messages that both asked for")
        puts = [m for m in recording.messages if m["library_call"] == LONG_PUT]
        check_equal(Counter(m["bytes"] for m in puts if m["kind"] == "put"), Counter({8000: 5 * PES}), "puts")
        sent = [m for m in recording.messages if m["mpi"] == "MPI_Sendrecv"]
        check_equal((len(sent), {m["library_call"] is None for m in sent}), (5 * PES, {True}), "messages of MPI")


def a_program_without_it_sees_no_difference():
    with scratch() as folder:
        program = PROGRAMS / "shmem_names"
        alone = run_well([program])
        check(": 0 0" in alone.stdout and ": 1" not in alone.stdout, f"OpenSHMEM is there: {alone.stdout}")
        result, _ = record_well(folder / "data", [program])
        check_equal(result.stdout, alone.stdout, "what the program finds")
        plain, recording = record_well(folder / "ucp", [PROGRAMS / "plain_streams"])
        check(plain.status == 0, "a program of UCP alone")
        check_equal(recording.info["libraries"], [], "libraries of a program that calls none")
        check_equal(recording.info["layers"]["library"]["state"], "unused", "state of the layer")
        check_equal(recording.table("library_calls"), [], "calls")
        told = json.loads(run_well([TOOL, "report", recording.folder, "--format", "json"]).stdout)
        check("library" not in told, "a report of a run without libraries has their table")


def the_layer_can_be_left_out():
    with scratch() as folder:
        _, recording = record_well(folder / "without", job("shmem_mpi"), switches=["--layers", "uct,ucp,mpi"])
        check_equal(recording.table("library_calls"), [], "calls of a layer that is left out")
        check_equal(recording.info["layers"]["library"]["why"], "by --layers", "why it is off")
        check_equal([m for m in recording.messages if m["library_call"]], [], "messages that name a call")
        _, alone = record_well(folder / "alone", job("shmem_mpi"), switches=["--layers", "library"])
        check_equal(len(alone.table("library_calls")), 12 * PES, "calls of this layer alone")
        check_equal((alone.messages, alone.table("mpi_calls")), ([], []), "what other layers recorded")
        windows = ["--start-on", "pcontrol"]
        _, recording = record_well(folder / "windows", job("shmem_mpi"), switches=windows)
        check_equal(recording.table("library_calls"), [], "calls outside of windows")
        kinds = {i["name"]: i for i in recording.info["identities"]}
        check_equal(kinds["recorded_mpi"]["result"], "holds", "the account of a run outside of windows")
        check(kinds["recorded_mpi"]["left"] >= 12 * PES, f"calls counted: {kinds['recorded_mpi']}")
        result, recording = record_well(folder / "counters", job("shmem_mpi"), switches=["--counters"])
        check("are right" in result.stdout, "a job that is only counted")
        check_equal(recording.info["events"]["library"], 0, "calls of a job that is only counted")


def a_tool_gets_its_calls_and_none_counts_twice():
    with scratch() as folder:
        launcher, *rest = job("shmem_calls")
        with_tool = [launcher, "-x", f"LD_PRELOAD={PROGRAMS / 'shmem_tool.so'}", *rest]
        alone = run_well(with_tool)
        told = [line for line in alone.stdout.splitlines() if line.startswith("tool: ")]
        check_equal(len(told), PES, "what tools say without uctrace")
        result, recording = record_well(folder / "data", with_tool)
        check_equal(sorted(result.stdout.splitlines()), sorted(alone.stdout.splitlines()), "output of the job")
        calls = Counter(row["function"] for row in recording.table("library_calls"))
        check_equal(calls["shmem_putmem"], sum(int(line.split()[1]) for line in told), "calls that the tool counted")
        check_equal(calls["shmem_finalize"], PES, "ends")


CASES = {"calls": calls_are_those_of_the_program, "together": mpi_and_openshmem_stand_together,
         "without": a_program_without_it_sees_no_difference, "left_out": the_layer_can_be_left_out,
         "tool": a_tool_gets_its_calls_and_none_counts_twice}
run_test(lambda case: CASES[case]())
