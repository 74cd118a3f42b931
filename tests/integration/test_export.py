"""Exports hold what the store holds: all rows, all messages, between the same ranks."""

import csv
import json
import re
import sys
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

import perfetto
from harness import (
    Skip, SOURCE_ROOT, TOOL, check, check_equal, in_private_mounts, need, need_private_mounts, run, run_test, run_well,
    scratch,
)
from mpi_jobs import MPIS
from recordings import Recording, record_well
from stores import check_one_line, copy_of, generate, record_four

TABLES = ("messages", "hops", "transfers", "ucp_operations", "mpi_calls", "wait_shares", "processes", "communicators",
          "communicator_members", "datatypes", "frames", "stacks", "stack_frames", "call_sites")
ENUMERATIONS = {
    "kind": ["tag", "am", "stream", "put", "get", "atomic"],
    "match": ["exact", "inferred", "ambiguous", "unmatched", "outside_window"],
    "initiator": ["src", "dst"],
    "issued_by": ["src", "dst"],
    "protocol_from": ["none", "ucx", "derived"],
    "role": ["data", "control", "staging"],
    "link": ["exact", "inferred", "ambiguous", "reason", "unattributed"],
    **{name: ["unknown", "host", "gpu", "managed"]
       for name in ("src_memory", "dst_memory", "from_memory", "to_memory", "memory")},
    **{name: ["clock", "mpi_call", "arrival", "post"]
       for name in ("t_start_from", "t_end_from", "t_posted_recv_from", "t_last_from")},
}


def export(recording, path, to, *options):
    result = run_well([TOOL, "export", recording.folder, "--to", to, "-o", path, *options])
    check_equal(result.stdout, f"{path}\n", "what is printed")
    return result


def recorded(mpi_name, folder, program="attribution", *arguments):
    mpi = MPIS[mpi_name]
    _, recording = record_well(folder / "data", mpi.job(program, *arguments), switches=["--stacks", "mpi"])
    check(recording.messages, "the job has no messages")
    return recording


def pairs_of(messages):
    """{(src, dst): [messages, bytes]} of what `report --by pairs` counts."""
    pairs = defaultdict(lambda: [0, 0])
    for message in messages:
        pair = pairs[message["src"], message["dst"]]
        pair[0] += 1
        pair[1] += message["bytes"]
    return dict(pairs)


def reported_pairs(recording):
    return json.loads(run_well([TOOL, "report", recording.folder, "--by", "pairs", "--format", "json"]).stdout)["pairs"]


def python_with(*modules):
    """Debian's modules are there for Debian's Python alone."""
    for python in ("/usr/bin/python3", sys.executable):
        if Path(python).exists() and run([python, "-c", f"import {', '.join(modules)}"]).status == 0:
            return python
    raise Skip(f"no Python here has {' and '.join(modules)}")


def end_of_transfer(row):
    return row["t_end_ns"] if row["t_complete_ns"] < 0 else row["t_complete_ns"]


# --- CSV -----------------------------------------------------------------------------------------


def as_csv(column, value):
    """A field, of a value of the store."""
    if column in ENUMERATIONS:
        return ENUMERATIONS[column][value]
    if column.startswith("t_") and column.endswith("_ns") or column in ("created_ns", "freed_ns"):
        return "" if value == -1 else str(value)
    text = str(value)
    return "'" + text if isinstance(value, str) and text.startswith(tuple("=+-@")) else text


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def rows_are_those_of_store(mpi_name):
    with scratch() as folder:
        recording = recorded(mpi_name, folder)
        export(recording, folder / "csv", "csv")
        for table in TABLES:
            expected = [{c: as_csv(c, v) for c, v in row.items()} for row in recording.table(table)]
            found = read_csv(folder / "csv" / f"{table}.csv")
            check_equal(len(found), len(expected), f"rows of {table}")
            for i, (row, right) in enumerate(zip(found, expected)):
                check_equal(row, right, f"row {i} of {table}")
        check_messages_are_told(recording, read_csv(folder / "csv" / "messages.csv"))
        check_pandas(recording, folder / "csv")


