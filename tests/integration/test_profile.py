"""The sample of a communicator-centric profile: 30 sums on the world, 100 in each half, exactly, in
profile.db and in `uctrace comms`; and the tables of the database agree with each other."""

import json
import sqlite3
from collections import Counter

from checks import check_complete
from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

START_AND_END = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
ON_ALL, ON_HALVES, BYTES = 30, 100, 256 * 8


def expected_calls(ranks):
    """{(communicator, rank): calls of MPI_Allreduce}"""
    half = ranks // 2
    calls = {("W0.0", rank): ON_ALL for rank in range(ranks)}
    calls |= {("s0.1" if rank < half else f"s{half}.1", rank): ON_HALVES for rank in range(ranks)}
    return calls


def check_database(path, recording, ranks):
    database = sqlite3.connect(path)
    expected = expected_calls(ranks)
    rows = database.execute(
        "SELECT name, rank, calls, buffer_size_min, buffer_size_max, volume FROM data"
        " JOIN comms ON comms.id = comm_id JOIN operations ON operations.id = operation_id"
        " WHERE operation = 'Allreduce'"
    ).fetchall()
    check_equal({row[:2]: row[2] for row in rows}, expected, "calls")
    check_equal(
        {row[:2]: row[3:] for row in rows},
        {key: (1024, 8192, calls * BYTES) for key, calls in expected.items()},
        "buckets and volumes",
    )
    sizes = dict(database.execute("SELECT name, size FROM comms"))
    named = {"W0.0": ranks, "s0.1": ranks // 2, f"s{ranks // 2}.1": ranks - ranks // 2, "-": 1}
    named |= {f"S{rank}.0": 1 for rank in range(ranks)}
    check_equal(sizes, named, "communicators")

    def single(sql):
        return database.execute(sql).fetchone()[0]

    calls = recording.info["events"]["mpi"]
    check_equal(single("SELECT sum(calls) FROM calls"), calls, "calls of all operations")
    check_equal(single("SELECT sum(calls) FROM data"), calls, "calls in mpisee's table")
    asked = [m for m in recording.table("messages") if m["call"] >= 0]
    check_equal(single("SELECT sum(messages) FROM peers"), len(asked), "messages")
    check_equal(single("SELECT sum(bytes) FROM peers"), sum(m["bytes"] for m in asked), "bytes")
    carried = single("SELECT sum(bytes) FROM transports WHERE role = 'data'")
    check_equal(carried, sum(m["bytes"] for m in asked), "bytes of the transports")
    sites = dict(database.execute(
        "SELECT s.line, sum(c.calls) FROM calls c JOIN call_sites s ON s.id = call_site_id"
        " JOIN operations o ON o.id = operation_id WHERE operation = 'Allreduce' GROUP BY s.id"
    ))
    check_equal(list(sites.values()), [(ON_ALL + ON_HALVES) * ranks], f"calls of lines {sites}")
    sums = database.execute(
        "SELECT d.name, d.combiner, d.size, c.send_bytes / d.size, sum(c.calls) FROM calls c"
        " JOIN datatypes d ON d.id = c.datatype_id JOIN operations o ON o.id = operation_id"
        " WHERE operation = 'Allreduce' GROUP BY d.id"
    ).fetchall()
    check_equal(sums, [("MPI_DOUBLE", "named", 8, BYTES // 8, (ON_ALL + ON_HALVES) * ranks)],
                "datatype and elements of the sums")
    check_equal(database.execute("PRAGMA foreign_key_check").fetchall(), [], "foreign keys")
    late = single("SELECT count(*) FROM processes WHERE mpi_time > exec_time")
    check_equal(late, 0, "processes with more time in MPI than they had")
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"):
        database.execute(f"SELECT * FROM {name}").fetchall()
    database.close()


def comms(recording, *options):
    result = recording.ask("comms", "--format", "json", *options)
    check_equal(result.status, 0, f"status of comms {options}")
    return json.loads(result.stdout)["comms"]


def check_comms(recording, ranks):
    rows = comms(recording, "--mpi", "MPI_Allreduce")
    found = {row["comm"]: (row["calls"], row["sent_bytes"], row["received_bytes"]) for row in rows}
    expected = Counter()
    for (name, _), calls in expected_calls(ranks).items():
        expected[name] += calls
    check_equal(found, {n: (c, c * BYTES, c * BYTES) for n, c in expected.items()}, "comms")
    carried = comms(recording, "--by", "comm,transport", "--mpi", "MPI_Allreduce")
    check_equal({row["comm"] for row in carried} - {"W0.0"} <= set(expected), True, "transports")
    check(any(row["comm"] == "W0.0" and row["bytes"] > 0 for row in carried), f"none in {carried}")
    half = comms(recording, "--comm", "s0.1", "--by", "rank", "--kind", "collective")
    check_equal({row["rank"]: row["calls"] for row in half},
                {str(rank): ON_HALVES for rank in range(ranks // 2)}, "ranks of a half")
    by_bucket = comms(recording, "--by", "bucket", "--buckets", "1K,2K,4K", "--mpi", "MPI_Allreduce")
    check_equal([(row["from_bytes"], row["below_bytes"]) for row in by_bucket], [(2048, 4096)],
                "bucket")
    unknown = recording.ask("comms", "--comm", "s7.7")
    check_equal(unknown.status, 125, "status for a communicator that is not there")
    check("this run has" in unknown.stderr and "s0.1" in unknown.stderr, unknown.stderr)


def check_views(recording, ranks):
    """Each table has all calls exactly once, except start and end of MPI, which only rows by operation can show;
    and the same rows in every format."""
    calls = recording.info["events"]["mpi"]
    apart = [row for row in comms(recording, "--by", "op") if row["op"] in START_AND_END]
    check_equal(sum(row["calls"] for row in apart), 2 * ranks, f"calls of start and end: {apart}")
    check(all(row["time_percent"] is None for row in apart), f"share of start and end: {apart}")
    told = json.loads(recording.ask("comms", "--format", "json", "--by", "rank").stdout)
    check_equal(told["start_and_end_ns"], sum(row["time_ns"] for row in apart), "time of start and end")
    for by in ("comm", "op", "kind", "rank", "bucket", "time", "call-site", "comm,op,rank,bucket"):
        rows = comms(recording, "--by", by)
        expected = calls if "op" in by else calls - 2 * ranks
        check_equal(sum(row["calls"] for row in rows), expected, f"calls by {by}")
        for row in rows:
            if "rank" not in by:
                check(row["min_ns"] <= row["mean_ns"] <= row["max_ns"] <= row["time_ns"], f"{row}")
        lines = recording.ask("comms", "--format", "csv", "--by", by).stdout.splitlines()
        check_equal(lines[0].split(","), list(rows[0]), f"columns by {by}")
        check_equal(len(lines) - 1, len(rows), f"rows by {by}")
    sites = comms(recording, "--by", "call-site", "--mpi", "MPI_Allreduce")
    check_equal([row["calls"] for row in sites], [(ON_ALL + ON_HALVES) * ranks], "calls of a line")
    check(all("listing1.c:" in row["call_site"] for row in sites), f"lines of the program: {sites}")


def profile_is_exact(name):
    mpi = MPIS[name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("listing1"))
        check_complete(recording.info, processes=mpi.ranks)
        check_comms(recording, mpi.ranks)
        check_views(recording, mpi.ranks)
        check_database(folder / "data" / "profile.db", recording, mpi.ranks)


run_test(profile_is_exact)
