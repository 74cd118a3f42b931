"""An OTF2 archive holds what the store holds, as OTF2's own programs read it."""

import json
from collections import Counter, defaultdict

from exports import end_of_transfer, python_with, recorded, reported_pairs
from harness import Skip, SOURCE_ROOT, TOOL, check, check_equal, need, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

PARTITIONED = {"MPI_Psend_init": "PsendInit", "MPI_Precv_init": "PrecvInit", "MPI_Pready": "Pready",
               "MPI_Pready_range": "Pready", "MPI_Pready_list": "Pready", "MPI_Parrived": "Parrived"}
READING_S = 200  # in Python, record by record, on a busy machine
COLLECTIVES = {"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
               "MPI_Allreduce", "MPI_Reduce", "MPI_Scan"}
ROOTED = {"MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Reduce"}


def export_otf2(recording, path, *options):
    """What OTF2's own Python module reads of an archive that its own tool finds nothing wrong with."""
    result = run([TOOL, "export", recording.folder, "--to", "otf2", "-o", path, *options])
    if "built without the OTF2 library" in result.stderr:
        raise Skip(result.stderr.strip())
    check_equal((result.status, result.stdout), (0, f"{path}\n"), f"status and output of {result}")
    anchor = path / "traces.otf2"
    run_well([need("otf2-print"), "--silent", anchor])
    reader = [python_with("otf2"), SOURCE_ROOT / "tests" / "integration" / "read_otf2.py", anchor]
    return json.loads(run_well(reader, timeout=READING_S).stdout)


def sums_of(messages):
    pairs = defaultdict(lambda: [0, 0])
    for _, src, dst, length, *_ in messages:
        pairs[src, dst][0] += 1
        pairs[src, dst][1] += length
    return {pair: tuple(sums) for pair, sums in pairs.items()}


def check_otf2_messages(recording, found):
    """Between all pairs of ranks as many messages and bytes as `report` counts, sent and received."""
    one_sided = ("put", "get", "atomic")
    # Who gets data asks the one whose data they are.
    moved = [m if m[0] != "get" else [m[0], m[2], m[1], *m[3:]] for m in found["messages"]]
    sent = [m for m in moved if m[0] in ("send", "isend", *one_sided)]
    reported = {(p["src"], p["dst"]): (p["messages"], p["bytes"]) for p in reported_pairs(recording)}
    check_equal(sums_of(sent), reported, "messages sent in the archive")
    received = [m for m in moved if m[0] in ("recv", "irecv", *one_sided)]
    check_equal(sums_of(received), reported, "messages received in the archive")
    by_id = {m["id"]: m for m in recording.messages}
    for kind, *_, tag, comm, region, attributes in sent:
        message = by_id[attributes["uctrace.message"]]
        check_equal(attributes.get("uctrace.protocol"), message["protocol"], f"protocol of {message}")
        if message["mpi"] is not None:
            check_equal(region, message["mpi"], f"the call that has {message}")
        check_equal(kind, message["kind"] if kind in one_sided else kind, f"kind of {message}")
        if kind not in one_sided:
            check_equal(tag, 0xFFFFFFFF if message["tag"] is None else message["tag"], f"tag of {message}")
        if message["comm"] is not None and comm != "all processes":
            check_equal(comm.split(" (")[0], message["comm"], f"communicator of {message}")
    check(any(comm != "all processes" for *_, comm, _, _ in sent), "no message has its communicator")


def check_otf2_spans(recording, found):
    processes = found["processes"]

    def compare(table, name, end, is_of):
        rows = [(r["process"], r[name], r["t_start_ns"], end(r)) for r in recording.table(table)]
        spans = [(process, region, start, stop) for process, location, region, start, stop, *_ in found["spans"]
                 if is_of(location)]
        check_equal(Counter(spans), Counter(rows), f"regions of {table}")

    names = [f"rank {p['rank']} {p['host']} pid {p['pid']}" for p in recording.table("processes")]
    check_equal(processes, names, "processes of the archive")
    check_equal(found["resolution"], 10**9, "ticks a second")
    compare("mpi_calls", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("MPI thread"))
    compare("ucp_operations", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("UCP "))
    compare("transfers", "op", end_of_transfer, lambda location: location.startswith("UCT "))
    carried = Counter((s[5]["uctrace.transport"], s[5]["uctrace.device"]) for s in found["spans"]
                      if s[1].startswith("UCT "))
    check_equal(carried, Counter((t["transport"], t["device"]) for t in recording.table("transfers")), "transports")
    bytes_of = lambda rows, payload, wire: [sum(r[column] for r in rows) for column in (payload, wire)]
    check_equal(bytes_of([s[5] for s in found["spans"] if s[1].startswith("UCT ")],
                         "uctrace.payload_bytes", "uctrace.wire_bytes"),
                bytes_of(recording.table("transfers"), "payload_bytes", "wire_bytes"), "payload and wire bytes")


