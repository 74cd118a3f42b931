"""UCP's streams without any MPI: every send is a message of its own, in whatever portions its bytes
are received, and bytes that are never read are counted separately."""

import json
from collections import Counter

from checks import check_accounts, check_delivered, check_same_multiset, results_of
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from logs import Log
from plain import SETTINGS, as_called, read_calls
from recordings import record_well

UNREAD_BYTES, WAYS = 77, 6  # kUnread and 2 * kWays of plain_streams.c
RECEIVING = {"ucp_stream_recv_nb", "ucp_stream_recv_nbx", "ucp_stream_recv_data_nb"}


def check_functions(recording, truth):
    """Every variant of a call is recorded under its own name, the sends as often as they were
    called."""
    found = Counter()
    for log in map(Log, recording.logs):
        found.update((log.pid, function) for function in log.ucp_functions())
    sends = {key: n for key, n in found.items() if key[1].startswith("ucp_stream_send")}
    expected = Counter((row["by"], row["function"]) for row in truth)
    check_equal(sends, dict(expected), "stream sends by process and function")
    check_equal(RECEIVING - {function for _, function in found}, set(), "forms of receiving")


def streams_are_recorded(setting):
    environment = SETTINGS[setting]
    program = PROGRAMS / "plain_streams"
    with scratch() as folder:
        alone = run_well([program], env=environment)
        result, recording = record_well(
            folder / "data", [program, folder / "truth"], env=environment
        )
        check_equal(result.stdout, alone.stdout, "output of the program")
        truth = read_calls(folder / "truth")
        check_functions(recording, truth)

        messages = [as_called(message) for message in recording.messages]
        check_same_multiset(messages, truth, ("kind", "by", "to", "bytes"), "messages")
        read = [message for message in messages if message["bytes"] != UNREAD_BYTES]
        check_delivered(read)
        for message in read:
            check_equal(message["match"], "exact", f"match of {message}")
            check(message["protocol"].startswith("stream/"), f"protocol of {message}")
            for column in ("src", "dst", "mpi", "comm", "tag", "ucp_tag"):
                check_equal(message[column], None, f"{column} without MPI")

        info = recording.info
        check_equal(set(results_of(info)), {"holds"}, f"identities {results_of(info)}")
        check_accounts(info)
        check_equal(info["faults"], [], "faults")
        check_equal(info["uct"]["unattributed"], 0, "unattributed UCT operations")
        check_equal(info["links"]["match"]["exact"], len(read), "exact messages")
        counted = info["messages"]
        check_equal(counted["unmatched_sends"], WAYS, "sends that nobody read")
        check_equal(counted["unmatched_receives"], 0, "receives of unknown bytes")
        check_equal(counted["unread_stream_bytes"], WAYS * UNREAD_BYTES, "unread bytes")
        check_equal(counted["kinds"]["stream"]["messages"], len(truth), "messages by kind")
        chosen = recording.ask("messages", "--kind", "stream", "--format", "json")
        check_equal(len(json.loads(chosen.stdout)["messages"]), len(truth), "messages chosen by --kind stream")


run_test(streams_are_recorded)
