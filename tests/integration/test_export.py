"""Exports hold what the store holds: all rows, all messages, between the same ranks."""

import csv
import json
from collections import Counter, defaultdict

import perfetto
from harness import Skip, TOOL, check, check_equal, in_private_mounts, need_private_mounts, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well
from stores import TOOL_FAILURE, check_one_line, generate

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
    try:
        import pandas
    except ImportError:
        print("pandas is not installed for this Python: not tried")
        return
    messages = pandas.read_csv(folder / "messages.csv")
    sums = messages.groupby(["src", "dst"])["bytes"].agg(["count", "sum"])
    found = {pair: list(map(int, row)) for pair, row in zip(sums.index, sums.values)}
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
    epoch = recording.info["epoch_realtime_ns"] if "epoch_realtime_ns" in recording.info else None
    check(trace.clocks[perfetto.BOOTTIME] == 0, f"clocks: {trace.clocks}")
    check(epoch in (None, trace.clocks[1]), f"the wall clock is not that of the run: {trace.clocks}")
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
    compare("transfers", "uct", "op", lambda r: max(r["t_complete_ns"], r["t_end_ns"]) if r["t_complete_ns"] < 0 else r["t_complete_ns"])


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
    table = json.loads(recording.ask("report", "--by", "pairs", "--format", "json").stdout)
    for pair in table["pairs"] if isinstance(table, dict) else table:
        expected[str(pair["src"]), "sent"] += pair["bytes"]
        expected[str(pair["dst"]), "received"] += pair["bytes"]
    check_equal(+found, +expected, "bytes of ranks")


CASES = {"csv": rows_are_those_of_store, "perfetto": trace_is_whole}
run_test(lambda case, *arguments: CASES[case](*arguments))
