"""Every operation of UCT with every outcome, driven directly: the recording is what the transport
itself saw, operation by operation."""

from collections import Counter

from checks import check_accounts, results_of
from counter_files import counters
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well
from scripted import calls_of, check_recording_is, read_oracle

# The outcomes that a program requests, by its marks, and its number of operations.
PROGRAM = {
    "scripted_uct": (
        {"at once", "refused", "late", "on a thread", "in error", "late in error"},
        20,
    ),
    "scripted_tags": ({"at once", "unexpected", "stubborn"}, 5),
}


def check_outcomes(oracle, outcomes, operations):
    """The program made each operation end in each way."""
    seen = Counter()
    for call in calls_of(oracle):
        name, _, outcome = call["mark"].partition(" ")
        if call["what"] == name:
            seen[name, outcome] += 1
    names = {name for name, _ in seen}
    check_equal(len(names), operations, f"operations {sorted(names)}")
    for name in names:
        for outcome in outcomes:
            check(seen[name, outcome] >= 3, f"{name} {outcome}: {seen[name, outcome]} calls")
    check(any(call["thread"] for call in oracle), "nothing ended in a thread of its own")


def scripted_uct_is_recorded(name):
    program = [PROGRAMS / name]
    with scratch() as folder:
        # UCX would say with a time that it refuses a handler.
        quiet = {"UCX_LOG_LEVEL": "fatal"}
        alone = run_well(program, env=quiet)
        variables = {**quiet, "SCRIPTED_TRANSPORT_ORACLE": str(folder / "oracle")}
        result, recording = record_well(folder / "data", program, env=variables)
        check_equal(result.stdout, alone.stdout, "output of the program")
        oracle = read_oracle(folder)
        check_outcomes(oracle, *PROGRAM[name])
        check_recording_is(recording, oracle)
        info = recording.info
        check_equal(set(results_of(info)), {"holds"}, f"identities {results_of(info)}")
        check_accounts(info)
        check_equal(info["faults"], [], "faults")
        check_equal(info["uct"]["reasons"]["direct_uct"], info["uct"]["posted_ok"], "direct UCT")
        # Without records some operations take a shorter path, also after one that was left by a longjmp.
        counted = []
        for name, switches in (("counters", ["--counters"]), ("both", ["--counters", "--trace"])):
            _, recording = record_well(folder / name, program, env=quiet, switches=switches)
            counted.append(counters(recording.folder, "--by", "transports")["transports"])
        check(counted[0], "nothing was counted")
        check_equal(counted[0], counted[1], "counters alone, and beside a trace")


run_test(scripted_uct_is_recorded)
