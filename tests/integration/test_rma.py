"""One-sided communication of MPI: each put and get is one message of the right size between the
right ranks, asked for by the right function, with all its bytes on its path; nothing is left over."""

from checks import check_complete, check_copies, check_delivered, check_links, read_truth
from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX
from recordings import record_well

OPEN_MPI_RMA_OVER_UCX = [*OPEN_MPI_OVER_UCX, "--mca", "osc", "ucx"]
SETTINGS = {
    "any": {},
    "shared-memory": {"UCX_TLS": "posix,self"},
    "tcp": {"UCX_TLS": "tcp,self"},
    "protocols-v2": {"UCX_PROTO_ENABLE": "y"},
}
ACCUMULATE = ("MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap")


def own_lines(result):
    """What the program prints. At the end UCX 1.13 may complain about ranks that left before."""
    return [line for line in result.stdout.splitlines() if line.startswith("rma:")]


def rma_is_recorded(mpi_name, setting):
    mpi, environment = MPIS[mpi_name], SETTINGS[setting]
    options = OPEN_MPI_RMA_OVER_UCX if mpi.name == "ompi" else None
    with scratch() as folder:
        alone = run_well(mpi.job("rma", options=options), env=environment)
        result, recording = record_well(
            folder / "data", mpi.job("rma", folder / "truth", options=options), env=environment
        )
        check_equal(own_lines(result), own_lines(alone), "output of the job")
        truth = read_truth(folder / "truth", mpi)
        if mpi.name == "mpich":  # writes memory that was attached by active messages
            truth = [row for row in truth if row["comm"] != "dynamic"]
        check_complete(recording.info, processes=mpi.ranks)
        check_links(recording.info, environment)
        for operation in recording.table("ucp_operations"):
            check(operation["t_end_ns"] >= operation["t_start_ns"] >= 0, f"no end: {operation}")
        check_copies(recording, truth)
        for function in ACCUMULATE:
            messages = recording.sent_by(function)
            kinds = {message["kind"] for message in messages}
            check(kinds, f"{function} sent nothing")
            check("tag" not in kinds, f"{function} sent by tag: {kinds}")
            check_delivered(messages)


run_test(rma_is_recorded)