def check_messages_are_told(recording, rows):
    """As `messages --format json` tells them."""
    for row, message in zip(rows, recording.messages, strict=True):
        for column in ("kind", "match", "initiator", "bytes", "mpi", "comm", "protocol", "t_start_ns", "t_end_ns"):
            told = "" if message[column] is None else str(message[column])
            check_equal(row[column], told, f"{column} of message {message['id']}")


def check_pandas(recording, folder):
    """That pandas takes numbers for numbers."""
    try:
        python = python_with("pandas")
    except Skip as reason:
        print(f"{reason}: not tried")
        return
    ask = """
import json, sys, pandas
sums = pandas.read_csv(sys.argv[1]).groupby(["src", "dst"])["bytes"].agg(["count", "sum"])
print(json.dumps([[*map(int, pair), *map(int, row)] for pair, row in zip(sums.index, sums.values)]))
"""
    told = json.loads(run_well([python, "-c", ask, folder / "messages.csv"]).stdout)
    found = {(src, dst): [count, total] for src, dst, count, total in told}
    check_equal(found, pairs_of(recording.messages), "pairs of ranks in pandas")


# --- Perfetto ------------------------------------------------------------------------------------


def trace_is_whole(mpi_name):
    with scratch() as folder:
        recording = recorded(mpi_name, folder)
        export(recording, folder / "trace", "perfetto")
        trace = perfetto.read_trace(folder / "trace")
        perfetto.close_slices(trace)
        check_tracks(recording, trace)
        check_slices(recording, trace)
        check_flows(recording, trace)
        check_rates(recording, trace)


def check_tracks(recording, trace):
    names = [f"rank {p['rank']} {p['host']} pid {p['pid']}" for p in recording.table("processes")]
    check_equal(list(trace.processes.values()), names, "processes of the trace")
    check_equal(trace.clocks[perfetto.BOOTTIME], 0, "the origin of the job clock")
    check(trace.clocks[perfetto.REALTIME] > 10**18, f"the wall clock does not tell when the run was: {trace.clocks}")
    check_equal(set(trace.units.values()), {"bytes/s"}, "units of counters")


def check_slices(recording, trace):
    """One slice a row, with its name, in its process, from start to end."""
    processes = list(trace.processes.values())

    def compare(table, category, name, end):
        rows = [(processes[r["process"]], r[name], r["t_start_ns"], end(r)) for r in recording.table(table)]
        slices = [(trace.process_of(e.track), e.name, e.time_ns, e.end_ns)
                  for e in trace.of(category, perfetto.SLICE_BEGIN)]
        check_equal(Counter(slices), Counter(rows), f"slices of {table}")

    compare("mpi_calls", "mpi", "function", lambda r: r["t_end_ns"])
    compare("ucp_operations", "ucp", "function", lambda r: r["t_end_ns"])
    compare("transfers", "uct", "op", end_of_transfer)


def check_flows(recording, trace):
    """An arrow for each message, between the processes of its ends."""
    ends = defaultdict(list)
    for event in trace.events:
        for flow in event.flows:
            ends[flow].append(trace.process_of(event.track))
    names = {str(p["rank"]): name for p, name in zip(recording.table("processes"), trace.processes.values())}
    expected = {message["id"] + 1: sorted([names[str(message["src"])], names[str(message["dst"])]])
                for message in recording.messages if message["match"] in ("exact", "inferred")}
    check_equal({flow: sorted(found) for flow, found in ends.items()}, expected, "ends of flows")


