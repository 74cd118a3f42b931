"""Messages of more than 2 GiB, and more than 4 GiB in all: every sum is exact."""

import json

from checks import check_complete, check_delivered, check_same_multiset, read_truth, sent_like
from harness import PROGRAMS, check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from plain import as_called, read_calls
from recordings import record_well

BYTES = 9 << 28  # 2.25 GiB, in each message


def check_sums(recording, messages):
    check_delivered(messages)
    total = len(messages) * BYTES
    check(total > 1 << 32, "more than 4 GiB in all")
    kinds = recording.info["messages"]["kinds"].values()
    others = sum(m["bytes"] for m in recording.messages if m["bytes"] != BYTES)
    check_equal(sum(kind["bytes"] for kind in kinds), total + others, "bytes of all kinds")
    report = json.loads(recording.ask("report", "--by", "pairs", "--format", "json").stdout)
    check(str(total + others) in json.dumps(report), f"{total + others} in the report: {report}")


def plain(folder):
    _, recording = record_well(folder / "data", [PROGRAMS / "plain_big", folder / "truth"])
    check_complete(recording.info, layers=("uct", "ucp"), processes=2)
    messages = [as_called(message) for message in recording.messages]
    truth = read_calls(folder / "truth")
    check_same_multiset(messages, truth, ("kind", "by", "to", "bytes"), "messages")
    check_sums(recording, messages)


def of_mpi(folder, mpi):
    _, recording = record_well(folder / "data", mpi.job("big", folder / "truth"))
    check_complete(recording.info, processes=mpi.ranks)
    truth = read_truth(folder / "truth", mpi)
    messages = sent_like(truth, recording)
    check_same_multiset(messages, truth, ("src", "dst", "bytes", "tag", "comm"), "messages")
    calls = [row["bytes"] for row in recording.table("mpi_calls") if row["function"] == "MPI_Send"]
    check_equal(calls, [BYTES] * len(truth), "bytes of the calls")
    check_sums(recording, [message for message in messages if message["bytes"] == BYTES])


def big_messages_are_exact(way):
    with scratch() as folder:
        if way == "plain":
            plain(folder)
        else:
            of_mpi(folder, MPIS[way])


run_test(big_messages_are_exact)
