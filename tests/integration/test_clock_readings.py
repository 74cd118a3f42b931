"""Shared times of records: only as allowed by docs/internals.md, nested like their events, and
marked as shared."""

from checks import check_complete
from harness import PROGRAMS, check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

CLOCK, MPI_CALL, ARRIVAL, POST = range(4)
SHORT = {"am_short", "am_short_iov", "put_short", "tag_eager_short"}
SENDS = {"MPI_Send", "MPI_Bsend", "MPI_Rsend", "MPI_Ssend"}
RECEIVES = {"MPI_Recv", "MPI_Mrecv", "MPI_Irecv", "MPI_Imrecv"}
SHARING = SENDS | RECEIVES | {"MPI_Isend", "MPI_Ibsend", "MPI_Irsend", "MPI_Issend"}


def check_operations(recording):
    """Messages with such times begin and end with a call that sends or receives one message."""
    calls = {}
    for call in recording.table("mpi_calls"):
        calls.setdefault((call["process"], call["t_start_ns"]), []).append(call)
    shared = 0
    for row in recording.table("ucp_operations"):
        check(row["t_start_from"] in (CLOCK, MPI_CALL), f"start of {row}")
        if row["t_start_from"] == MPI_CALL:
            shared += 1
            around = calls.get((row["process"], row["t_start_ns"]), [])
            names = {call["function"] for call in around}
            check(names & SHARING, f"{row} begins with {names or 'no call'}")
            check("tag_" in row["function"], f"no operation of tags: {row}")
            if row["t_end_from"] == MPI_CALL:
                ends = {call["t_end_ns"] for call in around}
                check(row["t_end_ns"] in ends, f"{row} does not end with its call: {around}")
        else:
            check(row["t_end_from"] != MPI_CALL, f"the end is its call's, the start is not: {row}")
        check(row["t_end_ns"] < 0 or row["t_start_ns"] <= row["t_end_ns"], f"ends early: {row}")
    return shared


def check_transfers(recording):
    """Short ones within the memory of a host have no duration; all others have theirs."""
    untimed = 0
    for row in recording.table("transfers"):
        check(row["t_start_ns"] <= row["t_end_ns"], f"ends before it starts: {row}")
        check(row["t_end_from"] in (CLOCK, POST), f"end of {row}")
        if row["t_end_from"] == POST:
            untimed += 1
            check_equal(row["t_end_ns"], row["t_start_ns"], f"end of the untimed {row}")
            check(row["op"] in SHORT and row["wire_bytes"] <= 256, f"this one is not short: {row}")
            check(row["transport"] in ("self", "sysv", "posix"), f"not within memory: {row}")
            check_equal(row["status"], 0, f"status of {row}")
    return untimed


def check_messages(recording):
    for message in recording.messages:
        start, end = message["t_start_ns"], message["t_end_ns"]
        check(end is None or start is None or end >= start, f"ends before it starts: {message}")
        for hop in message["path"]:
            # All processes are on one host, and have one clock.
            check(start is None or hop["t_first_ns"] >= start, f"a transfer is early: {message}")
            if message["t_end_from"] == "arrival" and hop["role"] == "data":
                check(end >= hop["t_first_ns"], f"it arrives before it is posted: {message}")
    listed = recording.ask("messages", "--limit", "100").stdout.splitlines()
    heads = [line for line in listed if line.startswith("#") and " -> " in line]
    check(heads, f"no message is listed: {listed}")
    for message, line in zip(recording.messages[:100], heads, strict=True):
        bounded = {message["t_start_from"], message["t_end_from"]} - {"clock", None}
        timed = message["t_start_ns"] is not None and message["t_end_ns"] is not None
        check_equal(", ~" in line, bool(bounded) and timed, f"'{line}' of {message}")


def job_is_timed(command, *, shares, layers=("uct", "ucp", "mpi"), **options):
    with scratch() as folder:
        _, recording = record_well(folder / "data", command, **options)
        check_complete(recording.info, layers=layers)
        check_equal(check_operations(recording) > 0, shares, "operations begin with their call")
        check(check_transfers(recording) > 0, "no transfer was short")
        check_messages(recording)
        arrivals = [m for m in recording.messages if m["t_end_from"] == "arrival"]
        check(arrivals, "no message ended as it arrived")
        long = [m for m in arrivals if m["bytes"] > 4096 and all(
            hop["op"].endswith("zcopy") for hop in m["path"] if hop["role"] == "data")]
        check(not long, f"the fetch of a rendezvous is no arrival: {long[:1]}")


CASES = {
    "ompi": lambda: job_is_timed(MPIS["ompi"].job("exchange"), shares=True),
    "mpich": lambda: job_is_timed(MPIS["mpich"].job("exchange"), shares=True),
    # MPI_THREAD_MULTIPLE: nothing of a call's.
    "threads": lambda: job_is_timed(MPIS["ompi"].job("threads"), shares=False),
    "plain_ucp": lambda: job_is_timed([PROGRAMS / "plain_ucp"], shares=False,
                                      layers=("uct", "ucp")),
}

run_test(lambda case: CASES[case]())
