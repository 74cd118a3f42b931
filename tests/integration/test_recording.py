"""Recording parts of a run: `record --start-on`, `--stop-on` and `--max-log`. Recorded parts are
complete, the rest is counted, and no identity is violated by that."""

import signal
from collections import Counter

from checks import check_complete, check_delivered, results_of
from harness import (
    PROGRAMS, TOOL, check, check_equal, finish, run, run_test, run_well, scratch, started, wait_for, wait_until,
)
from hanging_jobs import ask_hang
from mpi_jobs import MPIS
from recordings import Recording, record_well

ROUNDS = 20
RING_TAG = 3
ON_CALLS = ["--start-on", "pcontrol", "--stop-on", "pcontrol"]
ON_SIGNAL = ["--start-on", "signal:USR1", "--stop-on", "signal:USR1"]


def record_parts(folder, options, command, **how):
    result = run_well([TOOL, "record", "-o", folder, *options, "--", *command], **how)
    return result, Recording(folder)


def bytes_of(round):
    """As recorded_parts.c has it."""
    return (200000 if round % 4 == 3 else 8) + round % 64


def ring_of(recording):
    """The messages of the rounds: those of the program's own tag."""
    return [m for m in recording.sent_by("MPI_Send") if m["tag"] == RING_TAG]


def check_accounts(info, *, holding=("events", "uct", "mpi", "recorded_uct", "recorded_ucp",
                                     "recorded_mpi")):
    results = {identity["name"]: identity["result"] for identity in info["identities"]}
    check_equal(results_of(info).get("violated", []), [], "violated identities")
    for name in holding:
        check_equal(results[name], "holds", f"identity {name}")


def check_two_windows(mpi, info, by):
    check_equal(len(info["windows"]), 2 * mpi.ranks, "windows")
    for window in info["windows"]:
        check_equal((window["opened_by"], window["closed_by"]), (by, by), f"cause of {window}")
        check(0 <= window["begin_ns"] < window["end_ns"], f"times of {window}")
    share = info["recording"]["recorded_ns"] / info["recording"]["of_ns"]
    check(0 < share < 1, f"share of the run: {share}")
    check("windows of" in info["recording"]["sentence"], f"{info['recording']}")
    check_equal(info["notes"][0], info["recording"]["sentence"], "the first note")


def check_parts(mpi, recording, whole, by):
    """The ring's messages in two parts of five, each certain and with its complete path."""
    info = recording.info
    check_two_windows(mpi, info, by)
    check_accounts(info)
    check(info["complete"], "the logs are not complete")
    check(info["events"]["outside_window"] > 0, f"nothing was left out: {info['events']}")
    check_equal(info["events"]["dropped"], 0, "dropped events")
    check_equal([process["in_calls"] for process in info["processes"]], [[]] * mpi.ranks, "calls that returned unrecorded")
    check(not any("damaged" in note for note in info["notes"]), f"{info['notes']}")
    messages = ring_of(recording)
    check_equal(len(messages), 2 * ROUNDS * mpi.ranks, "messages of the ring")
    check_delivered(messages)
    check_equal({m["match"] for m in messages}, {"exact"}, "how they are matched")
    expected = [bytes_of(round) for part in (1, 3)
                for round in range(part * ROUNDS, (part + 1) * ROUNDS)] * mpi.ranks
    check_equal(Counter(m["bytes"] for m in messages), Counter(expected), "lengths of the ring")
    check_equal(info["messages"]["unmatched"], 0, "messages that lack the other end")
    # Counts cover the whole run; barriers and tokens of the same kind are in both.
    check_equal(info["messages"]["sent"], whole.info["messages"]["sent"], "messages sent")
    for verb in ("report", "messages", "comms"):
        said = recording.ask(verb).stdout
        check(f"# note: {info['recording']['sentence']}" in said, f"{verb} does not tell: {said}")


