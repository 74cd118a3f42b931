"""Programs that count, pin or limit their threads: with `--no-helper` they see the same as without
the tool, otherwise one thread more."""

import os
import re

from checks import check_complete
from harness import PROGRAMS, Skip, check, check_equal, need, run_test, run_well, scratch
from recordings import Recording, record_command

STRANGER = 61235  # a user who runs nothing else: a limit on threads counts all a user's
LIMIT = 8


def numbers(result):
    return [int(number) for number in re.findall(r"\d+", result.stdout)]


def three_runs(program):
    """The program's output alone, recorded without the helper, and recorded with it."""
    environment = {"UCX_TLS": "posix"}  # its thread for connections is UCX's own
    results = [numbers(run_well(program, env=environment))]
    for switches in (["--no-helper"], []):
        with scratch() as folder:
            data = folder / "data"
            data.mkdir()
            for path in (folder, data):
                path.chmod(0o777)  # the program may be another user's
            result = run_well(record_command(data, program, switches), env=environment)
            check("warning" not in result.stderr, f"record warns: {result}")
            check_complete(Recording(data).info, layers=("uct", "ucp"), processes=1)
            results.append(numbers(result))
    return results


def counted():
    alone, without_helper, with_helper = three_runs([PROGRAMS / "counted_threads"])
    check_equal(without_helper, alone, "threads with --no-helper")
    check_equal(with_helper, [alone[0] + 1, alone[1] + 1], "threads with uctrace's own")


def pinned():
    core = min(os.sched_getaffinity(0))
    program = [need("taskset"), "--cpu-list", str(core), PROGRAMS / "counted_threads"]
    for threads, on_the_core in three_runs(program):
        check_equal(on_the_core, threads, "threads on the core that the program was given")


def limited():
    if os.getuid() != 0:
        raise Skip("only root can become another user")
    program = [need("setpriv"), f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups",
               PROGRAMS / "counted_threads", str(LIMIT)]
    alone, without_helper, with_helper = three_runs(program)
    check_equal(alone[2], LIMIT - alone[0], "threads that the program can start alone")
    check_equal(without_helper, alone, "threads with --no-helper")
    check_equal(with_helper, [alone[0] + 1, alone[1] + 1, alone[2] - 1], "threads with uctrace's own")


CASES = {"counted": counted, "pinned": pinned, "limited": limited}


def threads_are_counted(case):
    CASES[case]()


run_test(threads_are_counted)
