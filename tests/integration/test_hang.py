"""`uctrace hang` on deadlocks of different shapes, while they run and after a kill: the waits, the cycle, the
rank that all wait for, the message that differs. A job that goes on is not a hang."""

import json
import os
import signal
from dataclasses import replace as with_changes
from functools import partial

from hang_shapes import LAST, LOCK_VERDICT, RANKS, SHAPES, Shape, calls, cycle_of, seats
from hanging_jobs import Job, ask_hang, check_named, check_texts, state_of
from harness import TOOL, check, check_equal, finish, run, run_test, scratch, started, wait_until

MOMENTS_OF_A_SOUND_JOB = 15


def check_identities_of_killed(data):
    text = run(([TOOL, "info", data])).stdout
    _, _, rest = text.partition("Identities (left")
    section = rest.split("\n\n")[0].splitlines()[1:]
    check_equal(len(section), 1, f"lines about the identities of a killed run: {section}")
    full = run([TOOL, "info", data, "--list", "identities"]).stdout.splitlines()
    check(len(full) > 20, f"the list of identities: {full}")


def named_while_running_and_after_a_kill(mpi, name):
    shape = SHAPES[name]
    if shape.verdict is None:
        shape = with_changes(shape, verdict=LOCK_VERDICT[mpi.removesuffix("_abi")])
    with scratch() as folder:
        job = Job(mpi, name, folder)
        with started(job.command):
            job.wait_for_ranks()
            running = job.settled(shape)
            check_named(running, shape, "running")
            job.kill()
        killed = ask_hang(job.data)
        check_named(killed, shape, "killed")
        check_texts(job.data, killed)
        check_identities_of_killed(job.data)
        # From the store, too.
        check_equal(ask_hang(job.data), killed, "what the stored run says")
        if name == "barrier":
            notes = "\n".join(json.loads(run([TOOL, "info", job.data, "--format", "json"]).stdout)["notes"])
            check(f"rank {LAST} (killed) was in no MPI call" in notes, f"notes: {notes}")


def aborted(mpi):
    """The others wait for the rank that aborts."""
    shape = Shape({rank: "MPI_Recv" for rank in range(RANKS)} | {LAST: None}, None, "waiting")
    with scratch() as folder:
        job = Job(mpi, "abort", folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            job.settled(shape)
            (folder / "go").touch()
            finish(process)
        hang = ask_hang(job.data)
        check_equal((hang["state"], hang["verdict"]), ("aborted", "waiting"), "what it was a moment before")
        check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], f"who is waited for: {hang}")
        check("MPI_Abort" in hang["blocked_on"][0]["text"], f"text: {hang['blocked_on']}")
        check_equal(hang["blocked_on"][0]["all"], True, "by all")


def threads_are_not_sure(mpi):
    """A third thread could satisfy the waits of each rank's two threads: it would have no row yet."""
    with scratch() as folder:
        job = Job(mpi, "threads", folder)
        with started(job.command):
            job.wait_for_ranks()
            hang = job.asked_until(lambda hang: hang["verdict"] == "possible deadlock")
            check_equal(cycle_of(hang), [0, 1], "cycle")
            for rank in (0, 1):
                rows = [row for row in hang["ranks"] if row["rank"] == rank]
                check_equal(sorted(row["tag"] for row in rows), [45, 46], "a row for each thread")
                check(all("MPI_THREAD_MULTIPLE" in row["waits_for"][0]["unsure"] for row in rows), f"why: {rows}")
            job.kill()
        check_equal(ask_hang(job.data)["verdict"], "possible deadlock", "after a kill")


def stopped_rank_is_named(mpi):
    """It was stopped before the others reached the barrier, so its log covers no later instant."""
    with scratch() as folder:
        job = Job(mpi, "stopped", folder)
        with started(job.command):
            job.wait_for_ranks()
            os.kill(job.pids[LAST], signal.SIGSTOP)
            wait_until(lambda: state_of(job.pids[LAST]) == "T", "the rank is not stopped")
            (folder / "go").touch()
            silent = [False] * LAST + [True]
            hang = job.asked_until(
                lambda hang: [row["silent"] for row in hang["ranks"]] == silent
                and all(row["waits_for"] and row["settled"] for row in hang["ranks"][:LAST])
            )
            check_equal(hang["verdict"], "waiting", "verdict")
            check_equal([calls(hang)[rank] for rank in range(LAST)], ["MPI_Barrier"] * LAST, "who waits")
            check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], "who is waited for")
            check_equal(hang["blocked_on"][0]["all"], True, "by all")
            check("nothing new in the log" in hang["blocked_on"][0]["text"], f"text: {hang['blocked_on']}")
            os.kill(job.pids[LAST], signal.SIGCONT)
            job.asked_until(lambda hang: not seats(hang)[LAST]["silent"] and hang["verdict"] == "waiting")
            job.kill()


