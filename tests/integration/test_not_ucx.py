"""`record` says when an Open MPI job did not use UCX and names the fix; else it gives no advice."""

from harness import check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX
from recordings import record_well

WITHOUT_UCX = "--mca pml ob1 --mca btl self,vader".split()


def the_fix_is_named():
    mpi, fix = MPIS["ompi"], " ".join(OPEN_MPI_OVER_UCX)
    with scratch() as folder:
        job = mpi.job("allreduce", 1000, options=WITHOUT_UCX)
        alone = run_well(job)
        result, _ = record_well(folder / "without", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        advice = [line for line in result.stderr.splitlines() if fix in line]
        check_equal(len(advice), 1, f"lines that name the fix: {result}")
        check("UCX" in advice[0], f"the advice does not say why: {advice[0]}")

        # The command is given by a script, so that echoing it cannot look like advice.
        script = folder / "job.sh"
        words = " ".join(f"'{word}'" for word in mpi.job("allreduce", 1000))
        script.write_text(f"exec {words}\n")
        good, _ = record_well(folder / "with", ["sh", script])
        check(fix not in good.stderr, f"advice on a good job: {good}")
        check("warning" not in good.stderr.lower(), f"a warning on a good job: {good}")


run_test(the_fix_is_named)
