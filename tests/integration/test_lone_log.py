"""One of two processes left no log: the other's messages to itself are reported as usual, its receives from the
missing one are not messages, and no identity is violated by unknown facts."""

from checks import results_of
from harness import PROGRAMS, check, check_equal, run_test, scratch
from recordings import Recording, record_well

PROTOCOLS = {"v1": "n", "v2": "y"}


def is_told(log, rest):
    for each in rest:
        each.unlink()
    recording = Recording(log.parent)
    info = recording.info
    check_equal(len(info["processes"]), 1, "processes")
    check_equal(results_of(info).get("violated", []), [], "violated identities")
    result = next(identity["result"] for identity in info["identities"] if identity["name"] == "payload")
    check(result in ("holds", "incomplete"), f"payload: {result}")
    messages = info["messages"]
    check(messages["received"] > 0 and messages["received"] % 2 == 0, f"messages: {messages}")
    check_equal(messages["matched"], messages["received"] // 2, "messages of the process to itself")
    check_equal(messages["unmatched_receives"], messages["received"] // 2, "messages of the other process")
    check(any("left no log" in note for note in info["notes"]), f"notes: {info['notes']}")


def lone_log(protocols):
    for kept in range(2):
        with scratch() as folder:
            environment = {"UCX_PROTO_ENABLE": PROTOCOLS[protocols]}
            _, recording = record_well(folder / "data", [PROGRAMS / "plain_ucp"], env=environment)
            logs = sorted(recording.logs)
            is_told(logs.pop(kept), logs)


run_test(lone_log)
