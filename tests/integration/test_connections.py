"""When connections were made and first used, and the waits for them: the table of endpoints, its
report, and messages without the first of each pair."""

import json
from collections import Counter

from checks import check_complete
from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well


def asked(verb, folder, *options):
    return json.loads(run_well([TOOL, verb, folder, "--format", "json", *options]).stdout)


def check_rows(recording):
    rows, transfers = recording.named_table("connections"), recording.table("transfers")
    messages = recording.table("messages")
    check(rows, "there are endpoints")
    posted = Counter((row["process"], row["transport"], row["device"]) for row in transfers
                     if row["op"] not in ("iface_flush", "tag_recv_zcopy", "tag_recv_cancel"))
    found = Counter()
    for row in rows:
        found[row["process"], row["transport"], row["device"]] += row["operations"]
        check(row["message_operations"] + row["wireup_operations"] <= row["operations"], f"{row}")
        check_equal(row["first_message"] >= 0, row["message_operations"] > 0, f"first use of {row}")
        check_equal(row["t_first_use_ns"] >= 0, row["message_operations"] > 0, f"first use of {row}")
        if row["made_by"] == "ucp_endpoint":
            check(row["creation_ns"] >= 0 and row["ucp_endpoint"], f"its UCP endpoint: {row}")
        if row["first_message"] >= 0:
            message = messages[row["first_message"]]
            check(row["process"] in (message["src_process"], message["dst_process"]), f"{row}")
            check(row["t_created_ns"] <= row["t_first_use_ns"], f"used before it was made: {row}")
            check(row["waited_ns"] <= max(0, row["t_first_use_ns"] - message["t_start_ns"]), f"{row}")
        if row["payload_bytes"]:
            check(row["carried"], f"what it carried: {row}")
    check_equal(found, posted, "operations by process, transport and device")
    return rows


def check_report(recording, rows):
    report = asked("report", recording.folder, "--by", "connections")
    sums = {}
    for row in rows:
        one = sums.setdefault((row["transport"], row["device"], row["made_by"]), Counter())
        one.update(endpoints=1, unused=row["message_operations"] == 0, waited=row["waited_ns"] > 0,
                   waited_ns=row["waited_ns"], bytes=row["payload_bytes"],
                   connected=row["t_connected_ns"] > row["t_created_ns"])
    for found in report["connections"]:
        mine = sums.pop((found["transport"], found["device"], found["made_by"]))
        for key in ("endpoints", "unused", "waited", "waited_ns", "bytes", "connected"):
            check_equal(found[key], mine[key], f"{key} of {found}")
    check_equal(sums, {}, "endpoints that the report leaves out")
    slowest = sorted((row["waited_ns"] for row in rows if row["waited_ns"]), reverse=True)
    check_equal([row["waited_ns"] for row in report["slow_connections"]], slowest[:10], "the slowest")


def check_first(recording):
    """Leaves out exactly the first message of each pair."""
    messages = recording.messages
    met, later = set(), []
    for message in messages:
        pair = message["src_process"], message["dst_process"]
        if None in pair or pair in met:
            later.append(message["id"])
        met.add(pair)
    found = asked("messages", recording.folder, "--skip-first")["messages"]
    check_equal([message["id"] for message in found], later, "messages without the first ones")
    pairs = asked("report", recording.folder, "--skip-first", "--by", "pairs")["pairs"]
    check_equal(sum(row["messages"] for row in pairs), len(later), "messages of the report without these")


def check_receipt(recording, rows):
    used = next(row for row in rows if row["first_message"] >= 0)
    told = run_well([TOOL, "messages", recording.folder, "--id", str(used["first_message"])]).stdout
    check("Connected" in told and f"{used['transport']}/{used['device']}" in told, f"{told}")


def connections_are_told(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("exchange", folder / "truth"))
        check_complete(recording.info, processes=mpi.ranks)
        rows = check_rows(recording)
        check_report(recording, rows)
        check_first(recording)
        check_receipt(recording, rows)
        refused = run([TOOL, "report", recording.folder, "--by", "connections", "--src", "0"])
        check(refused.status == 125 and "leave the filters out" in refused.stderr, f"{refused}")


run_test(connections_are_told)
