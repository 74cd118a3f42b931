"""The variables of Open MPI's monitoring through MPI_T, with `record --counters`: on any MPI, checked by a
program that compares them with its own calls; the same sums as `uctrace counters`; and absent without
counters."""

import json

from checks import check_complete
from counter_files import by_pair, counters, read_prof
from harness import PROGRAMS, Skip, check, check_equal, run, run_test, run_well, scratch
from launchers import PRELOADING, write_script
from mpi_jobs import MPIS
from recordings import record_well

VARIABLES, CONTROLS = 15, 3
TOLD = ("external", "one-sided-sent", "one-sided-received", "collective")


def told(output):
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {(row["class"], row["rank"], row["peer"]): (row["messages"], row["bytes"]) for row in rows}


def check_profiles(folder, found, ranks):
    at_end = {}
    for rank in range(ranks):
        next_rank = (rank + 1) % ranks
        for phase in (1, 2):
            pairs, bins = read_prof(folder / f"phase_{phase}.{rank}.prof")
            expected = {("external", rank, next_rank): (2 * phase, 18 * phase)}
            check_equal(pairs, expected, f"what came since the last flush, phase {phase}")
            check_equal({i: n for i, n in enumerate(bins[rank, next_rank]) if n}, {4: 2 * phase}, "size bins")
        at_end |= read_prof(folder / f"end.{rank}.prof")[0]
        check(f"A2A\t{rank}\t" in (folder / f"end.{rank}.prof").read_text(), "communicators of the last profile")
    check_equal(at_end, by_pair(found, *TOLD), "what MPI_Finalize wrote")


def truth(mpi, switches):
    """The program compares the variables with its own calls; afterwards the test compares them with the
    files."""
    if run(mpi.job("tool_variables", "all-handles")).status != 0:
        raise Skip("this MPI cannot start all handles of MPI_T, without uctrace either")
    with scratch() as folder:
        result, recording = record_well(folder / "data", mpi.job_with_windows("tool_variables", folder), switches=switches)
        found = counters(recording.folder)
        # MPI_Finalize itself sends nothing that the program asked for.
        check_equal(told(result.stdout), by_pair(found, *TOLD), "the variables and `uctrace counters`")
        check_profiles(folder, found, mpi.ranks)
        if "--trace" in switches:
            check_complete(recording.info, processes=mpi.ranks)


FORTRAN_ROUNDS = 3  # tests/programs/fortran_tool_variables.f90


def fortran(mpi):
    """A Fortran program, through the C functions: MPI_T has no Fortran bindings."""
    with scratch() as folder:
        result, recording = record_well(folder / "data", mpi.job("fortran_tool_variables"), switches=["--counters"])
        messages, size = FORTRAN_ROUNDS, 8 * 10 * sum(range(1, FORTRAN_ROUNDS + 1))
        expected = {("external", rank, peer): (messages, size) if peer == (rank + 1) % mpi.ranks else (0, 0)
                    for rank in range(mpi.ranks) for peer in range(mpi.ranks)}
        check_equal(told(result.stdout), expected, "what the variables say")
        # One more was sent while the variables were stopped.
        sent = {key: (messages + 1, size + 8) for key, (count, _) in expected.items() if count}
        check_equal(by_pair(counters(recording.folder), "external"), sent, "what `uctrace counters` says")


def without_counters(mpi):
    """Without counters a program sees only the variables of the MPI library."""
    plain = run_well(mpi.job_with_windows("tool_variables", "own")).stdout.splitlines()
    check_equal(len(set(plain)), 1, "the ranks agree")
    pvars, cvars, categories, _ = map(int, plain[0].split())
    with scratch() as folder:
        result, _ = record_well(folder / "trace", mpi.job_with_windows("tool_variables", "own"), switches=[])
        check_equal(result.stdout.splitlines(), plain, "with a trace alone")
        result, _ = record_well(folder / "counters", mpi.job_with_windows("tool_variables", "own"), switches=["--counters"])
        expected = f"{pvars + VARIABLES} {cvars + CONTROLS} {categories} 0"
        check_equal(set(result.stdout.splitlines()), {expected}, "with counters")


def nowhere(mpi):
    """A profile that MPI_Finalize cannot write: the job survives, and the error is reported."""
    with scratch() as folder:
        job = mpi.job("tool_variables", "nowhere", folder)
        result, recording = record_well(folder / "data", job, switches=["--counters"])
        name = f"{folder}/no folder/end"
        faults = {(fault["fault"], fault["detail"]) for fault in recording.info["faults"]}
        check_equal(faults, {("profile_not_written", name)}, "faults")
        words = f"could not write the profile that the program asked for in {mpi.ranks} of {mpi.ranks} processes"
        check(words in result.stderr and f"{name}: No such file" in result.stderr, f"record does not say it: {result}")


SENDS = 7  # tests/programs/tooled.c, around a ring


def in_a_tools_init(mpi):
    """Another tool binds a variable inside its MPI_Init, possibly before ours has returned."""
    tool = PROGRAMS / f"variables_tool.{mpi.suffix}.so"
    if not tool.exists():
        raise Skip(f"{tool.name} was not built: no compiler of this MPI")
    expected = [f"variable: {rank} sent {SENDS} to {(rank + 1) % mpi.ranks}" for rank in range(mpi.ranks)]
    with scratch() as folder:
        for where, script in PRELOADING.items():
            for gives, switches in (("address", ["--counters"]), ("handle", ["--counters", "--trace"])):
                *launcher, program = mpi.job("tooled")
                preloading = write_script(folder / f"{where}.sh", script % tool)
                data = folder / f"{where} {len(switches)}"
                result, recording = record_well(data, [*launcher, preloading, program], switches=switches,
                                                env={"VARIABLES_TOOL": gives})
                check_equal(sorted(result.stdout.splitlines()), expected, f"what the tool says {where}, {switches}")
                if where == "behind" and "--trace" in switches:
                    check_complete(recording.info, processes=mpi.ranks)


def main(mpi, part="truth"):
    if part == "truth":
        truth(MPIS[mpi], ["--counters"])
    elif part == "traced":
        truth(MPIS[mpi], ["--counters", "--trace"])
    elif part == "tool":
        in_a_tools_init(MPIS[mpi])
    elif part == "nowhere":
        nowhere(MPIS[mpi])
    elif part == "fortran":
        fortran(MPIS[mpi])
    else:
        without_counters(MPIS[mpi])


run_test(main)