def check_rates(recording, trace):
    """The areas under the counters are the bytes that ranks sent and received."""
    series = defaultdict(list)
    for event in trace.events:
        if event.kind == perfetto.COUNTER:
            series[event.track].append((event.time_ns, event.value))
    found = Counter()
    for track, values in series.items():
        area = sum(rate * (after - at) for (at, rate), (after, _) in zip(values, values[1:]))
        check_equal(values[-1][1], 0, "the rate at the end")
        found[trace.process_of(track).split()[1], trace.tracks[track][0]] += round(area / 1e9)
    expected = Counter()
    for pair in reported_pairs(recording):
        expected[str(pair["src"]), "sent"] += pair["bytes"]
        expected[str(pair["dst"]), "received"] += pair["bytes"]
    check_equal(+found, +expected, "bytes of ranks")


# --- OTF2 ----------------------------------------------------------------------------------------

PARTITIONED = {"MPI_Psend_init": "PsendInit", "MPI_Precv_init": "PrecvInit", "MPI_Pready": "Pready",
               "MPI_Pready_range": "Pready", "MPI_Pready_list": "Pready", "MPI_Parrived": "Parrived"}
READING_S = 200  # in Python, record by record, on a busy machine
COLLECTIVES = {"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
               "MPI_Allreduce", "MPI_Reduce", "MPI_Scan"}
ROOTED = {"MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Reduce"}


def export_otf2(recording, path, *options):
    """What OTF2's own Python module reads of an archive that its own tool finds nothing wrong with."""
    result = run([TOOL, "export", recording.folder, "--to", "otf2", "-o", path, *options])
    if "built without the OTF2 library" in result.stderr:
        raise Skip(result.stderr.strip())
    check_equal((result.status, result.stdout), (0, f"{path}\n"), f"status and output of {result}")
    anchor = path / "traces.otf2"
    run_well([need("otf2-print"), "--silent", anchor])
    reader = [python_with("otf2"), SOURCE_ROOT / "tests" / "integration" / "read_otf2.py", anchor]
    return json.loads(run_well(reader, timeout=READING_S).stdout)


def sums_of(messages):
    pairs = defaultdict(lambda: [0, 0])
    for _, src, dst, length, *_ in messages:
        pairs[src, dst][0] += 1
        pairs[src, dst][1] += length
    return {pair: tuple(sums) for pair, sums in pairs.items()}


def check_otf2_messages(recording, found):
    """Between all pairs of ranks as many messages and bytes as `report` counts, sent and received."""
    one_sided = ("put", "get", "atomic")
    # Who gets data asks the one whose data they are.
    moved = [m if m[0] != "get" else [m[0], m[2], m[1], *m[3:]] for m in found["messages"]]
    sent = [m for m in moved if m[0] in ("send", "isend", *one_sided)]
    reported = {(p["src"], p["dst"]): (p["messages"], p["bytes"]) for p in reported_pairs(recording)}
    check_equal(sums_of(sent), reported, "messages sent in the archive")
    received = [m for m in moved if m[0] in ("recv", "irecv", *one_sided)]
    check_equal(sums_of(received), reported, "messages received in the archive")
    by_id = {m["id"]: m for m in recording.messages}
    for kind, *_, tag, comm, region, attributes in sent:
        message = by_id[attributes["uctrace.message"]]
        check_equal(attributes.get("uctrace.protocol"), message["protocol"], f"protocol of {message}")
        if message["mpi"] is not None:
            check_equal(region, message["mpi"], f"the call that has {message}")
        check_equal(kind, message["kind"] if kind in one_sided else kind, f"kind of {message}")
        if kind not in one_sided:
            check_equal(tag, 0xFFFFFFFF if message["tag"] is None else message["tag"], f"tag of {message}")
        if message["comm"] is not None and comm != "all processes":
            check_equal(comm.split(" (")[0], message["comm"], f"communicator of {message}")
    check(any(comm != "all processes" for *_, comm, _, _ in sent), "no message has its communicator")


