"""Deadlocks and waits of tests/programs/hangs.c by shape, and what `uctrace hang` must report for each."""

from dataclasses import dataclass

from harness import SOURCE_ROOT, check, check_equal

RANKS = 4
LAST = RANKS - 1


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


# Each lists what must be reported, for a running job and a killed one alike.


@dataclass(frozen=True)
class Shape:
    sits: dict  # {rank: call}
    check: object  # (hang): what else
    verdict: str = "deadlock"


def cycle(*ranks):
    def named(hang):
        check_equal(cycle_of(hang), list(ranks), "the cycle")
        check(all(step["call_site"] for step in hang["cycle"]), f"no call site: {hang['cycle']}")

    return named


def receives(hang):
    cycle(0, 1)(hang)
    for rank in (0, 1):
        row = seats(hang)[rank]
        check_equal((row["peer"], row["tag"], row["comm"]), (1 - rank, 7, "MPI_COMM_WORLD"), "seat")
        line = line_of("receive", "MPI_Recv")
        check_equal(row["call_site"], f"receive (hangs.c:{line})", "call site")
        check_equal(row["in_no_call"], False, "in a call")


def sends(hang):
    cycle(0, 1)(hang)
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
    cycle(0, 1)(hang)  # rank 1 is in a barrier that rank 0 never reaches


def communicator(hang):
    row = nearest(hang, "comm", {"rank": 1, "to": 0, "tag": 5, "comm": "copy"})
    check_equal(row["comm"], "MPI_COMM_WORLD", "communicator of the receive")


def barrier(hang):
    check_equal(hang["cycle"], [], "cycle")
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
    cycle(0, 1)(hang)
    waits = seats(hang)[0]["waits_for"]
    check_equal([w["ranks"] for w in waits], [[1]], "of three messages one is missing")
    check("MPI_Irecv" in [w["asked_by"] for w in waits], f"who asked: {waits}")


def nobody(hang):
    row = seats(hang)[0]
    check_equal((row["peer"], row["tag"]), ("any", 11), "what is received")
    wait = row["waits_for"][0]
    check_equal((wait["ranks"], wait["any"]), (list(range(1, RANKS)), True), "who could send")
    check_equal([row["stuck"] for row in hang["ranks"]], [True] * RANKS, "who is stuck")
    check_equal(cycle_of(hang)[0], 0, "cycle")
    check_equal([step["any"] for step in hang["cycle"]], [True, False], "any of")


def end(hang):
    cycle(0, LAST)(hang)


def polls(hang):
    row = seats(hang)[0]
    check(row["polls"] >= 10, f"rank 0 polls: {row}")
    check_equal((row["peer"], row["tag"]), (1, 14), "for what it polls")
    check_equal(cycle_of(hang), [0, 1], "cycle")
    check(hang["cycle"][0]["unsure"], "that a poll goes on for ever is not sure")


def lock(hang):
    check_equal(cycle_of(hang), [0, 1], "cycle")
    wait = seats(hang)[1]["waits_for"][0]
    check_equal((wait["what"], wait["ranks"]), ("lock", [0]), "who holds the lock")


def exposures(hang):
    cycle(0, 1)(hang)
    for rank in (0, 1):
        wait = seats(hang)[rank]["waits_for"][0]
        check_equal((wait["what"], wait["ranks"], wait["unsure"]), ("origin", [1 - rank], None), "who is to end its access")


def startall(hang):
    waits = seats(hang)[0]["waits_for"]
    check_equal([(w["what"], w["ranks"], w["unsure"]) for w in waits], [("message", [1], None)], "one of two requests")
    check_equal([end["rank"] for end in hang["blocked_on"]], [1], "who is waited for")
    check_equal(hang["blocked_on"][0]["all"], True, "by all")


def waitany(hang):
    row = seats(hang)[0]
    check_equal(sorted(w["ranks"][0] for w in row["waits_for"]), [1, LAST], "whom it waits for")
    check_equal((row["any"], row["stuck"]), (True, False), "one is enough")
    check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], "who is waited for")


