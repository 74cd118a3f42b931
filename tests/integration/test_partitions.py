"""Partitioned messages: events, lines and waits against theory, the program's own clock, and the
figures of Thaerigen, Hermanns and Geimer (SC-W 2023)."""

import json
import re
from collections import Counter
from dataclasses import replace

from checks import check_complete
from harness import check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

DELAY_MS, REPETITIONS = 200, 2
SIDE_OF_WAIT = {"partitioned_late_sender": "receive", "partitioned_late_receiver": "send"}
# The job's clock counts ticks: its error against the system's clock, absolute and relative.
CLOCK_NS, DRIFT = 20_000, 1e-4
ONE_THREAD = ["nls,each,1,2,2", "fls,range,1,6,4", "fls,list,1,3,2", "fls,each,1,2,3", "vls,each,1,4,4",
              "late,each,1,2,2", "polls,each,1,2,2"]
THREADS = ["nls,each,2,1,3", "fls,list,2,3,4", "fls,range,3,2,4", "vls,each,4,2,3", "late,range,2,2,2"]
EVENT_KINDS = {"psend_init", "precv_init", "pready", "parrived", "ptested", "psend_request",
               "precv_request", "psend_complete", "precv_complete"}


def ask(recording, kind):
    result = recording.ask("partitions", "--list", kind, "--format", "json")
    check(result.status == 0, f"partitions --list {kind} failed: {result}")
    return json.loads(result.stdout)


def truth_of(result):
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return rows[:-1], rows[-1]


def record_scenarios(folder, mpi, mode, scenarios, switches=()):
    job = mpi.job("partitioned_waits", mode, DELAY_MS, REPETITIONS, *scenarios)
    result, recording = record_well(folder / "data", job, switches=switches)
    check_complete(recording.info, processes=mpi.ranks)
    return truth_of(result), recording