def log_is_missing(mpi):
    """A process without a log counts as one that goes on."""
    with scratch() as folder:
        job = Job(mpi, "receives", folder)
        with started(job.command):
            job.wait_for_ranks()
            job.settled(SHAPES["receives"])
            job.kill()
        logs = [path for path in job.data.iterdir() if f"{job.pids[1]}" in path.name]
        check(logs, f"no log of process {job.pids[1]}: {sorted(path.name for path in job.data.iterdir())}")
        for path in logs:
            path.unlink()
        hang = ask_hang(job.data)
        check_equal(hang["verdict"], "waiting", "verdict")
        waits = {row["rank"]: row["waits_for"] for row in hang["ranks"]}
        check_equal(waits[0][0]["ranks"], [1], "rank 0 waits for who left no log")
        check(any("rank 1 left no log" in line for line in hang["unknown"]), f"unknown: {hang['unknown']}")


def messages_of_mpi_alone_are_not_sure(mpi, shape):
    """Without UCP operations nothing tells whether a message is on its way; entries into operations are known
    from calls."""
    with scratch() as folder:
        job = Job(mpi, shape, folder, "--layers", "mpi")
        with started(job.command):
            job.wait_for_ranks()
            hang = job.asked_until(lambda hang: hang["verdict"] == "possible deadlock")
            check_equal(cycle_of(hang), [0, 1], "cycle")
            check(all("UCP" in step["unsure"] for step in hang["cycle"]), f"why: {hang['cycle']}")
            job.kill()
        check_equal(ask_hang(job.data)["verdict"], "possible deadlock", "after a kill")


def collectives_of_mpi_alone_are_sure(mpi, shape):
    with scratch() as folder:
        job = Job(mpi, shape, folder, "--layers", "mpi")
        with started(job.command):
            job.wait_for_ranks()
            SHAPES[shape].check(job.settled(SHAPES[shape]))
            job.kill()
        killed = ask_hang(job.data)
        check_named(killed, SHAPES[shape], "killed")


def nothing_is_concluded_without_a_helper(mpi):
    with scratch() as folder:
        job = Job(mpi, "barrier", folder, "--no-helper")
        with started(job.command):
            job.wait_for_ranks()
            wanted = {rank: "MPI_Barrier" for rank in range(LAST)} | {LAST: None}
            running = job.asked_until(lambda hang: len(hang["ranks"]) == RANKS and calls(hang) == wanted)
            job.kill()
        for hang in (running, ask_hang(job.data)):
            check_equal(hang["verdict"], "not known", "verdict")
            check("without a helper" in hang["summary"][0], f"in words: {hang['summary']}")
            check_equal(calls(hang), wanted, "where they are")
            check_equal({row["for_ns"] for row in hang["ranks"]}, {None}, "for how long")


def sound_job_is_none(mpi):
    with scratch() as folder:
        job = Job(mpi, "goes-on", folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            for _ in range(MOMENTS_OF_A_SOUND_JOB):
                hang = ask_hang(job.data)
                check_equal(hang["state"], "running", "state")
                check(hang["verdict"] in ("waiting", "no rank waits"), f"a sound job: {hang}")
                check_equal(hang["cycle"], [], "cycle")
            (folder / "stop").touch()
            check_equal(finish(process).status, 0, "exit status")
        hang = ask_hang(job.data)
        check_equal((hang["state"], hang["verdict"]), ("finished", "ended"), "of a job that ended")
        check_equal(hang["summary"], ["no rank hangs: the job ended"], "in words")
        check_equal(hang["ranks"], [], "ranks")


OTHERS = {
    "abort": aborted,
    "threads": threads_are_not_sure,
    "stopped": stopped_rank_is_named,
    "missing-log": log_is_missing,
    "layers-mpi": partial(messages_of_mpi_alone_are_not_sure, shape="receives"),
    "layers-mpi-groups": partial(messages_of_mpi_alone_are_not_sure, shape="groups"),
    "layers-mpi-barrier": partial(collectives_of_mpi_alone_are_sure, shape="barrier"),
    "layers-mpi-mismatched": partial(collectives_of_mpi_alone_are_sure, shape="mismatched"),
    "layers-mpi-group-barrier": partial(collectives_of_mpi_alone_are_sure, shape="group-barrier"),
    "no-helper": nothing_is_concluded_without_a_helper,
    "goes-on": sound_job_is_none,
}


def body(mpi, *names):
    for name in names or (*SHAPES, *OTHERS):
        print(f"--- {name}", flush=True)
        if name in OTHERS:
            OTHERS[name](mpi)
        else:
            named_while_running_and_after_a_kill(mpi, name)


run_test(body)
