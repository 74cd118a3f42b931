"""Every form of UCP's put, get, atomic operations, flushes and active messages, without MPI: each
call is recorded once under its own name, and each transfer of data is one message."""

from collections import Counter

from checks import check_complete, check_delivered, check_links, check_same_multiset
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from logs import Log
from plain import SETTINGS, as_called, read_calls
from recordings import record_well

MESSAGES = ("put", "get", "atomic", "am")
UNKNOWN = -1  # whom an answer goes to: the handler knows only an endpoint


def check_functions(recording, truth):
    found = Counter()
    for log in map(Log, recording.logs):
        found.update((log.pid, function) for function in log.ucp_functions())
    expected = Counter((row["by"], row["function"].replace(" ", "_")) for row in truth)
    check_equal(found - expected, Counter(), "operations by function that nobody called")
    check_equal(expected - found, Counter(), "calls by function without an operation")


def check_digests(recording):
    """The kept words of an active message are the same at sender and receiver."""
    sent, arrived, without, ways = Counter(), Counter(), Counter(), set()
    for log in map(Log, recording.logs):
        arrived.update(log.active_arrived())
        for op, size, am_id, words in log.active_sent():
            if len(words) == 2:
                sent[am_id, words] += 1
                ways.add(op)
            else:
                check(op == "am_zcopy" or size < 16, f"no digest of {size} bytes by {op}")
                without[am_id, words] += 1
    check_equal(sent - arrived, Counter(), "sent, and not arrived")
    rest = Counter((am_id, words[:1]) for am_id, words in (arrived - sent).elements())
    check_equal(rest, without, "arrived, and not sent")
    check({"am_short_iov", "am_bcopy"} <= ways, f"digests are only of {ways}")


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
        check_links(recording.info, environment)
        check_delivered(recording.messages)

        truth = read_calls(folder / "truth")
        check_functions(recording, truth)
        check_digests(recording)
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
