"""Records of MPI calls about collective operations and requests, compared with the program's own
account: volumes and roots of every collective operation; the requests of a call, and those that
ended in it, although handles are reused."""

import json
import struct

from checks import check_complete
from harness import check, check_equal, run_test, scratch
from logs import DEFINITIONS, Log
from mpi_jobs import MPIS
from recordings import record_well

TEXT, MPI_CALL, MPI_REQUESTS = 32, 6, 9
MPI_FUNCTION = 6  # kind of a text
PEER, VOLUME, RECEIVE, REQUEST, CALLER, STACK = 1, 2, 4, 8, 16, 32
COMPLETED, MORE = 1, 2


def words_at(log, offset, count):
    return struct.unpack_from(f"={count}Q", log.bytes, offset)


def functions_of(log):
    """{number: name}"""
    found = {}
    for offset, a, length in log.records(TEXT, DEFINITIONS):
        if a & 0xFF == MPI_FUNCTION:
            text = log.bytes[offset + 24 : offset + 24 + length]
            found[log.u64(offset + 16)] = text.decode()
    return found


def calls_of(log):
    """The calls of a log whose process has one thread, in their order."""
    names = functions_of(log)
    for offset, a, _ in log.records(MPI_CALL):
        parts = a >> 10
        call = {"function": names[a & 0x3FF], "start": log.u64(offset + 8)}
        at = offset + 32
        for part in (PEER, VOLUME, RECEIVE, REQUEST):
            if not parts & part:
                continue
            if part in (PEER, RECEIVE):
                call[("", "recv_")[part == RECEIVE] + "peer"] = struct.unpack_from("=i", log.bytes, at)[0]
                at += 8
            if part in (VOLUME, RECEIVE):
                call[("", "recv_")[part == RECEIVE] + "bytes"] = log.u64(at)
                at += 16
            if part == REQUEST:
                call["request"] = log.u64(at)
                at += 8
        yield call


def requests_of(log):
    """{start of a call: (handles, positions of those that ended or None)}"""
    found = {}
    for offset, flags, count in log.records(MPI_REQUESTS):
        handles, ended = found.get(log.u64(offset + 8), ([], None))
        if flags & COMPLETED:
            ended = [*(ended or []), *struct.unpack_from(f"={count}I", log.bytes, offset + 16)]
        else:
            handles = [*handles, *words_at(log, offset + 16, count)]
        found[log.u64(offset + 8)] = (handles, ended)
    return found


def recorded(mpi, program, folder):
    """For each rank its truth and its log."""
    _, recording = record_well(folder / "data", mpi.job(program, folder / "truth"))
    check_complete(recording.info, processes=mpi.ranks)
    logs = {}
    for path in recording.logs:
        log = Log(path)
        logs[struct.unpack_from("=i", log.bytes, 232)[0]] = log
    for rank in range(mpi.ranks):
        lines = (folder / f"truth.{rank}.jsonl").read_text().splitlines()
        yield rank, [json.loads(line) for line in lines], logs[rank]


def volumes_are_exact(mpi, folder):
    for rank, truth, log in recorded(mpi, "volumes", folder):
        wanted = {row["function"] for row in truth}
        calls = [call for call in calls_of(log) if call["function"] in wanted]
        check_equal(len(calls), len(truth), f"collective operations of rank {rank}")
        for row, call in zip(truth, calls):
            found = {key: call.get(key, 0) for key in ("function", "bytes", "recv_bytes")}
            found["root"] = call.get("peer", -1)
            check_equal(found, row, f"a call of rank {rank}")


def makes_request(call):
    function = call["function"]
    return (
        function in ("MPI_Isend", "MPI_Irecv", "MPI_Imrecv")
        or function.endswith("_init")
        or (function == "MPI_Improbe" and call["request"] != 0)
    )


def requests_are_told_apart(mpi, folder):
    for rank, truth, log in recorded(mpi, "requests", folder):
        groups = requests_of(log)
        # The maker of each request by its number; the newest number by handle.
        makers, numbers, found = [], {0: -1}, []
        for call in calls_of(log):
            function = call["function"]
            if call["start"] in groups:
                handles, ended = groups[call["start"]]
                given = [numbers[handle] for handle in handles]
                ends = function not in ("MPI_Startall", "MPI_Imrecv")
                places = range(len(given) if ends else 0) if ended is None else ended
                over = [given[place] for place in places]
                found.append({"function": function, "given": given, "ended": over})
            if makes_request(call):
                check(call["request"] != 0, f"{function} made no request")
                numbers[call["request"]] = len(makers)
                makers.append(function)
        check_equal(len(found), len(truth), f"calls of rank {rank} that take requests")
        for row, expected in zip(found, truth):
            check_equal(comparable(makers, row), comparable(makers, expected), "a call")


def comparable(makers, row):
    """Both MPIs use the same handle for all sends that are complete at return, so only others can
    be distinguished by handle. MPI_REQUEST_NULL has no number."""

    def name(number):
        return "none" if number < 0 else "a send" if makers[number] == "MPI_Isend" else number

    return {
        "function": row["function"],
        "given": [name(number) for number in row["given"]],
        "ended": sorted(str(name(number)) for number in row["ended"] if number >= 0),
    }


def records_are_right(mpi_name, case):
    with scratch() as folder:
        {"volumes": volumes_are_exact, "requests": requests_are_told_apart}[case](
            MPIS[mpi_name], folder
        )


run_test(records_are_right)
