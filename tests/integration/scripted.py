"""The scripted transport (tests/scripted-transport) in recorded jobs, and its own log of requests,
which a recording must equal operation by operation."""

import json
from collections import Counter
from itertools import zip_longest

from harness import BUILD_ROOT, check, check_equal, ucx_version
from logs import Log

LIBRARY = BUILD_ROOT / "tests" / "scripted-transport" / "libscripted_transport.so"
DEVICES = ("mlx5_0:1", "mlx5_1:1")

# UCX takes UCS_ERR_NO_RESOURCE of an interface's flush for a failure.
STUBBORN = "iface_flush:ok *:no_resource/3 *:late=2/2 {}*:thread/5 connect:late=5"
# Operations that release a remote key may only complete in the worker's thread: UCX 1.18 insists.
IN_ITS_THREAD = "get_zcopy:late/5 put_zcopy:late/5 "
# UCX 1.18 does not expect a get to complete immediately, as no NIC does that: it still uses the
# request of a receive that the device matched after it began the rendezvous.
NONE_AT_ONCE = "get_zcopy:late put_zcopy:late/5 "
# Script and environment. UCP connects script_ep over the other transport.
SETTINGS = {
    "at-once": ("", {"UCX_TLS": "scripted"}),
    "stubborn": (STUBBORN, {"UCX_TLS": "scripted"}),
    "put": (STUBBORN, {"UCX_TLS": "scripted", "UCX_RNDV_SCHEME": "put_zcopy"}),
    "eager": (STUBBORN, {"UCX_TLS": "scripted", "UCX_RNDV_THRESH": "inf"}),
    "endpoints": (STUBBORN, {"UCX_TLS": "script_ep,scripted:aux"}),
    "protocols-v2": (STUBBORN, {"UCX_TLS": "scripted", "UCX_PROTO_ENABLE": "y"}),
    "endpoints-v2": (STUBBORN, {"UCX_TLS": "script_ep,scripted:aux", "UCX_PROTO_ENABLE": "y"}),
    "tags": (STUBBORN, {"UCX_TLS": "script_tm"}),
}

# The requests to its memory domains.
OF_MEMORY = ("registration", "deregistration", "key_packing", "key_unpacking", "key_release")
# The transport's other notes, besides operations of a table: arrivals, queues, failures.
EVENTS = {
    *OF_MEMORY,
    "arrival",
    "failure",
    "peer_gone",
    "pending_add",
    "pending_dispatch",
    "pending_purge",
    "tag_completed",
    "tag_rndv",
    "tag_unexpected_eager",
    "tag_unexpected_rndv",
}
OF_INTERFACES = ("iface_flush", "tag_recv_zcopy", "tag_recv_cancel")
NO_RESOURCE, IN_PROGRESS = -2, 1


def environment(folder, setting, *, beside=""):
    """For a job over the scripted transport and the transports `beside` it."""
    script, variables = SETTINGS[setting]
    variables = {**variables, "UCX_TLS": variables["UCX_TLS"] + beside}
    zcopy = NONE_AT_ONCE if setting == "tags" else IN_ITS_THREAD
    return {
        "LD_PRELOAD": str(LIBRARY),
        "SCRIPTED_TRANSPORT": script.format(zcopy if ucx_version() >= (1, 18) else ""),
        "SCRIPTED_TRANSPORT_ORACLE": str(folder / "oracle"),
        **variables,
    }


def read_oracle(folder):
    rows = []
    for path in sorted(folder.glob("oracle.*.jsonl")):
        pid = int(path.name.split(".")[1])
        rows += [{"pid": pid, **json.loads(line)} for line in path.read_text().splitlines()]
    check(rows, f"the transport left no account in {folder}")
    return rows


def calls_of(oracle):
    return [row for row in oracle if row["what"] not in EVENTS]


