"""`uctrace hang` on deadlocks of different shape, while they run and after a kill: who waits for whom,
the circle, the rank that all wait for, the message that differs. A job that goes on is none."""

import json
import os
import signal
import time
from dataclasses import dataclass
from dataclasses import replace as with_changes
from pathlib import Path

from harness import SOURCE_ROOT, TOOL, check, check_equal, finish, run, run_test, run_well, scratch, started, wait_until
from mpi_jobs import MPIS
from recordings import record_command

SETTLE_TIMEOUT_S = 120
RANKS = 4
LAST = RANKS - 1
MOMENTS_OF_A_SOUND_JOB = 15


def ask_hang(data, *options):
    return json.loads(run_well([TOOL, "hang", data, "--format", "json", *options]).stdout)


def seats(hang):
    """{rank: row}, where each rank has one thread that calls MPI."""
    check_equal(len(hang["ranks"]), RANKS, "ranks")
    return {row["rank"]: row for row in hang["ranks"]}


def calls(hang):
    return {rank: row["call"] for rank, row in seats(hang).items()}


def cycle_of(hang):
    return [step["rank"] for step in hang["cycle"]]


def line_of(function, text):
    """The line of the program's source on which that stands."""
    lines = (SOURCE_ROOT / "tests/programs/hangs.c").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"static void {function}("))
    return begin + next(i for i, line in enumerate(lines[begin:]) if text in line) + 1


# --- shapes --------------------------------------------------------------------------------------
# Each says what must be named, of a running job and of a killed one alike.


@dataclass(frozen=True)
class Shape:
    sits: dict  # {rank: call}
    check: object  # (hang): what else
    verdict: str = "deadlock"


def circle(*ranks):
    def named(hang):
        check_equal(cycle_of(hang), list(ranks), "the circle")
        check(all(step["call_site"] for step in hang["cycle"]), f"no call site: {hang['cycle']}")

    return named


def receives(hang):
    circle(0, 1)(hang)
    for rank in (0, 1):
        row = seats(hang)[rank]
        check_equal((row["peer"], row["tag"], row["comm"]), (1 - rank, 7, "MPI_COMM_WORLD"), "seat")
        line = line_of("receive", "MPI_Recv")
        check_equal(row["call_site"], f"receive (hangs.c:{line})", "call site")
        check_equal(row["in_no_call"], False, "in a call")


def sends(hang):
    circle(0, 1)(hang)
    row = seats(hang)[0]
    check_equal((row["peer"], row["tag"]), (1, 8), "where the message is to go")
    line = line_of("head_to_head_sends", "MPI_Send")
    check(str(line) in row["call_site"], f"call site: {row}")


def nearest(hang, differs, sent):
    rows = [row for row in hang["nearest_unmatched"] if row["rank"] == 0]
    check_equal(len(rows), 1, f"nearest sends: {hang['nearest_unmatched']}")
    check_equal(rows[0]["differs"], [differs], "in what it differs")
    found = {key: rows[0]["sent"][key] for key in sent}
    check_equal(found, sent, "what was sent")
    return rows[0]


def tag(hang):
    row = nearest(hang, "tag", {"rank": 1, "to": 0, "tag": 26, "bytes": 4})
    check_equal((row["peer"], row["tag"]), (1, 25), "what is waited for")
    says = "rank 0 waits for tag 25 from rank 1 on MPI_COMM_WORLD; rank 1 sent tag 26"
    check(row["text"].startswith(says), f"text: {row['text']}")
    circle(0, 1)(hang)  # rank 1 is in the barrier, to which rank 0 does not come


def communicator(hang):
    row = nearest(hang, "comm", {"rank": 1, "to": 0, "tag": 5, "comm": "copy"})
    check_equal(row["comm"], "MPI_COMM_WORLD", "communicator of the receive")


