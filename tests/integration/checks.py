"""Checks uctrace's results: messages against the truth written by test programs, data paths, and the
identities of a recording."""

import json
import re
from collections import Counter

from harness import UCX_UNDER_TEST, check, check_equal, run_well, scratch, uses_protocols_v2
from recordings import record_well

# --- truth ---------------------------------------------------------------------------------------


def read_truth(prefix, mpi):
    """The messages that the ranks claim to have sent. MPICH serves a communicator of one without
    UCX."""
    rows = []
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.jsonl")):
        rows += [json.loads(line) for line in path.read_text().splitlines()]
    if mpi.name == "mpich":
        rows = [row for row in rows if row["comm"] != "MPI_COMM_SELF"]
    check(rows, f"the program left no truth at {prefix}")
    return rows


def as_sent(message):
    """A message in the words of the truth file."""
    return {**message, "function": message["mpi"]}


def sent_like(truth, recording):
    """The recording's messages of the functions in `truth`, in its words. The library decides the
    tags of collectives, and whether it sends or copies a rank's own block."""
    tagged = {row["function"]: row["tag"] is not None for row in truth}
    messages = []
    for message in map(as_sent, recording.sent_by(*tagged)):
        if tagged[message["function"]]:
            messages.append(message)
        elif message["src"] != message["dst"]:
            messages.append({**message, "tag": None})
    return messages


def multiset(rows, columns):
    return Counter(tuple(row[column] for column in columns) for row in rows)


def _lines_of(counts, columns, word):
    def sortable(item):
        return [str(value) for value in item[0]]

    for values, count in sorted(counts.items(), key=sortable)[:10]:
        named = ", ".join(f"{column} {value}" for column, value in zip(columns, values))
        yield f"  {word} {count} x ({named})"
    if len(counts) > 10:
        yield f"  ... and {len(counts) - 10} more kinds that are {word}"


def check_same_multiset(found, expected, columns, what):
    found, expected = multiset(found, columns), multiset(expected, columns)
    missing, extra = expected - found, found - expected
    lines = [*_lines_of(missing, columns, "missing"), *_lines_of(extra, columns, "unexpected")]
    check(
        not lines,
        f"{what}: {sum(found.values())} found, {sum(expected.values())} expected\n"
        + "\n".join(lines),
    )


SENT_COLUMNS = ("src", "dst", "bytes", "tag", "function")


def check_messages_are(recording, truth, *, columns=(*SENT_COLUMNS, "comm")):
    """The recording's messages of the functions in `truth` are exactly those the ranks sent."""
    messages = sent_like(truth, recording)
    check_same_multiset(messages, truth, columns, "messages")
    check_delivered(messages)


def check_delivered(messages):
    """Each message was matched, arrived, and has a data path that carries all its bytes."""
    for message in messages:
        check_equal(message["status"], "UCS_OK", f"status of {message}")
        check(message["match"] in ("exact", "inferred"), f"not matched: {message}")
        check(message["path"], f"no data path: {message}")
        check(message["protocol"], f"no protocol: {message}")
        carried = Counter()
        for step in message["path"]:
            check(step["transport"] and step["device"] and step["op"], f"unnamed step: {message}")
            # The receiver's CPU copies from memory that it mapped: nothing passes through UCT.
            carried_by_uct = step["op"] != "cpu_copy"
            check(step["wire_bytes"] >= step["bytes"] * carried_by_uct, f"less than its payload: {message}")
            if step["role"] == "data":
                carried[step["hop"]] += step["bytes"]
        for hop, carried_bytes in carried.items():
            check_equal(carried_bytes, message["bytes"], f"payload of hop {hop} of {message}")
        check(carried or message["bytes"] == 0, f"nothing carried the payload: {message}")


COPIES = {"put": ("MPI_Put", "MPI_Rput"), "get": ("MPI_Get", "MPI_Rget")}


def check_copies(recording, truth):
    """The recording's puts and gets are exactly those that the ranks claim."""
    for kind, functions in COPIES.items():
        messages = [m for m in map(as_sent, recording.sent_by(*functions)) if m["kind"] == kind]
        expected = [row for row in truth if row["function"] in functions]
        columns = ("src", "dst", "bytes", "function", "comm")
        check_same_multiset(messages, expected, columns, f"messages of kind {kind}")
        check_delivered(messages)
        for message in messages:
            check_equal(message["match"], "exact", f"match of {message}")
            check_equal(message["initiator"], "src" if kind == "put" else "dst", f"{message}")


