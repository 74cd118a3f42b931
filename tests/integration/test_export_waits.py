"""Exports to Perfetto and OTF2 show which MPI calls waited, and the nine events of partitioned
communication, as in the tables of the store."""

from collections import Counter, defaultdict

import perfetto
from exports import export_otf2, export_perfetto
from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

DELAY_MS, REPETITIONS = 20, 2
SCENARIOS = ["fls,range,1,6,4", "fls,list,1,3,2", "vls,each,1,4,4"]
PAPER_NAMES = {"psend_init": "PsendInit", "precv_init": "PrecvInit", "pready": "Pready", "parrived": "Parrived",
               "ptested": "Ptested", "psend_request": "PsendRequest", "precv_request": "PrecvRequest",
               "psend_complete": "PsendComplete", "precv_complete": "PrecvComplete"}
WAIT = ("uctrace.wait.kind", "uctrace.wait.rank", "uctrace.wait.ns", "uctrace.wait.unknown", "uctrace.wait.unknown_ns")


class Calls:
    """Rows that are of MPI calls, by their calls."""

    def __init__(self, recording, table):
        self.calls = recording.table("mpi_calls")
        self.of = defaultdict(list)
        for row in recording.named_table(table):
            self.of[row["call"]].append(row)

    def place(self, number):
        call = self.calls[number]
        return call["process"], call["function"], call["t_start_ns"]


def rank_of(recording, process):
    return None if process < 0 else recording.table("processes")[process]["rank"]


def waits_in_perfetto(trace):
    processes = list(trace.processes.values())
    return {(processes.index(trace.process_of(e.track)), e.name, e.time_ns): e.arguments["waits"]
            for e in trace.of("mpi", perfetto.SLICE_BEGIN) if "waits" in e.arguments}


def check_perfetto_waits(recording, trace):
    def told(wait):
        entry = {"kind": wait["kind"], "ns": wait["ns"]}
        if wait["cause_process"] >= 0:
            entry["for rank"] = rank_of(recording, wait["cause_process"])
        if wait["message"] >= 0:
            entry["message"] = wait["message"]
        if wait["unknown"] != "none":
            entry |= {"unknown": wait["unknown"], "unknown ns": wait["unknown_ns"]}
        return entry

    waits = Calls(recording, "waits")
    expected = {waits.place(call): [told(wait) for wait in rows] for call, rows in waits.of.items()}
    check_equal(waits_in_perfetto(trace), expected, "waits of calls in Perfetto")


def calls_and_notes(found, region):
    """Attributes of calls by their place, and of notes of this name by process and time."""
    calls, notes = {}, []
    for process, location, name, start, _, attributes, _, role in found["spans"]:
        if name == region:
            check(role.endswith("ARTIFICIAL"), f"a note is a region of {role}")
            notes.append((process, start, attributes))
        elif location.startswith("MPI thread") and not role.endswith("ARTIFICIAL"):
            calls[process, name, start] = attributes
    return calls, notes


def check_otf2_waits(recording, found):
    """The only wait of a call at its Enter record; of several there the sum, and each as a note."""
    def told(wait):
        is_known = wait["unknown"] == "none"
        return (wait["kind"], rank_of(recording, wait["cause_process"]), wait["ns"],
                None if is_known else wait["unknown"], None if is_known else wait["unknown_ns"])

    def told_of_several(rows):
        ns = sum(wait["ns"] for wait in rows if not wait["kind"].endswith("_completion"))
        unknown_ns = sum(wait["unknown_ns"] for wait in rows)
        return None, None, ns or None, None, unknown_ns or None

    waits = Calls(recording, "waits")
    calls, notes = calls_and_notes(found, "uctrace.wait")
    expected = {waits.place(call): told(rows[0]) if len(rows) == 1 else told_of_several(rows)
                for call, rows in waits.of.items()}
    of_calls = {place: tuple(map(a.get, WAIT)) for place, a in calls.items() if not set(WAIT).isdisjoint(a)}
    expected = {place: values for place, values in expected.items() if any(value is not None for value in values)}
    check_equal(of_calls, expected, "waits of calls in OTF2")
    each = Counter((wait["process"], *told(wait)) for rows in waits.of.values() if len(rows) > 1 for wait in rows)
    check_equal(Counter((process, *map(a.get, WAIT)) for process, _, a in notes), each, "notes on waits in OTF2")
    return sum(each.values())