def groups(hang):
    cycle(0, 1)(hang)
    for rank in (0, 1):
        row = seats(hang)[rank]
        check_equal((row["peer"], row["tag"], row["comm"]), (1 - rank, 31, "both"), "rank 0 of the other group")


def group_barrier(hang):
    check_equal([end["rank"] for end in hang["blocked_on"]], [LAST], "who is waited for")
    check_equal(hang["blocked_on"][0]["all"], True, "by all")
    check_equal({row["comm"] for row in hang["ranks"][:LAST]}, {"both"}, "communicator")


def group_any(hang):
    wait = seats(hang)[0]["waits_for"][0]
    check_equal((wait["ranks"], wait["any"]), ([1, LAST], True), "who of the other group could send")
    check_equal(seats(hang)[0]["peer"], "any", "from whom")
    cycle(0, 1)(hang)


def group_tag(hang):
    row = nearest(hang, "tag", {"rank": 1, "to": 0, "tag": 35, "comm": "both"})
    check_equal((row["peer"], row["tag"], row["comm"]), (1, 34, "both"), "what is waited for")
    cycle(0, 1)(hang)


def group_root(hang):
    check_equal([end["rank"] for end in hang["blocked_on"]], [0], "who is waited for")
    check_equal(hang["blocked_on"][0]["all"], True, "by all")
    for rank in (1, LAST):
        waits = [w["ranks"] for w in seats(hang)[rank]["waits_for"]]
        check_equal(waits, [[0]], f"rank {rank} waits for the root alone")


def barriers(but):
    return {rank: "MPI_Barrier" for rank in range(RANKS)} | but


SHAPES = {
    "receives": Shape(barriers({0: "MPI_Recv", 1: "MPI_Recv"}), receives),
    "sends": Shape(barriers({0: "MPI_Send", 1: "MPI_Send"}), sends),
    "ring": Shape({rank: "MPI_Recv" for rank in range(RANKS)}, cycle(*range(RANKS))),
    "tag": Shape(barriers({0: "MPI_Recv"}), tag),
    "communicator": Shape(barriers({0: "MPI_Recv"}), communicator),
    "barrier": Shape(barriers({LAST: None}), barrier, "waiting"),
    "mismatched": Shape(barriers({LAST: "MPI_Allreduce"}), mismatched),
    "sender": Shape(barriers({0: "MPI_Waitall", 1: "MPI_Recv"}), sender),
    "nobody": Shape(barriers({0: "MPI_Recv"}), nobody),
    "startall": Shape(barriers({0: "MPI_Wait", 1: None, 2: "MPI_Recv"}), startall, "waiting"),
    "waitany": Shape(barriers({0: "MPI_Waitany", 1: "MPI_Recv", LAST: None}), waitany, "waiting"),
    "groups": Shape(barriers({0: "MPI_Recv", 1: "MPI_Recv"}), groups),
    "group-barrier": Shape(barriers({LAST: None}), group_barrier, "waiting"),
    "group-any": Shape(barriers({0: "MPI_Recv"}), group_any),
    "group-tag": Shape(barriers({0: "MPI_Recv"}), group_tag),
    "group-root": Shape(barriers({0: None, 1: "MPI_Bcast", LAST: "MPI_Bcast"}), group_root, "waiting"),
    "end": Shape({rank: "MPI_Finalize" for rank in range(RANKS)} | {0: "MPI_Recv"}, end),
    "polls": Shape(barriers({0: "MPI_Test", 1: "MPI_Recv"}), polls, "possible deadlock"),
    "exposures": Shape(barriers({0: "MPI_Win_wait", 1: "MPI_Win_wait"}), exposures),
    # Only in Open MPI does a rank certainly hold a lock after locking it.
    "lock": Shape(barriers({0: "MPI_Recv", 1: None}), lock, None),
}
LOCK_VERDICT = {"ompi": "deadlock", "mpich": "possible deadlock"}
