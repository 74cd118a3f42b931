"""An OpenSHMEM job: its one-sided operations are those claimed by its PEs, between the launcher's
ranks."""

from collections import Counter

from checks import check_accounts, check_delivered, check_incomplete
from harness import PROGRAMS, Skip, check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import OPEN_MPI_OVER_UCX
from plain import read_calls
from recordings import record_well

PES = 2


def job(*arguments):
    program = PROGRAMS / "shmem"
    if not program.exists():
        raise Skip("shmem was not built: no oshcc")
    return [
        *(need("oshrun"), "--oversubscribe", *OPEN_MPI_OVER_UCX, "--mca", "spml", "ucx"),
        *("-np", PES, program, *arguments),
    ]


def pes_are_ranks():
    with scratch() as folder:
        alone = run_well(job())
        result, recording = record_well(folder / "data", job(folder / "truth"))
        check_equal(result.stdout, alone.stdout, "output of the job")
        check("is not clear" not in result.stderr, f"the launcher is not known: {result.stderr}")
        processes = recording.info["processes"]
        check_equal([p["rank"] for p in processes], list(range(PES)), "ranks")
        check_equal({p["rank_from"] for p in processes}, {"launcher"}, "where ranks are from")
        # The program cannot finalize (tests/programs/shmem.c), so that its logs stay open: nothing is
        # claimed, but all sums agree.
        check_incomplete(recording.info)
        for identity in recording.info["identities"]:
            check_equal(identity["left"], identity["right"], f"sides of {identity['name']}")
        check_accounts(recording.info)
        check_equal(recording.info["uct"]["unattributed"], 0, "unattributed UCT operations")

        messages = [m for m in recording.messages if m["kind"] in ("put", "get", "atomic")]
        check_delivered(messages)
        found = Counter()
        for m in messages:
            by, to = (m["src"], m["dst"]) if m["initiator"] == "src" else (m["dst"], m["src"])
            found[m["kind"], by, to, m["bytes"]] += 1
        truth = read_calls(folder / "truth")
        called = Counter((row["kind"], row["by"], row["to"], row["bytes"]) for row in truth)
        # Barriers and allocations put and get words of their own.
        check_equal(called - found, Counter(), "calls that are no message")


run_test(pes_are_ranks)