def barrier(hang):
    check_equal(hang["cycle"], [], "circle")
    check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], "who is waited for")
    end = hang["blocked_on"][0]
    check_equal((end["all"], end["waiting"], end["ranks"]), (True, LAST, list(range(LAST))), "by whom")
    check(f"rank {LAST}, which" in end["text"] and "in no MPI call since" in end["text"], f"text: {end['text']}")
    row = seats(hang)[LAST]
    check_equal((row["in_no_call"], row["last_call"]), (True, "MPI_Barrier"), "who computes")
    check(row["last_call_site"].startswith("main (hangs.c:"), f"last call site: {row}")
    waits = seats(hang)[0]["waits_for"]
    check_equal([(w["what"], w["ranks"], w["any"]) for w in waits], [("collective", [LAST], False)], "wait")


def mismatched(hang):
    check_equal(len(hang["mismatched"]), 1, "operations that differ")
    found = hang["mismatched"][0]
    functions = {call["call"]: call["ranks"] for call in found["calls"]}
    expected = {"MPI_Barrier": list(range(LAST)), "MPI_Allreduce": [LAST]}
    check_equal(functions, expected, "who is in which")
    check_equal(found["comm"], "MPI_COMM_WORLD", "communicator")
    check_equal(found["number"], 2, "which collective call it is")  # after that of main()


def sender(hang):
    circle(0, 1)(hang)
    waits = seats(hang)[0]["waits_for"]
    check_equal([w["ranks"] for w in waits], [[1]], "of three messages one is missing")
    check("MPI_Irecv" in [w["asked_by"] for w in waits], f"who asked: {waits}")


def nobody(hang):
    row = seats(hang)[0]
    check_equal((row["peer"], row["tag"]), ("any", 11), "what is received")
    wait = row["waits_for"][0]
    check_equal((wait["ranks"], wait["any"]), (list(range(1, RANKS)), True), "who could send")
    check_equal([row["stuck"] for row in hang["ranks"]], [True] * RANKS, "who is stuck")
    check_equal(cycle_of(hang)[0], 0, "circle")
    check_equal([step["any"] for step in hang["cycle"]], [True, False], "any of")


def end(hang):
    circle(0, LAST)(hang)


def polls(hang):
    row = seats(hang)[0]
    check(row["polls"] >= 10, f"rank 0 polls: {row}")
    check_equal((row["peer"], row["tag"]), (1, 14), "for what it polls")
    check_equal(cycle_of(hang), [0, 1], "circle")
    check(hang["cycle"][0]["unsure"], "that a poll goes on for ever is not sure")


def lock(hang):
    check_equal(cycle_of(hang), [0, 1], "circle")
    wait = seats(hang)[1]["waits_for"][0]
    check_equal((wait["what"], wait["ranks"]), ("lock", [0]), "who holds the lock")


def barriers(but):
    return {rank: "MPI_Barrier" for rank in range(RANKS)} | but


SHAPES = {
    "receives": Shape(barriers({0: "MPI_Recv", 1: "MPI_Recv"}), receives),
    "sends": Shape(barriers({0: "MPI_Send", 1: "MPI_Send"}), sends),
    "ring": Shape({rank: "MPI_Recv" for rank in range(RANKS)}, circle(*range(RANKS))),
    "tag": Shape(barriers({0: "MPI_Recv"}), tag),
    "communicator": Shape(barriers({0: "MPI_Recv"}), communicator),
    "barrier": Shape(barriers({LAST: None}), barrier, "waiting"),
    "mismatched": Shape(barriers({LAST: "MPI_Allreduce"}), mismatched),
    "sender": Shape(barriers({0: "MPI_Waitall", 1: "MPI_Recv"}), sender),
    "nobody": Shape(barriers({0: "MPI_Recv"}), nobody),
    "end": Shape({rank: "MPI_Finalize" for rank in range(RANKS)} | {0: "MPI_Recv"}, end),
    "polls": Shape(barriers({0: "MPI_Test", 1: "MPI_Recv"}), polls, "possible deadlock"),
    # That a library has what it lets a rank lock is sure of Open MPI alone.
    "lock": Shape(barriers({0: "MPI_Recv", 1: None}), lock, None),
}
LOCK_VERDICT = {"ompi": "deadlock", "mpich": "possible deadlock"}


# --- jobs ----------------------------------------------------------------------------------------


