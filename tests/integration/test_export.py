"""Exports to CSV and Perfetto have the store's content: all rows, all messages, between the same ranks.
The documents' Python examples are right."""

import csv
import json
import re
import subprocess
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

import perfetto
from exports import end_of_transfer, export, export_perfetto, pairs_of, python_with, recorded, reported_pairs
from harness import SOURCE_ROOT, check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well

# Sums over other tables, and tables with their own texts, which h5dump shows as bytes.
SUMS = {"facets", "message_sums", "hop_sums", "call_sums", "operation_sums", "transfer_sums", "path_steps",
        "traffic_classes", "class_steps", "cells", "cell_totals", "call_groups", "cell_slabs", "total_slabs",
        "slab_activity", "row_blocks"}
OF_TEXTS = {"run", "notes", "sources", "identities"}


# --- CSV -----------------------------------------------------------------------------------------


def as_csv(column, value):
    """A field, of a value of the store."""
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
        filled = check_tables(recording, folder / "csv")
        check({"messages", "hops", "transfers", "mpi_calls", "waits", "rank_times"} <= filled, f"rows are in {filled}")
        check_messages_are_told(recording, read_csv(folder / "csv" / "messages.csv"))
        check_pandas(recording, folder / "csv")


def check_tables(recording, folder):
    """Every table of the store except sums; and those with rows."""
    groups = {line.split()[0] for line in run_well([need("h5ls"), recording.folder / "run.h5"]).stdout.splitlines()}
    sheets = {path.stem for path in folder.iterdir()}
    check_equal(groups ^ sheets, SUMS | {"texts"}, "tables that have no file")
    filled = set()
    for table in sorted(sheets - OF_TEXTS):
        expected = [{c: as_csv(c, v) for c, v in row.items()} for row in recording.named_table(table)]
        found = read_csv(folder / f"{table}.csv")
        check_equal(len(found), len(expected), f"rows of {table}")
        for i, (row, right) in enumerate(zip(found, expected)):
            check_equal(row, right, f"row {i} of {table}")
        filled |= {table} if expected else set()
    return filled


def partitions_are_those_of_store():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["mpich"].job("partitioned"))
        export(recording, folder / "csv", "csv")
        filled = check_tables(recording, folder / "csv")
        partitions = {f"partition_{rows}" for rows in ("requests", "operations", "events", "lines")}
        check(partitions <= filled, f"rows are in {filled}")


def check_messages_are_told(recording, rows):
    """As `messages --format json` tells them."""
    for row, message in zip(rows, recording.messages, strict=True):
        for column in ("kind", "match", "initiator", "bytes", "mpi", "comm", "protocol", "t_start_ns", "t_end_ns"):
            told = "" if message[column] is None else str(message[column])
            check_equal(row[column], told, f"{column} of message {message['id']}")


def check_pandas(recording, folder):
    """pandas recognises the numbers."""
    python = python_with("pandas")
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
        trace = export_perfetto(recording, folder / "trace")
        check_tracks(recording, trace)
        check_slices(recording, trace)
        check_flows(recording, trace)
        check_rates(recording, trace)
        check_by_protoc(trace, folder / "trace")


def check_by_protoc(trace, path):
    """Another reader of the format finds the same events and tracks, and nothing unknown."""
    schema = Path(__file__).with_name("perfetto_trace.proto")
    command = [need("protoc"), f"--proto_path={schema.parent}", "--decode=perfetto.protos.Trace", schema.name]
    with path.open("rb") as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    check_equal((done.returncode, done.stderr), (0, ""), "protoc")
    lines = [line.strip() for line in done.stdout.splitlines()]
    unknown = [line for line in lines if line[:1].isdigit()]
    check_equal(unknown, [], "fields that Perfetto does not have")
    counts = Counter(line.removesuffix(" {") for line in lines)
    told = (counts["track_event"], counts["track_descriptor"], counts["clock_snapshot"])
    check_equal(told, (len(trace.events), len(trace.tracks), 1), "events, tracks and clock snapshots")
    for name, kind in (("TYPE_SLICE_BEGIN", perfetto.SLICE_BEGIN), ("TYPE_COUNTER", perfetto.COUNTER)):
        own = sum(event.kind == kind for event in trace.events)
        check_equal(counts[f"type: {name}"], own, name)


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
        schema = (SOURCE_ROOT / "docs" / "store-schema.md").read_text()
        largest = re.search(r"\n\n((?:    [^\n]*\n)+)", schema[schema.index("The ten largest messages") :])[1]
        lines = run_well([python, "-c", textwrap.dedent(largest)], cwd=folder).stdout.splitlines()
        sizes = sorted((m["bytes"] for m in recording.messages), reverse=True)[:10]
        check_equal([int(line.split()[2]) for line in lines], sizes, "the largest messages")


CASES = {"csv": rows_are_those_of_store, "partitions": partitions_are_those_of_store, "perfetto": trace_is_whole, "python": documents_are_right}
run_test(lambda case, *arguments: CASES[case](*arguments))