def waits_are_exported(mpi_name):
    mpi = MPIS[mpi_name]
    several = 0
    with scratch() as folder:
        for case in ("late_senders", "ring", "late_receiver", "allreduce") if mpi.ranks > 2 else ("ring", "late_receiver"):
            _, recording = record_well(folder / case, mpi.job("waits", case))
            check(recording.table("waits"), f"{case} has no waits")
            check_perfetto_waits(recording, export_perfetto(recording, folder / f"{case}.trace"))
            several += check_otf2_waits(recording, export_otf2(recording, folder / f"{case}.otf2"))
    check(several or mpi.ranks < 3, "no call has several waits")


# --- partitioned communication -----------------------------------------------------------------------


def check_perfetto_events(recording, trace):
    processes = list(trace.processes.values())
    found = Counter()
    for event in trace.of("partitions", perfetto.INSTANT):
        check_equal(trace.tracks[event.track][0], "partitioned messages", "track of events")
        a = event.arguments
        found[processes.index(trace.process_of(event.track)), event.name, event.time_ns, a["request"],
              a.get("use", -1), a.get("partition", -1), a["MPI thread"]] += 1
    columns = ("process", "kind", "t_ns", "request", "operation", "partition", "lane")
    expected = Counter(tuple(event[c] for c in columns) for event in recording.named_table("partition_events"))
    check_equal(found, expected, "events in Perfetto")


def check_otf2_events(recording, found):
    """The only event of a call at its Enter record, several as notes at their own times."""
    def told(a):
        return a["mpi.part.event"], a["mpi.part.request"], a.get("mpi.part.partition", -1)

    events = Calls(recording, "partition_events")
    calls, notes = calls_and_notes(found, "mpi.part.event")
    single, each = {}, Counter()
    for call, rows in events.of.items():
        for event in rows:
            expected = PAPER_NAMES[event["kind"]], event["request"], event["partition"]
            if len(rows) == 1:
                single[events.place(call)] = expected
            else:
                each[event["process"], event["t_ns"], *expected] += 1
    of_calls = {place: told(a) for place, a in calls.items() if "mpi.part.event" in a}
    check_equal(of_calls, single, "events of calls in OTF2")
    check_equal(Counter((process, time, *told(a)) for process, time, a in notes), each, "notes on events in OTF2")
    for request in recording.table("partition_requests"):
        a = calls[events.place(request["call"])]
        told = tuple(a[f"mpi.part.{name}"] for name in ("partitions", "peer", "tag", "bytes"))
        check_equal(told, tuple(request[c] for c in ("partitions", "peer", "tag", "bytes")), f"request {request}")
        check("mpi.part.comm" in a, f"no communicator: {a}")


def partitions_are_exported():
    mpi, kinds = MPIS["mpich"], Counter()
    with scratch() as folder:
        jobs = {"scenarios": mpi.job("partitioned_waits", "single", DELAY_MS, REPETITIONS, *SCENARIOS),
                "threads": mpi.job("partitioned_waits", "threads", DELAY_MS, REPETITIONS, "vls,each,2,2,3"),
                "several": mpi.job("partitioned")}
        for name, job in jobs.items():
            _, recording = record_well(folder / name, job, switches=["--polls"])
            kinds += Counter(event["kind"] for event in recording.named_table("partition_events"))
            trace = export_perfetto(recording, folder / f"{name}.trace")
            check_perfetto_events(recording, trace)
            check_perfetto_waits(recording, trace)
            found = export_otf2(recording, folder / f"{name}.otf2")
            check_otf2_events(recording, found)
            check_otf2_waits(recording, found)
            anchor = (folder / f"{name}.otf2" / "traces.otf2").read_bytes()
            check(b"MPIMON::PARTITIONED" in anchor, "the archive does not announce partitioned messages")
        check_equal(set(kinds), set(PAPER_NAMES), "kinds of events")


CASES = {"waits": waits_are_exported, "partitions": partitions_are_exported}
run_test(lambda case, *arguments: CASES[case](*arguments))