# --- identities ----------------------------------------------------------------------------------


def results_of(info):
    """{result: [names of identities]}"""
    results = {}
    for identity in info["identities"]:
        name = f"{identity['name']} ({identity['scope']}): {identity['left']} = {identity['right']}"
        results.setdefault(identity["result"], []).append(name)
    return results


def check_accounts(info):
    """The sums that hold in any recording, complete or not, from info's own numbers."""
    uct, messages = info["uct"], info["messages"]
    check_equal(
        uct["attributed_ucp"] + sum(uct["reasons"].values()) + uct["unattributed"],
        uct["posted_ok"],
        "UCT operations by reason",
    )
    check_equal(
        uct["completed"] + uct["outstanding"] + uct["without_handle"],
        uct["inprogress"],
        "UCT operations in progress",
    )
    check(messages["matched"] <= messages["sent"], f"more matched than sent: {messages}")
    if UCX_UNDER_TEST:
        check_ucx_under_test(info, UCX_UNDER_TEST)


def check_complete(info, *, layers=("uct", "ucp", "mpi"), processes=None):
    """A complete recording: every identity holds, with nothing dropped, unknown or ambiguous."""
    results = results_of(info)
    check(results.get("holds"), "there is no identity")
    holding = results.pop("holds")
    check(not results, f"identities that do not hold: {results}; {len(holding)} hold")
    check_equal(info["faults"], [], "faults")
    for layer in layers:
        check_equal(info["layers"][layer]["state"], "on", f"layer {layer}")
    check_accounts(info)
    check_equal(info["events"]["dropped"], 0, "dropped events")
    check_equal(info["uct"]["unattributed"], 0, "unattributed UCT operations")
    for name in ("unmatched", "ambiguous"):
        check_equal(info["messages"][name], 0, f"{name} messages")
    check(info["messages"]["matched"] > 0, "no message at all")
    for process in info["processes"]:
        check(process["complete"], f"incomplete process: {process}")
    if processes is not None:
        check_equal(len(info["processes"]), processes, "processes")


def check_ucx_under_test(info, wanted):
    """The job ran over the UCX under test, and its links have the required certainty."""
    for key in ("version", "mode", "protocols"):
        check_equal(info["ucx"].get(key), getattr(wanted, key), f"{key} of the UCX that was recorded")
    if wanted.mode == "rebuilt" or wanted.protocols == "v2":
        inferred = info["links"]["uct_ucp"]["inferred"]
        check_equal(inferred, 0, "UCT operations whose UCP operation is inferred")


def check_links(info, environment):
    """Every transfer is tied to its UCP operation by an id. With protocols v1 a few lack one: the
    first posts of an endpoint after wire-up. `environment` is the job's."""
    links = info["links"]["uct_ucp"]
    v2 = uses_protocols_v2(environment)
    check_equal(info["ucx"]["protocols"], "v2" if v2 else "v1", "protocols")
    check_equal(links["requests_not_carried"], 0, "requests without room")
    check(links["exact_with_payload"] > 0, f"nothing is exact: {links}")
    if v2:
        check_equal(links["inferred"], 0, "transfers tied by their content")
    else:
        inferred, exact = links["inferred_with_payload"], links["exact_with_payload"]
        check(inferred <= 0.001 * (inferred + exact), f"exact are less than 99.9 %: {links}")


def check_incomplete(info):
    """An incomplete recording: it says so, and reports no false violation."""
    results = results_of(info)
    check_equal(results.get("violated", []), [], "violated identities")
    check(results.get("incomplete"), f"no identity is marked incomplete: {results}")


def check_losses_are_told(result):
    """The number of lost records reported by `record`."""
    told = sum(int(n) for n in re.findall(r"([0-9]+) records were dropped", result.stderr))
    check(told > 0, f"record does not count what was dropped: {result}")
    return told


def check_program_is_recorded(mpi, program):
    """The job's output is the same with the tool, its messages are those claimed by its ranks, and
    the recording is complete."""
    with scratch() as folder:
        alone = run_well(mpi.job(program))
        result, recording = record_well(folder / "data", mpi.job(program, folder / "truth"))
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_messages_are(recording, read_truth(folder / "truth", mpi))
        check_complete(recording.info, processes=mpi.ranks)