def check_otf2_spans(recording, found):
    processes = found["processes"]

    def compare(table, name, end, is_of):
        rows = [(r["process"], r[name], r["t_start_ns"], end(r)) for r in recording.table(table)]
        spans = [(process, region, start, stop) for process, location, region, start, stop, *_ in found["spans"]
                 if is_of(location)]
        check_equal(Counter(spans), Counter(rows), f"regions of {table}")

    names = [f"rank {p['rank']} {p['host']} pid {p['pid']}" for p in recording.table("processes")]
    check_equal(processes, names, "processes of the archive")
    check_equal(found["resolution"], 10**9, "ticks a second")
    compare("mpi_calls", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("MPI thread"))
    compare("ucp_operations", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("UCP "))
    compare("transfers", "op", end_of_transfer, lambda location: location.startswith("UCT "))
    carried = Counter((s[5]["uctrace.transport"], s[5]["uctrace.device"]) for s in found["spans"]
                      if s[1].startswith("UCT "))
    check_equal(carried, Counter((t["transport"], t["device"]) for t in recording.table("transfers")), "transports")
    bytes_of = lambda rows, payload, wire: [sum(r[column] for r in rows) for column in (payload, wire)]
    check_equal(bytes_of([s[5] for s in found["spans"] if s[1].startswith("UCT ")],
                         "uctrace.payload_bytes", "uctrace.wire_bytes"),
                bytes_of(recording.table("transfers"), "payload_bytes", "wire_bytes"), "payload and wire bytes")


def check_otf2_calls(recording, found):
    """Collective operations with their roots, and the lines that call."""
    names = {c["name"]: c["user_name"] for c in recording.table("communicators")}
    calls = recording.table("mpi_calls")
    expected = Counter((c["process"], c["function"], c["bytes"], c["recv_bytes"]) for c in calls
                       if c["function"] in COLLECTIVES)
    collectives = Counter((process, function, sent, received)
                          for process, function, _, _, _, sent, received in found["collectives"]
                          if function in COLLECTIVES)
    check_equal(collectives, expected, "collective operations")
    check(expected, "the job has no collective operation")
    for _, function, op, comm, root, *_ in found["collectives"]:
        check_equal(op.split(".")[1].lower().replace("_", ""),
                    function.removeprefix("MPI_").lower().replace("_", ""), f"operation of {function}")
        check(comm.rpartition("(")[2].rstrip(")") in names or comm in names, f"unknown communicator {comm}")
        check_equal(root is not None, function in ROOTED, f"a root of {function}")
    functions = {f["function"] for f in recording.table("frames")}
    paths = [s[5].get("uctrace.call_path") for s in found["spans"] if s[1].startswith("MPI thread")]
    check(any(path and "main" in path[:-1] + path[-1:] for path in paths), "no call path leads from main")
    check(all(set(path) <= functions for path in paths if path), "call paths of functions that no stack has")


def archive_is_whole(mpi_name):
    with scratch() as folder:
        recording = recorded(mpi_name, folder)
        found = export_otf2(recording, folder / "archive")
        check_otf2_spans(recording, found)
        check_otf2_messages(recording, found)
        check_otf2_calls(recording, found)


def other_programs():
    """One-sided operations, and communicators of which ranks are others than in the world."""
    with scratch() as folder:
        for program in ("rma", "communicators"):
            mpi = MPIS["ompi"]
            options = [*mpi.transport_options, "--mca", "osc", "ucx"]
            _, recording = record_well(folder / program, mpi.job(program, folder / "truth", options=options))
            found = export_otf2(recording, folder / f"{program}.otf2")
            check_otf2_spans(recording, found)
            check_otf2_messages(recording, found)
            kinds = {m["kind"] for m in recording.messages}
            check(program != "rma" or {"put", "get"} <= kinds, f"kinds of messages: {kinds}")
            check_members(recording, found)


def check_members(recording, found):
    members = recording.table("communicator_members")
    archive = dict(found["communicators"])
    for row in recording.table("communicators"):
        if not row["complete"] or row["remote_size"] or row["world"] != 0:
            continue
        runs = members[row["first_member"] : row["first_member"] + row["members"]]
        ranks = [m["first"] + i * m["stride"] for m in runs for i in range(m["count"])]
        name = f"{row['user_name']} ({row['name']})" if row["user_name"] else row["name"]
        check_equal(archive.get(name), ranks, f"members of {name}")


