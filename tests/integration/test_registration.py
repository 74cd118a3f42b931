"""Registration calls are recorded one by one, with the operations they were made for. The tests of
the scripted transport compare them with what its memory domains saw."""

import json
from collections import Counter

from checks import check_complete
from harness import PROGRAMS, TOOL, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

PER_PROCESS = ("ucp_mem_map", "ucp_mem_unmap", "ucp_rkey_pack", "ucp_ep_rkey_unpack", "ucp_rkey_destroy")
REGISTER = "uct_md_mem_reg,uct_md_mem_reg_v2"
QUIET = {"UCX_LOG_LEVEL": "fatal"}  # UCX's message about the failing mapping contains the time


def report(folder, *options):
    asked = [TOOL, "report", folder, "--by", "registration", "--format", "json", *options]
    return json.loads(run_well(asked).stdout)


def check_sums(recording):
    """The report's sums are those of the rows, added up here."""
    rows = recording.named_table("memory_calls")
    found = {(r["memory_domain"], r["function"], r["memory"]): r for r in report(recording.folder)["registration"]}
    named = {}
    for row in rows:
        memory = None if row["memory"] == "unknown" else row["memory"]
        named.setdefault((row["memory_domain"] or None, row["function"], memory), []).append(row)
    for name, mine in named.items():
        row = found.pop(name)
        times = [call["t_end_ns"] - call["t_start_ns"] for call in mine]
        check_equal(row["calls"], len(mine), f"calls of {name}")
        check_equal(row["failed"], sum(call["status"] != "UCS_OK" for call in mine), f"failed {name}")
        check_equal(row["bytes"], sum(c["bytes"] for c in mine if c["status"] == "UCS_OK"), f"bytes of {name}")
        check_equal(row["time_ns"], sum(times), f"time of {name}")
        check_equal(row["max_ns"], max(times), f"longest of {name}")
        own = sum(t for t, call in zip(times, mine) if call["outermost"])
        check_equal(row["own_ns"], own, f"own time of {name}")
        messages = {call["message"] for call in mine} - {-1}
        check_equal(row["messages"], len(messages), f"messages of {name}")
    check_equal(found, {}, "rows of the report without a call")
    return rows


def every_circumstance_is_recorded():
    program = PROGRAMS / "memory_life"
    with scratch() as folder:
        alone = run_well([program, folder / "alone"], env=QUIET)
        result, recording = record_well(folder / "data", [program, folder / "truth"], env=QUIET)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        rows = check_sums(recording)
        truths = [json.loads(path.read_text()) for path in folder.glob("truth.*.jsonl")]
        check_equal(len(truths), 2, "processes that wrote what they called")
        pids = [row["pid"] for row in recording.table("processes")]
        nameless = [row for row in rows if not row["memory_domain"] and row["function"].startswith("uct_")]
        check_equal(nameless, [], "calls about a memory domain that has no name")
        for truth in truths:
            mine = [row for row in rows if pids[row["process"]] == truth["pid"]]
            calls = Counter(row["function"] for row in mine)
            check_equal({name: calls[name] for name in PER_PROCESS}, {name: truth[name] for name in PER_PROCESS},
                        f"calls of process {truth['pid']}")
            maps = [row for row in mine if row["function"] == "ucp_mem_map"]
            check_equal(sum(row["status"] != "UCS_OK" for row in maps), truth["failed"], "mappings that failed")
            check_equal(sum(row["bytes"] for row in maps), truth["bytes"], "bytes mapped")
            live = [r for r in mine if r["action"] == "registration" and r["status"] == "UCS_OK"
                    and not r["repeats"] and r["t_until_ns"] < 0]
            check_equal(live, [], "registrations that the program ended")
            for row in mine:
                check(row["t_start_ns"] <= row["t_end_ns"], f"time of {row}")


def messages_say_what_was_registered(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("exchange", folder / "truth"))
        check_complete(recording.info, processes=mpi.ranks)
        rows = check_sums(recording)
        messages = recording.messages
        of_message = Counter()
        processes = recording.table("processes")
        for row in rows:
            if row["message"] < 0:
                continue
            message = messages[row["message"]]
            sides = (message["src_process"], message["dst_process"])
            check(processes[row["process"]]["key"] in sides, f"{row} is of no side of {message}")
            if row["outermost"]:
                of_message[message["id"]] += row["t_end_ns"] - row["t_start_ns"]
        for message in messages:
            check_equal(message["registration_ns"], of_message[message["id"]], f"registration of {message}")
        uses = report(recording.folder)["registration_use"]
        for use in uses:
            check_equal(use["found"] + use["registered"], use["operations"], f"{use}")
        check(of_message, "no registration is of a message")
        longest = max(of_message, key=of_message.get)
        told = run_well([TOOL, "messages", recording.folder, "--id", str(longest)]).stdout
        check("Registered" in told and "made memory known to others" in told, f"the receipt: {told}")
        src = str(messages[longest]["src"])
        part = report(recording.folder, "--src", src)["registration"]
        mine = [row for row in rows if row["message"] >= 0 and str(messages[row["message"]]["src"]) == src]
        check_equal(sum(row["calls"] for row in part), len(mine), f"calls for messages of rank {src}")


def a_child_unmaps_what_its_parent_mapped():
    """It is the end of a registration that only the parent's records have."""
    program = PROGRAMS / "memory_life"
    with scratch() as folder:
        alone = run_well([program, folder / "alone", "child-unmaps"], env=QUIET)
        result, recording = record_well(folder / "data", [program, folder / "truth", "child-unmaps"], env=QUIET)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        identity = next(i for i in recording.info["identities"] if i["name"] == "deregistrations")
        rows = recording.named_table("memory_calls")
        ends = [r for r in rows if r["action"] == "deregistration" and r["status"] == "UCS_OK" and not r["repeats"]]
        check_equal(identity["left"], len(ends), "deregistrations")
        own = sum(r["action"] == "registration" and r["t_until_ns"] >= 0 for r in rows)
        check(len(ends) > own, f"the child ended more than it began: {len(ends)} deregistrations, {own} own registrations")


def a_missed_registration_goes_red():
    """A deregistration without a recorded registration."""
    with scratch() as folder:
        _, recording = record_well(folder / "data", [PROGRAMS / "memory_life", folder / "truth"],
                                   env={**QUIET, "UCTRACE_LEAVE_OUT": REGISTER})
        red = [i["name"] for i in recording.info["identities"] if i["result"] == "violated"]
        check_equal(red, ["hooks", "deregistrations"], "identities violated: a hook that is left out is one as well")


CASES = {
    "life": every_circumstance_is_recorded,
    "ompi": lambda: messages_say_what_was_registered("ompi"),
    "mpich": lambda: messages_say_what_was_registered("mpich"),
    "forked": a_child_unmaps_what_its_parent_mapped,
    "missed": a_missed_registration_goes_red,
}

run_test(lambda case: CASES[case]())
