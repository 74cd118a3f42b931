"""A running job can be merged and is marked incomplete; its folder is not moved. For a hanging job the
places of its ranks are shown."""

import re
import time

from checks import (
    SENT_COLUMNS,
    check_complete,
    check_incomplete,
    check_messages_are,
    check_same_multiset,
    read_truth,
    sent_like,
)
from harness import check, check_equal, finish, run_test, scratch, started, wait_for
from mpi_jobs import MPIS
from recordings import Recording, record, record_command

SIT_TIMEOUT_S = 30


def running_job_is_readable():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        go = folder / "go"
        job = mpi.job("faults", f"hang-until:{go}", 1, 20, folder / "truth")
        with started(record_command(folder / "data", job)) as process:
            wait_for(folder / "go.ready")
            hanging = Recording(folder / "data")
            logs = hanging.logs
            check_equal(len(logs), mpi.ranks, "logs of the running job")
            check_incomplete(hanging.info)
            check(hanging.sent_by("MPI_Send"), "no message of the running job")
            record(folder / "data", ["true"])
            check(all(log.exists() for log in logs), "another record took the folder away")
            go.touch()
            check_equal(finish(process).status, 0, "exit status")
        ended = Recording(folder / "data")
        check_messages_are(ended, read_truth(folder / "truth", mpi))
        check_complete(ended.info, processes=mpi.ranks)


def place_of(recording, rank):
    process = next(p for p in recording.info["processes"] if p["rank"] == rank)
    return process["exit"], process["in_calls"], process["open_receives"]


def hung_job_tells_where_it_sits():
    """Rank 1 waits for a message that rank 2 sends when the test says so, with another receive open."""
    mpi = MPIS["ompi"]
    with scratch() as folder:
        go = folder / "go"
        job = mpi.job("faults", f"wait-until:{go}", 1, 20, folder / "truth")
        with started(record_command(folder / "data", job)) as process:
            wait_for(folder / "go.ready")
            deadline = time.monotonic() + SIT_TIMEOUT_S
            calls, receives = [], {"count": 0}
            while not (calls and calls[0]["mpi"] == "MPI_Recv" and receives["count"] == 2):
                check(time.monotonic() < deadline, f"rank 1 does not sit where it does: {calls}")
                hanging = Recording(folder / "data")
                exit_kind, calls, receives = place_of(hanging, 1)
            check_equal(exit_kind, "running", "exit of a process that runs")
            call = calls[0]
            where = (call["comm"], call["peer"], call["tag"])
            check_equal(where, ("MPI_COMM_WORLD", 2, 77), "where rank 1 sits")
            check(call["since_ns"] > 0 and call["for_ns"] >= 0, f"since when: {call}")
            found = {(r["mpi"], r["peer"], r["tag"], r["bytes"]) for r in receives["oldest"]}
            expected = {("MPI_Irecv", 2, 78, 4), ("MPI_Recv", 2, 77, 4)}
            check_equal(found, expected, "open receives")
            check_incomplete(hanging.info)
            check(hanging.messages, "no message of the hung job")
            for verb in ("info", "report"):
                text = hanging.ask(verb).stdout
                words = rf"rank 1 is in MPI_Recv at {re.escape(call['call_site'])} on MPI_COMM_WORLD, peer 2, tag 77"
                known = re.search(words.replace(r"\ ", r"\s+"), text)
                check(known, f"{verb} does not tell where rank 1 sits:\n{text}")
            page = hanging.ask("view", "-o", folder / "page.html")
            check_equal(page.status, 0, f"view of a running job: {page}")
            go.touch()
            check_equal(finish(process).status, 0, "exit status")
        ended = Recording(folder / "data")
        truth = [row for row in read_truth(folder / "truth", mpi) if row["tag"] > 0]
        sent = [m for m in sent_like(truth, ended) if m["tag"] not in (0, 77, 78)]
        check_same_multiset(sent, truth, SENT_COLUMNS, "messages")
        check_complete(ended.info, processes=mpi.ranks)
        for rank in range(mpi.ranks):
            finished = ("finalized", [], {"count": 0, "oldest": []})
            check_equal(place_of(ended, rank), finished, f"rank {rank} at the end")


def body():
    running_job_is_readable()
    hung_job_tells_where_it_sits()


run_test(body)
