"""A merge killed at any point leaves the old run untouched or the new one complete; the next verb
shows the right numbers and removes leftovers."""

from harness import TOOL, check, check_equal, run, run_test, scratch
from stores import DISTURBED, ask_well, check_pair, copy_of, record_four, store_id

INTERRUPTIONS = 34
KILLED = 128 + 9


def calls_of_merge(folder):
    """The calls by which a merge changes files, in order."""
    log = folder.with_name("calls")
    env = {"LD_PRELOAD": str(DISTURBED), "CUT_SHORT_LOG": str(log)}
    check_equal(run([TOOL, "merge", folder], env=env).status, 0, "exit status of merge")
    return log.read_text().split()


def points(calls):
    """Spread over all of them, plus each call that gives a file its name."""
    count = len(calls)
    renames = [i + 1 for i, call in enumerate(calls) if call == "rename"]
    check_equal(len(renames), 2, "files that a merge publishes")
    near = {at + step for at in renames for step in (0, 1) if at + step <= count}
    spread = [1 + i * (count - 1) // (INTERRUPTIONS - 1) for i in range(INTERRUPTIONS)]
    for at in sorted(near | set(spread)):
        yield at


def interrupt(folder, at):
    env = {"LD_PRELOAD": str(DISTURBED), "CUT_SHORT_AT": str(at)}
    result = run([TOOL, "merge", folder], env=env)
    check_equal(result.status, KILLED, f"exit status of a merge that is killed at call {at}: {result}")


def report_of(folder):
    return ask_well(folder, "report").stdout.replace(str(folder), "FOLDER")


def merges_are_interrupted():
    with scratch() as folder:
        good = record_four(folder)
        expected = report_of(good.folder)
        data = folder / "data"
        copy_of(good, data)
        calls = calls_of_merge(data)
        done = 0
        for at in points(calls):
            interrupt(data, at)
            store_id(data)  # old or new, it is whole
            check_equal(report_of(data), expected, f"report after call {at}")
            check_equal(ask_well(data, "merge").stderr, "", "errors of the next merge")
            check_pair(data)
            done += 1
        check(done >= INTERRUPTIONS, f"{done} interruptions only")
        # Where there was no run before, and nobody merges by hand after.
        fresh = folder / "fresh"
        copy_of(good, fresh)
        interrupt(fresh, next(i + 1 for i, call in enumerate(calls) if call == "rename") + 1)
        check_equal(report_of(fresh), expected, "report of a fresh folder")
        check_pair(fresh)


run_test(merges_are_interrupted)