def switched_by_calls(mpi):
    job = mpi.job("recorded_parts", "pcontrol", ROUNDS)
    with scratch() as folder:
        _, whole = record_well(folder / "whole", job)
        check_equal(whole.info["windows"], [], "windows of a run that is recorded throughout")
        check_equal(whole.info["recording"]["sentence"], None, "what is said of it")
        check_complete(whole.info, processes=mpi.ranks)
        _, parts = record_parts(folder / "parts", ON_CALLS, job)
        check_parts(mpi, parts, whole, "pcontrol")
        check(parts.info["events"]["uct"] < whole.info["events"]["uct"], "all was recorded")

        levels = ["--start-on", "pcontrol:-7", "--stop-on", "pcontrol:7"]
        with_levels = mpi.job("recorded_parts", "levels", ROUNDS)
        _, levels = record_parts(folder / "levels", levels, with_levels)
        check_equal(len(levels.info["windows"]), 5 * mpi.ranks, "windows by level")
        check_accounts(levels.info)
        result, never = record_parts(folder / "never", ["--start-on", "pcontrol:9"], job)
        check("nothing met --start-on in any process; call MPI_Pcontrol" in result.stderr,
              f"what to do is not told: {result}")
        check_equal(never.info["windows"], [], "windows that nobody opened")
        check("never started" in never.info["recording"]["sentence"], f"{never.info['recording']}")
        check_equal(never.info["messages"]["sent"], whole.info["messages"]["sent"], "sent")
        check_accounts(never.info)
        others_see_the_call(mpi, folder, with_levels)


def others_see_the_call(mpi, folder, job):
    """A tool loaded after uctrace gets the call with all its arguments."""
    tool = PROGRAMS / "pcontrol_tool.so"
    job = [job[0], *(["-x", f"LD_PRELOAD={tool}"] if mpi.name == "ompi" else
                     ["-genv", "LD_PRELOAD", tool]), *job[1:]]
    alone = run_well(job)
    options = ["--start-on", "pcontrol:1", "--stop-on", "pcontrol:0"]
    with_tool, recording = record_parts(folder / "tool", options, job)
    expected = ["tool: phase 2.5 1 2 3 4 5 6 0.125 end"] * 5 * mpi.ranks
    check_equal(alone.stdout.splitlines(), expected, "the tool's lines without uctrace")
    check_equal(with_tool.stdout.splitlines(), expected, "the tool's lines")
    check_equal(len(recording.info["windows"]), 2 * mpi.ranks, "windows beside another tool")


def switched_by_signals(mpi):
    with scratch() as folder:
        job = mpi.job("recorded_parts", "raise", ROUNDS)
        _, whole = record_well(folder / "whole", mpi.job("recorded_parts", "pcontrol", ROUNDS))
        _, parts = record_parts(folder / "parts", ON_SIGNAL, job)
        check_parts(mpi, parts, whole, "signal")
        check_equal(parts.info["faults"], [], "faults")
        if mpi.name == "ompi":  # MPICH has a handler for it
            killed = run(job)
            check(killed.status != 0, f"without uctrace the signal should end the job: {killed}")

        job = mpi.job("recorded_parts", "own-handler", ROUNDS)
        alone = run_well(job)
        result, own = record_parts(folder / "own", ON_SIGNAL, job)
        check_equal(sorted(result.stdout.splitlines()), sorted(alone.stdout.splitlines()),
                    "what the program's own handler counted")
        faults = {fault["fault"] for fault in own.info["faults"]}
        check_equal(faults, {"signal_taken"}, "faults")
        check("never started: SIGUSR1 is the program's own" in result.stderr,
              f"the reason is not told: {result}")
        check_equal(own.info["windows"], [], "windows")
        from_outside(mpi, folder)