def check_paths(messages, setting):
    """The messages between processes went over the devices of this transport."""
    transport = SETTINGS[setting][1]["UCX_TLS"].partition(",")[0]
    for message in messages:
        if message["src_process"] == message["dst_process"]:
            continue
        for step in message["path"]:
            check_equal(step["transport"], transport, f"transport of {message}")
            check(step["device"] in DEVICES, f"device of {message}")
            if step["op"] != "tag_recv_zcopy":  # posted to an interface, whoever sends
                check_equal(step["remote_device"], step["device"], f"the far device of {message}")


def check_peers(recording):
    """Each operation's peer is known, by the address bytes of an interface or of an endpoint."""
    transfers = recording.table("transfers")
    strangers = [
        row
        for row in transfers
        if row["peer_process"] < 0 and row["op"] not in OF_INTERFACES
    ]
    check(not strangers, f"{len(strangers)} operations without a peer, as {strangers[:1]}")


COLUMNS = ("op", "am_id", "endpoint", "status", "bytes", "remote", "end")


RENDEZVOUS_AM_ID = 9  # announcements of a rendezvous are recorded like those of UCP


def _as_recorded(call):
    announces = call["what"] in ("tag_rndv_zcopy", "tag_rndv_request")
    moves_nothing = call["what"] == "tag_recv_zcopy"  # its length is the capacity
    return (
        call["what"],
        RENDEZVOUS_AM_ID if announces else max(call["id"], 0),
        call["endpoint"],
        call["status"],
        0 if moves_nothing else call["bytes"],
        call["remote"],
        call["completion"] if call["tracked"] else None,
    )


def check_operations_are(log, oracle):
    """The records of a process are the calls that the transports saw, one by one and in order."""
    expected = [_as_recorded(call) for call in calls_of(oracle) if call["pid"] == log.pid]
    found = [
        tuple(row[column] for column in COLUMNS)
        for row in log.uct_operations()
        if row["transport"].startswith("script")
    ]
    for number, (one, other) in enumerate(zip_longest(found, expected)):
        check(
            one == other,
            f"UCT operation {number} of process {log.pid}: {len(found)} found, {len(expected)}"
            f" expected\n  columns:  {COLUMNS}\n  found:    {one}\n  expected: {other}",
        )


def check_memory_is(recording, oracle):
    """Each process registered what its memory domains say, and packed and unpacked as many keys."""
    pids = [row["pid"] for row in recording.table("processes")]
    found = Counter(
        (pids[row["process"]], row["action"], row["bytes"], row["address"])
        for row in recording.named_table("memory_calls")
        if row["memory_domain"].startswith("script") and not row["repeats"]
    )
    expected = Counter(
        (row["pid"], row["what"], row["bytes"], row["remote"])
        for row in oracle
        if row["what"] in OF_MEMORY
    )
    check_equal(found - expected, Counter(), "calls about memory that the domains did not see")
    check_equal(expected - found, Counter(), "what the domains saw, and is not recorded")


def check_recording_is(recording, oracle):
    """The recording of a complete job equals what the transports saw, and so do the sums of `info`
    if there were no other transports."""
    logs = [Log(path) for path in recording.logs]
    for log in logs:
        check_operations_are(log, oracle)
    check_memory_is(recording, oracle)
    transports = {name for log in logs for name in log.uct_interfaces().values()}
    if all(name.startswith("script") for name in transports):
        check_sums_are(recording, oracle)


def check_sums_are(recording, oracle):
    uct, calls = recording.info["uct"], calls_of(oracle)
    statuses = Counter(call["status"] for call in calls)
    in_progress = statuses[IN_PROGRESS]
    check_equal(uct["no_resource"], statuses[NO_RESOURCE], "refused for lack of resources")
    check_equal(uct["inprogress"], in_progress, "operations in progress")
    check_equal(uct["posted_ok"], statuses[0] + in_progress, "operations posted")
    check_equal(
        uct["errors"],
        sum(n for status, n in statuses.items() if status < 0 and status != NO_RESOURCE),
        "operations that failed at once",
    )
    tracked = [call for call in calls if call["status"] == IN_PROGRESS and call["tracked"]]
    ended = [call for call in tracked if call["completion"] is not None]
    check_equal(uct["completed"], len(ended), "operations that ended")
    check_equal(uct["without_handle"], in_progress - len(tracked), "without a completion")
