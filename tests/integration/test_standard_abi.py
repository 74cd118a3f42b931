"""MPI's standard ABI (MPI 5): libraries that implement it are recognized by what they report,
whatever their names and other symbols. With a stand-in of one process (abi_mpi.c), which prints
nothing and moves nothing."""

from harness import PROGRAMS, check_equal, run_test, run_well, scratch
from recordings import record_well

PROGRAM = [PROGRAMS / "abi_mpi_user"]
PMPI_APART = [PROGRAMS / "abi_mpi_apart_user"]  # whose PMPI functions are in a library of their own
NAMES = ("Open MPI v6.0.0rc2, package: nobody's", "MPICH Version:      5.0.2", "Nobody's MPI 0.1")
THREAD_LEVELS = {0: 1, 1024: 2, 2048: 3, 4096: 4, 3: 0}  # MPI_THREAD_*: thread_level of a log
LEVEL_OFFSET = 709  # docs/log-format.md
NONE, ANY, NULL = -2**31, -1, -2

# function, communicator, peer, tag, bytes, received bytes
CALLS = [
    ("MPI_Init", "", NONE, NONE, 0, 0),
    ("MPI_Send", "MPI_COMM_SELF", 0, 7, 5, 0),
    ("MPI_Send", "MPI_COMM_WORLD", NULL, 8, 0, 0),
    ("MPI_Recv", "MPI_COMM_WORLD", ANY, ANY, 0, 48),
    ("MPI_Irecv", "MPI_COMM_WORLD", 0, 9, 0, 4),
    ("MPI_Wait", "MPI_COMM_WORLD", NONE, NONE, 0, 0),
    ("MPI_Wait", "", NONE, NONE, 0, 0),  # of no request
    ("MPI_Bcast", "MPI_COMM_WORLD", 0, NONE, 2, 0),
    ("MPI_Allgather", "MPI_COMM_WORLD", NONE, NONE, 2, 2),  # in place
    ("MPI_Finalize", "", NONE, NONE, 0, 0),
]


def calls_of(recording):
    return [(call["function"], call["comm"], call["peer"], call["tag"], call["bytes"],
             call["recv_bytes"]) for call in recording.table("mpi_calls")]


def standard_abi_is_known():
    with scratch() as folder:
        for number, name in enumerate(NAMES):
            env = {"ABI_MPI_NAME": name}
            alone = run_well(PROGRAM, env=env)
            result, recording = record_well(folder / str(number), PROGRAM, env=env)
            check_equal(result.stdout, alone.stdout, "output of the program")
            check_equal(recording.info["faults"], [], f"faults with {name}")
            check_equal(recording.info["layers"]["mpi"]["state"], "on", f"layer mpi with {name}")
            check_equal(calls_of(recording), CALLS, f"calls with {name}")
            kinds = {row["name"]: row["combiner"] for row in recording.table("datatypes")}
            check_equal(kinds, {"MPI_BYTE": "named", "pairs": "indexed"}, "datatypes")
        _, recording = record_well(folder / "apart", PMPI_APART, env={"ABI_MPI_NAME": NAMES[0]})
        check_equal(recording.info["faults"], [], "faults with PMPI apart")
        check_equal(calls_of(recording), CALLS, "calls with PMPI apart")
        # The same calls mean something else when read by Open MPI's own ABI.
        env = {"ABI_MPI_NAME": NAMES[0], "ABI_MPI_IS_NATIVE": "1"}
        _, native = record_well(folder / "native", PROGRAM, env=env)
        by_place = [call[2:4] for call in calls_of(native)[2:4]]
        check_equal(by_place, [(-3, 8), (ANY, -2)], "peers and tags by another ABI")


def thread_levels_are_known():
    with scratch() as folder:
        for given, expected in THREAD_LEVELS.items():
            env = {"ABI_MPI_NAME": NAMES[0], "ABI_MPI_THREADS": str(given)}
            _, recording = record_well(folder / str(given), PROGRAM, env=env)
            (log,) = recording.logs
            check_equal(log.read_bytes()[LEVEL_OFFSET], expected, f"level in the log of MPI's level {given}")


def test():
    standard_abi_is_known()
    thread_levels_are_known()


run_test(test)
