"""Traffic belongs to the call that requested it, whichever call happened to drive it. Without a
case: an MPI_Ialltoall and MPI_Isends; otherwise the programs' own account."""

import json
from collections import Counter

from checks import check_complete, check_messages_are, check_program_is_recorded, read_truth
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

SENDS = ("MPI_Send", "MPI_Start", "MPI_Startall")
AM_HEADER = 24  # that MPICH puts before the data of partitions
FILE_CALLS = {"MPI_File_open", "MPI_File_set_view", "MPI_File_write_at_all",
              "MPI_File_read_at_all", "MPI_File_close"}


def record_case(mpi, folder, *job):
    """The recording, and the ranks' account of their sends; the job's output is the same as without
    uctrace."""
    alone = run_well(mpi.job_with_windows(*job, folder / "alone"))
    result, recording = record_well(folder / "data", mpi.job_with_windows(*job, folder / "truth"))
    check_equal(result.stdout, alone.stdout, "output of the job")
    check_complete(recording.info, processes=mpi.ranks)
    return recording, read_truth(folder / "truth", mpi)


def check_files(recording, mpi):
    """Files belong to the communicator on which they were opened, and so does all of MPI's traffic
    for them."""
    of_files = [m for m in recording.messages if str(m["mpi"]).startswith("MPI_File_")]
    wanted = {(function, comm) for function in FILE_CALLS for comm in "AB"}
    if mpi.name == "mpich":  # Open MPI writes without an exchange in split and non-blocking calls
        wanted |= {("MPI_File_iwrite_at_all", comm) for comm in "AB"}
    found = {(m["mpi"], m["comm"]) for m in of_files}
    check(wanted <= found, f"no message of {wanted - found}")
    check_equal({comm for _, comm in found}, {"A", "B"}, "communicators of files")
    unowned = [m for m in recording.messages if m["mpi"] is None]
    check_equal(unowned, [], "messages that nobody asked for")
    calls = [c for c in recording.table("mpi_calls") if c["function"].startswith("MPI_File_")]
    check_equal({c["comm"] for c in calls}, {"A", "B"}, "communicators of calls on files")


def check_volumes(recording, truth, kind, functions):
    """The amounts by arguments equal the ranks' account: each start of a request counts, but not
    its creation; a get is received."""
    table = recording.ask("comms", "--format", "json", "--by", "kind", "--kind", kind)
    row = json.loads(table.stdout)["comms"][0]
    bytes_of = Counter()
    for sent in truth:
        bytes_of[sent["function"]] += sent["bytes"]
    sent, received = (sum(bytes_of[name] for name in names) for names in functions)
    check_equal((row["sent_bytes"], row["received_bytes"]), (sent, received), f"volume of {kind}")


def traffic_is_attributed(mpi_name, case=None):
    mpi = MPIS[mpi_name]
    if case is None:
        check_program_is_recorded(mpi, "attribution")
        return
    with scratch() as folder:
        if case == "partitioned":
            recording, truth = record_case(mpi, folder, "partitioned")
            for row in truth:
                row["bytes"] += AM_HEADER * row["function"].startswith("MPI_Pready")
        else:
            of_objects = case in ("epochs", "files")
            program = "attribution_objects" if of_objects else "attribution_more"
            recording, truth = record_case(mpi, folder, program, case)
        check_messages_are(recording, truth)
        if case == "persistent":
            check_volumes(recording, truth, "p2p", (SENDS, SENDS))
        if case == "epochs":
            check_volumes(recording, truth, "rma", (["MPI_Put"], ["MPI_Get"]))
        if case == "files":
            check_files(recording, mpi)


run_test(traffic_is_attributed)
