"""A program that uses neither UCX nor MPI leaves no log, and `record` says so."""

from harness import PROGRAMS, check, check_equal, run, run_test, scratch
from recordings import record


def nothing_is_recorded():
    program = [PROGRAMS / "nothing", "7"]
    with scratch() as folder:
        alone = run(program)
        job_stderr = folder / "stderr"
        apart = ["sh", "-c", 'exec 2>"$0"; exec "$@"', job_stderr, *program]
        result, recording = record(folder / "data", apart)
        check_equal(result.status, alone.status, "exit status")
        check_equal(result.stdout, alone.stdout, "standard output")
        check_equal(job_stderr.read_text(), alone.stderr, "standard error")
        check_equal(recording.logs, [], "logs")
        for word in ("MPI", "UCX"):
            check(word in result.stderr, f"record does not say that nothing used {word}: {result}")


run_test(nothing_is_recorded)
