"""The programs that use UCP without MPI: running them, and their own account of their calls."""

import json

from harness import check

SETTINGS = {
    "all": {"UCX_TLS": "all"},
    "shared-memory": {"UCX_TLS": "posix,self"},
    "tcp": {"UCX_TLS": "tcp,self"},
    "protocols-v2": {"UCX_TLS": "all", "UCX_PROTO_ENABLE": "y"},
    "tcp-protocols-v2": {"UCX_TLS": "tcp,self", "UCX_PROTO_ENABLE": "y"},
}


def pid_of(process):
    return int(process.split(":")[3])  # host:boot:pid namespace:pid:start


def as_called(message):
    """A message in the form of the truth: the calling and the addressed process."""
    ends = [message["src_process"], message["dst_process"]]
    ends = [end and pid_of(end) for end in ends]
    by, to = ends if message["initiator"] == "src" else reversed(ends)
    return {**message, "by": by, "to": to}


def read_calls(prefix):
    rows = []
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.jsonl")):
        rows += [json.loads(line) for line in path.read_text().splitlines()]
    check(rows, f"the program left no truth at {prefix}")
    return rows