class Job:
    """`record` of a shape that runs; `pids` are those of its ranks."""

    def __init__(self, mpi, shape, folder):
        self.mpi = with_changes(MPIS[mpi], ranks=RANKS)
        self.folder, self.data = folder, folder / "data"
        self.command = record_command(self.data, self.mpi.job("hangs", shape, folder))

    def wait_for_ranks(self):
        files = [self.folder / f"{rank}.rank" for rank in range(RANKS)]
        wait_until(lambda: all(file.exists() for file in files), "not all ranks began", timeout=60)
        self.pids = [int(file.read_text()) for file in files]

    def settled(self, shape):
        """The hang once all ranks sit where they will stay, as of one instant."""
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while True:
            hang = ask_hang(self.data)
            rows = {row["rank"]: row for row in hang["ranks"]}
            arrived = len(rows) == RANKS and all(
                row["settled"] and sits(row, shape.sits[rank]) for rank, row in rows.items()
            )
            if arrived and hang["verdict"] == shape.verdict:
                return hang
            check(time.monotonic() < deadline, f"it does not settle: {json.dumps(hang, indent=1)}")

    def kill(self):
        """The ranks; their launcher, which may not notice, is ended with the job."""
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in self.pids), "killed ranks live")


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def sits(row, call):
    if row["polls"]:
        return call == "MPI_Test"
    # Where a lock is waited for depends on the library: in MPI_Win_lock, or when it is given back.
    return row["call"] == call or (call is None and (row["in_no_call"] or row["call"].startswith("MPI_Win_")))


def check_named(hang, shape, state):
    check_equal(hang["state"], state, "state")
    check_equal(hang["verdict"], shape.verdict, f"verdict {hang['summary']}")
    for rank, row in seats(hang).items():
        check(sits(row, shape.sits[rank]), f"rank {rank} sits in {row['call']}")
        check(row["since_ns"] is not None and row["for_ns"] >= 0, f"since when: {row}")
    shape.check(hang)


def check_texts(data, hang):
    text = run_well([TOOL, "hang", data]).stdout
    for line in hang["summary"]:
        check(line.split(" since ")[0] in text, f"{line!r} is not in\n{text}")
    for step in hang["cycle"]:
        check(step["text"] in text, f"{step['text']!r} is not in\n{text}")
    csv = run_well([TOOL, "hang", data, "--format", "csv", "--limit", "2"]).stdout.splitlines()
    check_equal(len(csv), 3, "lines of CSV, cut to two rows")
    rows = run_well([TOOL, "hang", data, "--format", "ndjson"]).stdout.splitlines()
    tables = [json.loads(row)["table"] for row in rows]
    check_equal(tables.count("ranks"), RANKS, "rows of ranks")


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
        shape = with_changes(shape, verdict=LOCK_VERDICT[mpi])
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
        check_equal(hang["state"], "aborted", "state")
        check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], f"who is waited for: {hang}")
        check("MPI_Abort" in hang["blocked_on"][0]["text"], f"text: {hang['blocked_on']}")
        check_equal(hang["blocked_on"][0]["all"], True, "by all")


def sound_job_is_none(mpi):
    with scratch() as folder:
        job = Job(mpi, "goes-on", folder)
        with started(job.command) as process:
            job.wait_for_ranks()
            for _ in range(MOMENTS_OF_A_SOUND_JOB):
                hang = ask_hang(job.data)
                check_equal(hang["state"], "running", "state")
                check(hang["verdict"] in ("waiting", "no rank waits"), f"a sound job: {hang}")
                check_equal(hang["cycle"], [], "circle")
            (folder / "stop").touch()
            check_equal(finish(process).status, 0, "exit status")
        hang = ask_hang(job.data)
        check_equal((hang["state"], hang["verdict"]), ("finished", "ended"), "of a job that ended")
        check_equal(hang["summary"], ["no rank hangs: the job ended"], "in words")
        check_equal(hang["ranks"], [], "ranks")


def body(mpi, *names):
    for name in names or (*SHAPES, "abort", "goes-on"):
        print(f"--- {name}", flush=True)
        if name == "goes-on":
            sound_job_is_none(mpi)
        elif name == "abort":
            aborted(mpi)
        else:
            named_while_running_and_after_a_kill(mpi, name)


run_test(body)
