"""Communicators of all kinds get their names, members and parents, although the processes exchange
nothing about them."""

from checks import check_program_is_recorded, read_truth
from launchers import launcher_version

from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well


def members_of(comm, runs):
    listed = {0: [], 1: []}
    for run in runs[comm["first_member"] : comm["first_member"] + comm["members"]]:
        listed[run["remote"]] += [run["first"] + i * run["stride"] for i in range(run["count"])]
    return listed[0], listed[1]


def check_table(recording, ranks):
    comms = recording.table("communicators")
    runs = recording.table("communicator_members")
    named = {comm["name"]: comm for comm in comms}
    check_equal(len(named), len(comms), "different names")
    for comm in comms:
        own, remote = members_of(comm, runs)
        check_equal((len(own), len(remote)), (comm["size"], comm["remote_size"]), f"{comm}")
        check(own[0] == comm["leader"] and comm["complete"], f"{comm} of {own}")
        if remote:
            check_equal(remote[0], comm["remote_leader"], f"{comm} of {remote}")
            check(comm["leader"] < comm["remote_leader"], f"sides of {comm}")
        predefined = comm["name"][0] in "WS"
        check_equal(comm["freed_ns"] == -1, predefined, f"end of {comm}")
        check_equal(comm["parent"] == -1, predefined, f"parent of {comm}")
    halves = [range(first, -1, -2) for first in (ranks - 1, ranks - 2)]
    for half in halves:
        split = next(c for c in comms if c["name"][0] == "s" and members_of(c, runs)[0] == [*half])
        check_equal(comms[split["parent"]]["name"], "W0.0", "parent of a half")
        again = next(c for c in comms if c["name"][0] == "s" and c is not split
                     and members_of(c, runs)[0] == sorted(half))
        if ranks > 2:
            check_equal(comms[again["parent"]]["name"], split["name"], "parent of its split")


def rare_kinds_are_named(mpi):
    """Those that not every MPI can make, and MPI_COMM_SELF."""
    check_program_is_recorded(mpi, "communicators_all")
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("communicators_all", folder / "truth"))
        made = {c["name"][0]: c["function"] for c in recording.table("communicators")}
        expected = {"W": "", "S": "", "s": "MPI_Comm_split"}
        if mpi.name == "mpich" or launcher_version("ompi") >= (6, 0):  # those of MPI 4
            expected |= {"o": "MPI_Comm_idup_with_info", "f": "MPI_Comm_create_from_group",
                         "F": "MPI_Intercomm_create_from_groups"}
        else:
            # For an intercommunicator, the function called by the side of the first rank.
            expected |= {"n": "MPI_Comm_accept", "k": "MPI_Comm_join"}
        check_equal(made, expected, "kinds and what made them")
        check_equal([n for n in recording.info["notes"] if "one side is known" in n], [], "notes")


def communicators_are_named(name, kinds="common"):
    mpi = MPIS[name]
    if kinds == "rare":
        return rare_kinds_are_named(mpi)
    check_program_is_recorded(mpi, "communicators")
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("communicators", folder / "truth"))
        check_table(recording, mpi.ranks)
        letters = {row["comm"][0] for row in read_truth(folder / "truth", mpi)}
        expected = set("deiuabrgjIm") | (set("sc") if mpi.ranks > 2 else set())
        # MPICH 5 may find no node that its ranks share: each is alone then.
        if any(c["name"][0] == "t" and c["size"] > 1 for c in recording.table("communicators")):
            expected.add("t")
        check_equal(letters, expected, "kinds with a message")


run_test(communicators_are_named)