def partitions_are_marked():
    """The events of partitioned communication on Enter records, and their sends where they are wanted."""
    with scratch() as folder:
        mpi = MPIS["mpich"]
        _, recording = record_well(folder / "data", mpi.job("partitioned", folder / "truth"))
        ready = [m for m in recording.messages if (m["mpi"] or "").startswith("MPI_Pready")]
        check(ready, "no message of partitions")
        for mirror, region in (("last-pready", "MPI_Pready_list"), ("start", "MPI_Startall"), ("none", None)):
            found = export_otf2(recording, folder / mirror, "--p2p-mirror", mirror)
            ids = {m["id"] for m in ready}
            regions = Counter(m[6] for m in found["messages"]
                              if m[0] in ("send", "isend") and m[7]["uctrace.message"] in ids)
            check_equal(regions, Counter({region: len(ids)} if region else {}), f"calls with sends, {mirror}")
        events = Counter((s[2], s[5]["mpi.part.event"]) for s in found["spans"] if "mpi.part.event" in s[5])
        calls = Counter(c["function"] for c in recording.table("mpi_calls"))
        expected = {(function, event): calls[function] for function, event in PARTITIONED.items() if calls[function]}
        check_equal(dict(events), expected, "events of partitioned communication")
        inits = [s[5] for s in found["spans"] if s[2] == "MPI_Psend_init"]
        check(inits and all({"mpi.part.peer", "mpi.part.tag", "mpi.part.comm"} <= set(a) for a in inits), f"{inits}")


# --- what is not as it should be -------------------------------------------------------------------


def nothing_is_overwritten():
    with scratch() as folder:
        generate(folder / "data", 2000)
        for to in ("csv", "perfetto", "otf2"):
            for existing in ("folder", "file", "link"):
                path = folder / f"{to}-{existing}"
                {"folder": path.mkdir, "file": path.touch, "link": lambda: path.symlink_to("nowhere")}[existing]()
                result = run([TOOL, "export", folder / "data", "--to", to, "-o", path])
                if "built without the OTF2 library" in result.stderr:
                    continue
                check_one_line(result, f"'{path}'", "is there already", "-o PATH")
                check_equal(path.is_symlink() or not path.is_dir() or list(path.iterdir()) == [], True, f"{path} is as it was")
        check_one_line(run([TOOL, "export", folder / "data"]), "--to is required")
        check_one_line(run([TOOL, "export", folder / "data", "--to", "csv", "-o", folder / "missing" / "csv"]),
                       "No such file or directory", "-o PATH")
        check_one_line(run([TOOL, "export", folder / "nothing", "--to", "csv"]), "nothing")
        # Without -o, beside the data.
        result = run_well([TOOL, "export", "data/", "--to", "csv"], cwd=folder)
        check_equal(result.stdout, f"{folder.resolve() / 'data.csv'}\n", "the name of the export")


# A private mount namespace with a small tmpfs on $1; what is left there is copied to $2.
FULL = """
mount -t tmpfs -o size=100k tmpfs "$1"
disk=$1; copy=$2; shift 2
status=0; "$@" || status=$?
cp -r "$disk/." "$copy"
exit $status
"""


def full_disk_is_an_error():
    need_private_mounts()
    with scratch() as folder:
        disk = folder / "disk"
        disk.mkdir()
        generate(folder / "data", 30000)
        run_well([TOOL, "info", folder / "data"])
        for to in ("csv", "perfetto", "otf2"):
            copy = folder / f"copy-{to}"
            copy.mkdir()
            result = run(in_private_mounts(FULL, disk, copy, TOOL, "export", folder / "data", "--to", to, "-o", disk / "x"))
            if "built without the OTF2 library" in result.stderr:
                continue
            check_one_line(result, "No space left on device", "make room")
            check_equal(result.stdout, "", f"what is printed of {to}")
            check_equal(list(copy.iterdir()), [], f"what is left of {to}")


