"""Every form of UCP's put, get, atomic operations, flushes and active messages, without any MPI:
each call is recorded once under its own name, and each movement of data is one message."""

import json
from collections import Counter

from checks import check_complete, check_delivered, check_same_multiset
from harness import PROGRAMS, check, check_equal, record_well, run_test, run_well, scratch
from logs import Log

SETTINGS = {
    "all": {"UCX_TLS": "all"},
    "shared-memory": {"UCX_TLS": "posix,self"},
    "tcp": {"UCX_TLS": "tcp,self"},
    "protocols-v2": {"UCX_TLS": "all", "UCX_PROTO_ENABLE": "y"},
    "tcp-protocols-v2": {"UCX_TLS": "tcp,self", "UCX_PROTO_ENABLE": "y"},
}
MESSAGES = ("put", "get", "atomic", "am")
UNKNOWN = -1  # whom an answer goes to: the handler knows only an endpoint


def pid_of(process):
    return int(process.split(":")[3])  # host:boot:pid namespace:pid:start


def as_called(message):
    """A message in the words of the truth: by whom and to whom the call was made."""
    ends = [pid_of(message["src_process"]), pid_of(message["dst_process"])]
    by, to = ends if message["initiator"] == "src" else reversed(ends)
    return {**message, "by": by, "to": to}


def read_truth(prefix):
    rows = []
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.jsonl")):
        rows += [json.loads(line) for line in path.read_text().splitlines()]
    check(rows, f"the program left no truth at {prefix}")
    return rows


def check_functions(recording, truth):
    found = Counter()
    for log in map(Log, recording.logs):
        found.update((log.pid, function) for function in log.ucp_functions())
    expected = Counter((row["by"], row["function"].replace(" ", "_")) for row in truth)
    check_equal(found - expected, Counter(), "operations by function that nobody called")
    check_equal(expected - found, Counter(), "calls by function without an operation")


def plain_rma_is_recorded(setting):
    environment = SETTINGS[setting]
    program = PROGRAMS / "plain_rma"
    with scratch() as folder:
        alone = run_well([program], env=environment)
        result, recording = record_well(
            folder / "data", [program, folder / "truth"], env=environment
        )
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        check_delivered(recording.messages)

        truth = read_truth(folder / "truth")
        check_functions(recording, truth)
        called = [row for row in truth if row["kind"] in MESSAGES]
        messages = [as_called(message) for message in recording.messages]
        check_same_multiset(messages, called, ("kind", "by", "bytes"), "messages")
        known = [row for row in called if row["to"] != UNKNOWN]
        sent = Counter((m["kind"], m["by"], m["to"], m["bytes"]) for m in messages)
        told = Counter((row["kind"], row["by"], row["to"], row["bytes"]) for row in known)
        check_equal(told - sent, Counter(), "calls that are no message")
        for message in messages:
            check_equal(message["match"], "exact", f"match of {message}")
            for column in ("src", "dst", "mpi", "comm", "tag", "ucp_tag"):
                check_equal(message[column], None, f"{column} without MPI")


run_test(plain_rma_is_recorded)