def overlaps(sends, receives, total):
    """The overlap of partitions, counted byte by byte."""
    return Counter((byte // (total // sends), byte // (total // receives)) for byte in range(total))


def wait_kinds(recording):
    """Names of the numbers in the column, as the store has them."""
    dump = run_well([need("h5dump"), "-a", "/waits/kind/values", recording.folder / "run.h5"]).stdout
    text = "".join(re.findall(r'"([^"]*)"', dump.partition("DATA {")[2]))
    return [name.strip() for name in text.split(",")]


class Found:
    """What uctrace says of the uses of requests, by tag and number of the use."""

    def __init__(self, recording):
        self.requests = ask(recording, "requests")
        self.uses = ask(recording, "uses")
        self.lines = ask(recording, "lines")
        self.waits = Counter()
        calls = recording.table("mpi_calls")
        self.times = {}  # by key and side
        of_call = {}
        for number, row in enumerate(recording.table("partition_operations")):
            key, side, complete = self.key(number), self.uses[number]["side"], row["complete_call"]
            of_call[complete, side] = key
            self.times[key, side] = {"ready": row["t_ready_ns"], "start": row["t_start_ns"],
                                     "wait": calls[complete]["t_start_ns"], "left": row["t_complete_ns"]}
        names = wait_kinds(recording)
        for wait in recording.table("waits"):
            side = SIDE_OF_WAIT.get(names[wait["kind"]])
            if side:
                check((wait["call"], side) in of_call, f"a wait of no partitioned message: {wait}")
                self.waits[of_call[wait["call"], side], side] += wait["ns"]

    def key(self, use):
        row = self.uses[use]
        return self.requests[row["request"]]["tag"], row["use"]


def check_requests(found, scenarios):
    check_equal(len(found.requests), 2 * len(scenarios), "requests")
    for number, request in enumerate(found.requests):
        _, _, threads, each, receives = scenarios[request["tag"] - 100].split(",")
        sends = int(threads) * int(each)
        check_equal(request["match"], "matched", "match")
        check_equal(request["starts"], REPETITIONS, "starts")
        check_equal(request["bytes"], sends * int(receives), "bytes")
        check_equal(request["partitions"],
                    sends if request["side"] == "send" else int(receives), "partitions")
        partner = found.requests[request["partner"]]
        check_equal((partner["partner"], partner["tag"]), (number, request["tag"]), "partner")


def check_times(found, truth):
    """All calls were entered between the program's readings before and after them: one clock offset fits
    all."""
    spans = []
    for row in truth:
        key = row["tag"], row["use"]
        send, receive = found.times[key, "send"], found.times[key, "receive"]
        spans += [(send["ready"], row["ready"]), (send["wait"], row["send_wait"]),
                  (receive["start"], row["start"]), (receive["wait"], row["receive_wait"])]
    least = max(before - entered for entered, (before, _) in spans)
    most = min(after - entered for entered, (_, after) in spans)
    length = max(entered for entered, _ in spans) - min(entered for entered, _ in spans)
    check(least <= most + CLOCK_NS + DRIFT * length, f"no distance fits: {least} to {most} ns, {spans}")


def wait_ns(times, other_ns):
    return max(0, min(other_ns, times["left"]) - times["wait"])


def check_waits(found, truth):
    """The formulas on the found times; and none longer than the program's clock allows."""
    for row in truth:
        key = row["tag"], row["use"]
        send, receive = found.times[key, "send"], found.times[key, "receive"]
        was_done = send["left"] < receive["start"]  # it did not wait for the receive
        formulas = {"receive": wait_ns(receive, send["ready"]),
                    "send": 0 if was_done else wait_ns(send, receive["start"])}
        most = {"receive": row["ready"][1] - row["receive_wait"][0], "send": row["start"][1] - row["send_wait"][0]}
        for side, ns in formulas.items():
            told = found.waits[key, side]
            check(abs(told - ns) <= CLOCK_NS, f"{row}: {side} waited {told} ns, {ns} ns by the formula")
            check(told <= max(0, most[side]) * (1 + DRIFT) + CLOCK_NS, f"{row}: {side} waited {told} ns")


def check_lines(found, truth):
    lines = {}
    for line in found.lines:
        lines.setdefault(found.key(line["send"]), []).append(line)
        check_equal(found.key(line["send"]), found.key(line["receive"]), "both ends of a line")
        check_equal((line["src"], line["dst"]), (0, 1), "ranks")
        check(line["after_ns"] >= -CLOCK_NS, f"it arrived before it was ready: {line}")
    for row in truth:
        own = lines[row["tag"], row["use"]]
        parts = Counter({(line["send_partition"], line["receive_partition"]): line["bytes"] for line in own})
        check_equal(parts, overlaps(row["sends"], row["receives"], row["bytes"]), f"lines of {row}")
        if (row["sends"], row["receives"]) == (3, 2):  # figure 8 (c)
            check_equal([line["bytes"] for line in own], [2, 1, 1, 2], "figure 8 (c)")
        if row["variant"] == "polls":
            check_equal({line["by"] for line in own}, {"MPI_Parrived"}, "the program polled for all")
        if row["variant"] == "fls":  # asked before anything was ready
            check_equal({line["by"] for line in own}, {"completion"}, "seen by")


def check_events(events, scenarios, answers, polls):
    kinds = Counter(event["event"] for event in events)
    check(set(kinds) <= EVENT_KINDS, f"other events: {kinds}")
    sends = sum(int(threads) * int(each) for _, _, threads, each, _ in
                (text.split(",") for text in scenarios))
    uses = len(scenarios) * REPETITIONS
    check_equal(kinds["pready"], sends * REPETITIONS, "pready")
    check_equal(kinds["parrived"], answers["found"], "parrived")
    counted = sum(row["calls"] for row in polls)
    check_equal(kinds["ptested"] + counted, answers["not_found"], "calls that found nothing")
    for kind in ("psend_request", "precv_request", "psend_complete", "precv_complete"):
        check_equal(kinds[kind], uses, kind)
    for kind in ("psend_init", "precv_init"):
        check_equal(kinds[kind], len(scenarios), kind)
    return kinds


def check_ways(mpi, recording):
    """MPICH sends all partitions of a message when the last one is made ready: that one was late."""
    if mpi.name != "mpich":
        return
    messages = {message["id"]: message for message in recording.messages}
    late = [wait for wait in json.loads(recording.ask("waits", "--format", "json").stdout)["waits"]
            if wait["kind"] == "partitioned_late_sender"]
    check(late and all(wait["way"] for wait in late), f"ways of late messages: {late}")
    by_call = recording.named_table("waits")
    named = {row["message"] for row in by_call if row["kind"] == "partitioned_late_sender" and row["ns"] > 0}
    check_equal({messages[message]["mpi"] for message in named} - {"MPI_Pready", "MPI_Pready_range", "MPI_Pready_list"},
                set(), "who sent what was late")
    check(all(messages[message]["wait_ns"] > 0 for message in named), "waits of messages")


def waits_are_those_of_the_paper(mpi):
    for mode, scenarios in (("single", ONE_THREAD), ("threads", THREADS)):
        with scratch() as folder:
            (truth, answers), recording = record_scenarios(folder, mpi, mode, scenarios)
            found = Found(recording)
            check_requests(found, scenarios)
            check_times(found, truth)
            check_waits(found, truth)
            check_ways(mpi, recording)
            check_lines(found, truth)
            events = ask(recording, "events")
            check_events(events, scenarios, answers, ask(recording, "polls"))
            if mode == "threads":
                of_threads = {event["lane"] for event in events if event["event"] == "pready"}
                check(len(of_threads) > 1, f"partitions of one thread alone: {of_threads}")


def polls_are_recorded_on_request(mpi):
    scenarios = ["fls,range,1,3,2", "polls,each,1,2,2"]
    with scratch() as folder:
        (_, answers), recording = record_scenarios(folder, mpi, "single", scenarios[:1], ["--polls"])
        check_equal(ask(recording, "polls"), [], "calls that were only counted")
        kinds = check_events(ask(recording, "events"), scenarios[:1], answers, [])
        check(kinds["ptested"] > 0, f"nothing was asked in vain: {kinds}")
    with scratch() as folder:
        (_, answers), recording = record_scenarios(folder, mpi, "single", scenarios[1:])
        polls = ask(recording, "polls")
        kinds = check_events(ask(recording, "events"), scenarios[1:], answers, polls)
        check(kinds["ptested"] < answers["not_found"] / 10,
              f"a loop that polls fills the log: {kinds}, {answers}")
        check_equal([row["rank"] for row in polls], [1], "who polled")
        check(0 < polls[0]["time_ns"] <= answers["asked_ns"] * (1 + DRIFT) + CLOCK_NS,
              f"time of the polls: {polls}, {answers}")


def partitions_are_told(mpi_name):
    mpi = replace(MPIS[mpi_name], ranks=2)
    waits_are_those_of_the_paper(mpi)
    polls_are_recorded_on_request(mpi)


run_test(partitions_are_told)
