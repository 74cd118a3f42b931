"""Threads that record faster than their records can be packed: with --never-drop they wait, even if
several threads may pack, or if a separate thread packs and writes."""

from checks import check_accounts, results_of
from harness import BUILD_ROOT, TOOL, check, check_equal, run, run_test, run_well, scratch
from recordings import record_well

THREADS, BATCHES, OPERATIONS = 4, 8, 20_000
PROGRAM = [BUILD_ROOT / "tests" / "benchmarks" / "thread_costs", THREADS, 8, BATCHES, OPERATIONS, 0]
# A batch more, to begin with; a send and a receive each; and what each thread flushes at its end.
LEAST = THREADS * (BATCHES + 1) * OPERATIONS * 2


def nothing_is_dropped(*more, env=None):
    with scratch() as folder:
        result, recording = record_well(folder / "data", PROGRAM, switches=["--never-drop", *more],
                                        env={"UCX_TLS": "self", **(env or {})})
        check("dropped" not in result.stderr, f"record says that records were dropped: {result}")
        info = recording.info
        check_equal(info["events"]["dropped"], 0, "dropped records")
        check_equal(info["events"]["untracked"], 0, "operations whose end is not known")
        check(info["events"]["ucp"] >= LEAST, f"operations: {info['events']}")
        check_equal(set(results_of(info)), {"holds"}, f"identities {results_of(info)}")
        check_accounts(info)
        check_equal(info["never_drop"]["processes"], 1, "processes that wait")
        text = run_well([TOOL, "info", recording.folder]).stdout
        waits = info["never_drop"]["waits"]
        check(waits > 0, "no thread had to wait: the test says nothing")
        check(f"{waits} waits of threads" in text, f"info does not say how often threads waited: {text}")
        # Without a thread that packs there is nobody to wait for.
        both = run([TOOL, "record", "--never-drop", "--no-helper", "--", "true"])
        check(both.status != 0 and "--never-drop" in both.stderr, f"both options together: {both}")


def nobody_drops():
    nothing_is_dropped()
    nothing_is_dropped("--helpers", "3")
    nothing_is_dropped(env={"UCTRACE_DRAIN": "1"})


run_test(nobody_drops, attempts=1)  # what may drop is what this is about