def incomplete_runs_say_so():
    """Logs of a job that lack one of its ranks."""
    with scratch() as folder:
        recording = record_four(folder)
        part = copy_of(recording, folder / "part", ranks=slice(3))
        lost = [m for m in part.messages if m["match"] != "exact"]
        check(lost, "all messages have their other side")
        for to in ("csv", "perfetto", "otf2"):
            result = run([TOOL, "export", part.folder, "--to", to, "-o", folder / to])
            if "built without the OTF2 library" in result.stderr:
                continue
            check_equal(result.status, 0, f"status of {result}")
            unmatched = sum(m["match"] == "unmatched" for m in lost)
            said = f"{unmatched} messages of which the other side was not found"
            check(said in result.stderr, f"{said!r} is not said: {result}")
            where = {"csv": folder / "csv" / "notes.csv", "perfetto": folder / "perfetto",
                     "otf2": folder / "otf2" / "traces.otf2"}[to]
            check(said.encode() in where.read_bytes(), f"{said!r} is not in the export to {to}")


# --- the documents ---------------------------------------------------------------------------------


def documents_are_right():
    """The examples of docs/python.md and of docs/store-schema.md, run as they stand there."""
    python = python_with("h5py", "pandas")
    with scratch() as folder:
        recording = recorded("ompi", folder)
        recording.folder.rename(folder / "uctrace.data")
        recording = Recording(folder / "uctrace.data")
        export(recording, folder / "uctrace.data.csv", "csv")
        page = (SOURCE_ROOT / "docs" / "python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        check_equal(len(blocks), 4, "examples in python.md")
        tell = """
import json
tables = [{f"{s},{d}": [int(n) for n in row] for (s, d), row in zip(t.index, t.values)} for t in (pairs, same)]
columns = {c: [None if pd.isna(v) else v for v in messages[c].tolist()] for c in ("mpi", "t_start_ns", "t_posted_recv_ns")}
open("told", "w").write(json.dumps([tables, columns, int(by_function.sum()), int(waiting.count())]))
"""
        run_well([python, "-c", "\n".join(blocks) + tell], cwd=folder)
        tables, columns, mpi_ns, waits = json.loads((folder / "told").read_text())
        expected = {f"{src},{dst}": sums for (src, dst), sums in pairs_of(recording.messages).items()}
        check_equal(tables, [expected, expected], "pairs of ranks in the examples")
        for column, values in columns.items():
            told = [{None: "" if column == "mpi" else -1}.get(m[column], m[column]) for m in recording.messages]
            check_equal(values, told, f"{column} in the example")
        check_equal(mpi_ns, sum(c["t_end_ns"] - c["t_start_ns"] for c in recording.table("mpi_calls")), "time in MPI")
        check(waits > 0, "no wait has a known length")
        largest = re.search(r"^The file is .*?\n\n((?:    .*\n)+)", (SOURCE_ROOT / "docs" / "store-schema.md").read_text(),
                            re.DOTALL | re.MULTILINE)[1]
        lines = run_well([python, "-c", textwrap.dedent(largest)], cwd=folder).stdout.splitlines()
        sizes = sorted((m["bytes"] for m in recording.messages), reverse=True)[:10]
        check_equal([int(line.split()[2]) for line in lines], sizes, "the largest messages")


CASES = {"python": documents_are_right, "csv": rows_are_those_of_store, "perfetto": trace_is_whole, "otf2": archive_is_whole,
         "otf2_more": other_programs, "partitioned": partitions_are_marked, "existing": nothing_is_overwritten,
         "full": full_disk_is_an_error, "incomplete": incomplete_runs_say_so}
run_test(lambda case, *arguments: CASES[case](*arguments))
