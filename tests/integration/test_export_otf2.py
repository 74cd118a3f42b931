"""An OTF2 archive has the store's content, as read by OTF2's own programs."""

import json
from collections import Counter, defaultdict

from exports import end_of_transfer, export_otf2, export_otf2_with_remarks, recorded, reported_pairs
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well
from stores import copy_of, generate

COLLECTIVES = {"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
               "MPI_Allreduce", "MPI_Reduce", "MPI_Scan"}
ROOTED = {"MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Reduce"}


def sums_of(messages):
    pairs = defaultdict(lambda: [0, 0])
    for _, src, dst, length, *_ in messages:
        pairs[src, dst][0] += 1
        pairs[src, dst][1] += length
    return {pair: tuple(sums) for pair, sums in pairs.items()}


def check_otf2_messages(recording, found):
    """Between all pairs of ranks as many messages and bytes as `report` counts, sent and received."""
    one_sided = ("put", "get", "atomic")
    # In a get, the receiver of the data makes the request.
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
        spans = [(process, region, start, stop) for process, location, region, start, stop, _, _, role in found["spans"]
                 if is_of(location) and not role.endswith("ARTIFICIAL")]
        check_equal(Counter(spans), Counter(rows), f"regions of {table}")

    names = [f"rank {p['rank']} {p['host']} pid {p['pid']}" for p in recording.table("processes")]
    check_equal(processes, names, "processes of the archive")
    check_equal(found["resolution"], 10**9, "ticks a second")
    compare("mpi_calls", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("MPI thread"))
    compare("ucp_operations", "function", lambda r: r["t_end_ns"], lambda location: location.startswith("UCP "))
    compare("transfers", "op", end_of_transfer, lambda location: location.startswith("UCT "))
    memory = Counter(r["memory"] for r in recording.named_table("ucp_operations"))
    check_equal(Counter(s[5].get("uctrace.memory", "unknown") for s in found["spans"] if s[1].startswith("UCP ")),
                memory, "memory of UCP operations")
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
    # Ranks of the world are places of processes, in which the archive has its roots, too.
    expected = Counter((c["process"], c["function"], c["peer"] if c["function"] in ROOTED else None, c["bytes"],
                        c["recv_bytes"]) for c in calls if c["function"] in COLLECTIVES)
    collectives = Counter((process, function, root, sent, received)
                          for process, function, _, _, root, sent, received, _ in found["collectives"]
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


def collectives_are_those_of_program(mpi_name):
    """Blocking, non-blocking and persistent ones, from and to several roots, on communicators in another order
    than the world."""
    with scratch() as folder:
        mpi = MPIS[mpi_name]
        _, recording = record_well(folder / "data", mpi.job("collectives", folder / "truth"))
        found, told = export_otf2_with_remarks(recording, folder / "archive")
        truth = [(rank, *row) for rank in range(mpi.ranks) for row in truth_of(folder, rank)]
        check(any(root is not None and root != process for *_, root, process in truth), "ranks are those of the world")
        check_equal({row[4] for row in truth}, {"reversed", "half"} if mpi.ranks > 2 else {"reversed"}, "communicators")
        blocking = [row for row in truth if row[2] == row[3]]
        begun = [row for row in truth if row[2] != row[3]]
        check_equal(of_program(found["collectives"]), Counter(blocking), "blocking ones")
        check_equal(of_program(found["begun"]), Counter(begun), "non-blocking ones")
        # All others are within one process: some libraries use one handle for both requests.
        others = len(found["begun"]) - len(begun)
        left = found["not_completed"]
        check_equal(others + len(left), 2 * mpi.ranks, "operations of one process")
        check_equal({function for _, function in left} - {"MPI_Ibcast"}, set(), "what has no completion")
        line = f"{len(left)} non-blocking collective operations of which it is not known which call completed it"
        check_equal(line in told, bool(left), f"what the export says: {told}")


def truth_of(folder, rank):
    for line in (folder / f"truth.{rank}.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield tuple(row[name] for name in ("op", "begun", "done", "comm", "sent", "received", "root", "root_in_world"))


def of_program(rows):
    """The program's own account of collectives on its communicators; libraries make others inside constructors."""
    found = Counter()
    for process, begun, *done, op, comm, root_in_world, sent, received, root in rows:
        name = comm.split(" (")[0]
        if name in ("reversed", "half"):
            ended = done[0] if done else begun
            found[process, op.removeprefix("CollectiveOp."), begun, ended, name, sent, received, root, root_in_world] += 1
    return found


def other_programs():
    """One-sided operations, and communicators whose ranks differ from the world's."""
    with scratch() as folder:
        for program in ("rma", "communicators"):
            mpi = MPIS["ompi"]
            _, recording = record_well(folder / program, mpi.job_with_windows(program, folder / "truth"))
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


def partitions_are_mirrored():
    """The sends of partitions are in the requested calls."""
    with scratch() as folder:
        mpi = MPIS["mpich"]
        _, recording = record_well(folder / "data", mpi.job("partitioned", folder / "truth"))
        calls = recording.table("mpi_calls")
        uses = recording.table("partition_operations")
        use_of = {e["call"]: uses[e["operation"]] for e in recording.named_table("partition_events")
                  if e["kind"] == "pready"}
        ready = {number: use_of[m["call"]] for number, m in enumerate(recording.table("messages"))
                 if m["mpi"].startswith("MPI_Pready")}
        check(ready, "no message of partitions")
        for mirror, column, functions in (("last-pready", "ready_call", {"MPI_Pready_list"}),
                                          ("start", "start_call", {"MPI_Start", "MPI_Startall"}), ("none", None, set())):
            found = export_otf2(recording, folder / mirror, "--p2p-mirror", mirror)
            placed = {m[7]["uctrace.message"]: (m[6], m[7]["entered"]) for m in found["messages"]
                      if m[0] in ("send", "isend") and m[7]["uctrace.message"] in ready}
            expected = {number: (calls[use[column]]["function"], calls[use[column]]["t_start_ns"])
                        for number, use in ready.items()} if column else {}
            check_equal(placed, expected, f"calls with sends, {mirror}")
            check_equal({function for function, _ in placed.values()}, functions, f"their functions, {mirror}")


def properties_are_those_of_run():
    """Of generated logs, and of logs alone; both have no partitioned messages."""
    with scratch() as folder:
        generate(folder / "generated", 3000)
        recording = recorded("ompi", folder)
        copied = copy_of(recording, folder / "logs")
        (copied.folder / "run.json").unlink()
        for name, run in (("generated", Recording(folder / "generated")), ("logs", copied)):
            found = export_otf2(run, folder / f"{name}.otf2")
            check_equal(len(found["processes"]), len(run.info["processes"]), "processes")
            # OTF2 clears so much for each location, of which a run with hundreds of ranks has ten thousand.
            check_equal(found["definitions_at_once"], 256 * 1024, "bytes for the definitions of a location")
            anchor = (folder / f"{name}.otf2" / "traces.otf2").read_bytes()
            check(b"UCTRACE::RUN_ID" in anchor, "the archive does not name its run")
            check(b"MPIMON::PARTITIONED" not in anchor, "it announces partitioned messages that it lacks")


CASES = {"whole": archive_is_whole, "collectives": collectives_are_those_of_program, "more": other_programs,
         "partitioned": partitions_are_mirrored, "properties": properties_are_those_of_run}
run_test(lambda case, *arguments: CASES[case](*arguments))
