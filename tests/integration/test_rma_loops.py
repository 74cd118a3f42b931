"""Ranks that update each other's memory concurrently: similar messages from several ranks to one are
in flight together, and each is identified."""

from dataclasses import replace

from checks import check_complete
from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

SETTINGS = {
    "any": {},
    "shared-memory": {"UCX_TLS": "posix,self"},
    "protocols-v2": {"UCX_PROTO_ENABLE": "y"},
}
UPDATES = ("MPI_Fetch_and_op", "MPI_Accumulate", "MPI_Compare_and_swap")
WAITED_FOR = ("MPI_Fetch_and_op", "MPI_Compare_and_swap")  # before the next one


def check_one_at_a_time(messages, error_ns):
    """A rank's own message had been received when it continued; another rank's need not have been."""
    latest = {}
    for message in sorted(messages, key=lambda m: m["t_start_ns"]):
        before = latest.get(message["src"], 0)
        check(before <= message["t_start_ns"] + error_ns, f"received at {before}, after {message}")
        latest[message["src"]] = message["t_posted_recv_ns"]


def loops_are_told_apart(setting):
    mpi = replace(MPIS["mpich"], ranks=3)  # of two, only one can be the other
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("rma_loops"), env=SETTINGS[setting])
        check_complete(recording.info, processes=mpi.ranks)
        active = [message for message in recording.messages if message["kind"] == "am"]
        check_equal({message["match"] for message in active}, {"exact"}, "matches")
        for function in UPDATES:
            senders = {(m["src"], m["dst"]) for m in active if m["mpi"] == function}
            check(len(senders) >= mpi.ranks * (mpi.ranks - 1), f"{function}: only {senders}")
        waited_for = [message for message in active if message["mpi"] in WAITED_FOR]
        check_one_at_a_time(waited_for, recording.info["clock"]["max_error_ns"])


run_test(loops_are_told_apart)