def from_outside(mpi, folder):
    """The signal is sent to uctrace, goes to the launcher, and from there to the ranks."""
    go = folder / "go"
    command = [TOOL, "record", "-o", folder / "outside", *ON_SIGNAL, "--",
               *mpi.job("recorded_parts", "until", go)]
    with started(command) as process:
        wait_for(folder / "go.ready")
        process.send_signal(signal.SIGUSR1)
        wait_until(lambda: len(Recording(folder / "outside").info["windows"]) == mpi.ranks,
                   "the ranks do not record")
        go.touch()
        check_equal(finish(process).status, 0, "exit status")
    outside = Recording(folder / "outside")
    check_equal(len(outside.info["windows"]), mpi.ranks, "windows")
    check_equal({w["closed_by"] for w in outside.info["windows"]}, {None}, "open until the end")
    check_accounts(outside.info)
    wrong = [m for m in ring_of(outside) if m["match"] in ("unmatched", "ambiguous")]
    check_equal(wrong, [], "messages of a window that begins anywhere")


def bounded(mpi):
    """The newest events of a long job, in little room."""
    rounds, bound = 12000, 1 << 20
    with scratch() as folder:
        job = mpi.job("recorded_parts", "rounds", rounds)
        _, whole = record_well(folder / "whole", job)
        _, newest = record_parts(folder / "newest", ["--max-log", "1M"], job)
        info = newest.info
        check(info["events"]["overwritten"] > 0, f"nothing gave way: {info['events']}")
        check_accounts(info, holding=("events", "recorded_uct", "recorded_ucp", "recorded_mpi"))
        check_equal(info["messages"]["sent"], whole.info["messages"]["sent"], "messages sent")
        check(info["recording"]["whole_from_ns"] > 0, f"{info['recording']}")
        check("--max-log" in info["recording"]["sentence"], f"{info['recording']}")
        for log in newest.logs:
            check(log.stat().st_size < bound + (1 << 20), f"{log.stat().st_size} bytes of {log}")
        last = max(ring_of(newest), key=lambda m: m["t_start_ns"])
        check_equal(last["bytes"], bytes_of(rounds - 1), "length of the newest message")
        wrong = [m for m in ring_of(newest) if m["match"] in ("unmatched", "ambiguous")]
        check_equal(wrong, [], "messages that lack the other end")


def spans(mpi):
    """Requests of MPI that are under way at a switch, in either direction. All ranks switch, but not at one moment."""
    with scratch() as folder:
        job = mpi.job("recorded_parts", "spans", ROUNDS)
        _, whole = record_well(folder / "whole", job)
        _, parts = record_parts(folder / "parts", ON_CALLS, job)
        info = parts.info
        check_accounts(info)
        check_equal(len(info["windows"]), ROUNDS // 2 * mpi.ranks, "windows")
        check_equal(info["events"]["dropped"], 0, "dropped events")
        check(info["events"]["outside_window"] > 0, f"nothing was left out: {info['events']}")
        check_equal(info["messages"]["sent"], whole.info["messages"]["sent"], "messages sent")
        check_equal(info["messages"]["unmatched"], 0, "messages that lack the other end")
        check_equal([process["in_calls"] for process in info["processes"]], [[]] * mpi.ranks,
                    "calls that returned unrecorded")


def stuck(mpi):
    """Where ranks sit is shown while recording is off, too: also in calls that take the shorter way."""
    with scratch() as folder:
        job = mpi.job("recorded_parts", "stuck", 0)
        command = [TOOL, "record", "-o", folder / "data", *ON_SIGNAL, "--", *job]
        with started(command):
            wait_until(lambda: list((folder / "data").glob("*.ulog")), "there is no log", timeout=60)
            rows = []

            def all_sit():
                rows[:] = ask_hang(folder / "data")["ranks"]
                return len(rows) == mpi.ranks and all(row["tag"] == 99 and row["settled"] for row in rows)

            wait_until(all_sit, "the ranks are not seen where they sit", timeout=60)
            for row in rows:
                check_equal((row["call"], row["peer"]), ("MPI_Recv", (row["rank"] + 1) % mpi.ranks), f"call of {row}")
                check("recorded_parts.c" in row["call_site"], f"call site of {row}")
                check(row["for_ns"] >= 0, f"time of {row}")


CASES = {"pcontrol": switched_by_calls, "signals": switched_by_signals, "bounded": bounded, "spans": spans,
         "stuck": stuck}


def recording_on_demand(mpi, case):
    CASES[case](MPIS[mpi])


run_test(recording_on_demand)
