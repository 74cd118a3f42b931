"""Another MPI tool beside uctrace: the tool and the program see the same as without uctrace. Loaded
after uctrace, it does not change the recording; loaded before, or linked into the program, it hides
the functions that it wraps."""

from collections import Counter

from checks import check_accounts, check_complete, results_of
from harness import PROGRAMS, check_equal, run_test, run_well, scratch
from launchers import PRELOADING, write_script
from mpi_jobs import MPIS
from recordings import record_well

CALLS = {"MPI_Init": 1, "MPI_Irecv": 7, "MPI_Send": 7, "MPI_Wait": 7, "MPI_Allreduce": 3,
         "MPI_Finalize": 1}  # of each rank (tooled.c)
WRAPPED = ("MPI_Send", "MPI_Allreduce", "MPI_Finalize")


def calls_of(recording, mpi):
    names = Counter(call["function"] for call in recording.table("mpi_calls"))
    return {name: count / mpi.ranks for name, count in names.items()}


def tools_get_along(mpi, folder, where, job):
    alone = run_well(job)
    result, recording = record_well(folder / where, job)
    # The launcher may mix the lines of the ranks.
    lines = [sorted(output.splitlines()) for output in (alone.stdout, result.stdout)]
    check_equal(lines[1], lines[0], f"what the tool counts {where}")
    check_equal(len(lines[0]), mpi.ranks, "lines of the tool")
    hidden = () if where == "behind" else WRAPPED
    check_equal(calls_of(recording, mpi), {n: c for n, c in CALLS.items() if n not in hidden},
                f"calls with a tool {where}")
    if where == "behind":
        check_complete(recording.info, processes=mpi.ranks)
    else:
        check_accounts(recording.info)
        check_equal(results_of(recording.info).get("violated"), None, f"identities {where}")


def other_tools_get_along(mpi_name):
    mpi = MPIS[mpi_name]
    tool = PROGRAMS / f"pmpi_tool.{mpi_name}.so"
    with scratch() as folder:
        for where, script in PRELOADING.items():
            *launcher, program = mpi.job("tooled")
            preloading = write_script(folder / f"{where}.sh", script % tool)
            tools_get_along(mpi, folder, where, [*launcher, preloading, program])
        tools_get_along(mpi, folder, "linked", mpi.job("tooled_linked"))


run_test(other_tools_get_along)