def check_otf2_calls(recording, found):
    """Collective operations with their roots, and the lines that call."""
    names = {c["name"]: c["user_name"] for c in recording.table("communicators")}
    calls = recording.table("mpi_calls")
    expected = Counter((c["process"], c["function"], c["bytes"], c["recv_bytes"]) for c in calls
                       if c["function"] in COLLECTIVES)
    collectives = Counter((process, function, sent, received)
                          for process, function, _, _, _, sent, received in found["collectives"]
                          if function in COLLECTIVES)
    check_equal(collectives, expected, "collective operations")
    check(expected, "the job has no collective operation")
    for _, function, op, comm, root, *_ in found["collectives"]:
        check_equal(op.split(".")[1].lower().replace("_", ""),
                    function.removeprefix("MPI_").lower().replace("_", ""), f"operation of {function}")
        check(comm.rpartition("(")[2].rstrip(")") in names or comm in names, f"unknown communicator {comm}")
        check_equal(root is not None, function in ROOTED, f"a root of {function}")
    functions = {f["function"] for f in recording.table("frames")}
    paths = [s[5].get("uctrace.call_path") for s in found["spans"] if s[1].startswith("MPI thread")]
    check(any(path and "main" in path[:-1] + path[-1:] for path in paths), "no call path leads from main")
    check(all(set(path) <= functions for path in paths if path), "call paths of functions that no stack has")


def archive_is_whole(mpi_name):
    with scratch() as folder:
        recording = recorded(mpi_name, folder)
        found = export_otf2(recording, folder / "archive")
        check_otf2_spans(recording, found)
        check_otf2_messages(recording, found)
        check_otf2_calls(recording, found)


def other_programs():
    """One-sided operations, and communicators of which ranks are others than in the world."""
    with scratch() as folder:
        for program in ("rma", "communicators"):
            mpi = MPIS["ompi"]
            options = [*mpi.transport_options, "--mca", "osc", "ucx"]
            _, recording = record_well(folder / program, mpi.job(program, folder / "truth", options=options))
            found = export_otf2(recording, folder / f"{program}.otf2")
            check_otf2_spans(recording, found)
            check_otf2_messages(recording, found)
            kinds = {m["kind"] for m in recording.messages}
            check(program != "rma" or {"put", "get"} <= kinds, f"kinds of messages: {kinds}")
            check_members(recording, found)


def check_members(recording, found):
    members = recording.table("communicator_members")
    archive = dict(found["communicators"])
    for row in recording.table("communicators"):
        if not row["complete"] or row["remote_size"] or row["world"] != 0:
            continue
        runs = members[row["first_member"] : row["first_member"] + row["members"]]
        ranks = [m["first"] + i * m["stride"] for m in runs for i in range(m["count"])]
        name = f"{row['user_name']} ({row['name']})" if row["user_name"] else row["name"]
        check_equal(archive.get(name), ranks, f"members of {name}")


def partitions_are_marked():
    """The events of partitioned communication on Enter records, and their sends where they are wanted."""
    with scratch() as folder:
        mpi = MPIS["mpich"]
        _, recording = record_well(folder / "data", mpi.job("partitioned", folder / "truth"))
        ready = [m for m in recording.messages if (m["mpi"] or "").startswith("MPI_Pready")]
        check(ready, "no message of partitions")
        for mirror, region in (("last-pready", "MPI_Pready_list"), ("start", "MPI_Startall"), ("none", None)):
            found = export_otf2(recording, folder / mirror, "--p2p-mirror", mirror)
            ids = {m["id"] for m in ready}
            regions = Counter(m[6] for m in found["messages"]
                              if m[0] in ("send", "isend") and m[7]["uctrace.message"] in ids)
            check_equal(regions, Counter({region: len(ids)} if region else {}), f"calls with sends, {mirror}")
        events = Counter((s[2], s[5]["mpi.part.event"]) for s in found["spans"] if "mpi.part.event" in s[5])
        calls = Counter(c["function"] for c in recording.table("mpi_calls"))
        expected = {(function, event): calls[function] for function, event in PARTITIONED.items() if calls[function]}
        check_equal(dict(events), expected, "events of partitioned communication")
        inits = [s[5] for s in found["spans"] if s[2] == "MPI_Psend_init"]
        check(inits and all({"mpi.part.peer", "mpi.part.tag", "mpi.part.comm"} <= set(a) for a in inits), f"{inits}")


CASES = {"whole": archive_is_whole, "more": other_programs, "partitioned": partitions_are_marked}
run_test(lambda case, *arguments: CASES[case](*arguments))
