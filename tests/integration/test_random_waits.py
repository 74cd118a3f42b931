"""Random programs: uctrace's waits equal those of a naive oracle, computed from the recorded times of calls and the
program's own knowledge of which call waited for which."""

import json
from collections import Counter
from dataclasses import replace

from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

RANKS, STEPS = 4, 80
TOLD_AS = {"wait_neighbours": "wait_nxn"}


def calls_of(recording):
    """{rank: [(entered, left)]} in the order in which each made them."""
    ranks = [process["rank"] for process in recording.table("processes")]
    calls = {rank: [] for rank in ranks}
    for row in recording.table("mpi_calls"):
        calls[ranks[row["process"]]].append((row["t_start_ns"], row["t_end_ns"]))
    return {rank: sorted(rows) for rank, rows in calls.items()}


def divided(call, messages):
    """{source: ns}: each nanosecond of a call belongs to the next unsent message."""
    entered, left = call
    waits = Counter()
    at = entered
    for sent, source in sorted(messages):
        until = min(sent, left)
        if until > at:
            waits[source] += until - at
            at = until
    return waits


def waits_of_epoch(row, times):
    """{kind: ns} of a call of an origin or a target. `times`: (entered, left) of the calls of both, by name."""
    waits = Counter()
    entered, left = times[row["kind"]]
    if row["kind"] in ("start", "put", "complete") and entered < times["post"][0] < left:
        waits["rma_late_post"] = times["post"][0] - entered
    if row["kind"] == "wait":
        waits["rma_early_wait"] = max(0, min(times["complete"][0], left) - entered)
    return waits


def naive_waits(truth, calls):
    """{(kind, waiting, causing): ns}, over every pair of calls; and the unknown time of neighbourhood collectives:
    after the wait for neighbours, until the last other process that came during the call."""
    waits, possible = Counter(), 0
    for rank, rows in truth.items():
        for row in rows:
            call = calls[rank][row["call"]]
            if "messages" in row:
                messages = [(calls[source][number][0], source) for source, number in row["messages"]]
                for source, ns in divided(call, messages).items():
                    waits["late_sender", rank, source] += ns
                continue
            if "other" in row:
                times = {
                    one["kind"]: calls[member][one["call"]]
                    for member in (rank, row["other"])
                    for one in truth[member]
                    if one.get("step") == row["step"]
                }
                for kind, ns in waits_of_epoch(row, times).items():
                    waits[kind, rank, row["other"]] += ns
                continue
            entered = {
                other: calls[other][other_row["call"]][0]
                for other in truth
                for other_row in truth[other]
                if other_row.get("step") == row["step"] and other != rank
            }
            if row["kind"] == "late_broadcast":
                entered = {other: ns for other, ns in entered.items() if other == row["root"]}
            elif row["kind"] == "early_reduce":
                entered = entered if rank == row["root"] else {}
            elif row["kind"] == "early_scan":
                entered = {other: ns for other, ns in entered.items() if other < rank}
            elif row["kind"].startswith("rma_"):
                # Some may return early: then nobody waited.
                first_left = min(
                    calls[other][other_row["call"]][1]
                    for other in truth
                    for other_row in truth[other]
                    if other_row.get("step") == row["step"]
                )
                entered = entered if first_left >= max([call[0], *entered.values()]) else {}
            elif row["kind"] == "wait_neighbours":
                neighbours = ((rank + 1) % RANKS, (rank - 1) % RANKS)
                last_ns = max([ns for ns in entered.values() if ns <= call[1]], default=0)
                of_neighbours = max(entered[other] for other in neighbours)
                possible += max(0, last_ns - max(call[0], of_neighbours))
                entered = {other: ns for other, ns in entered.items() if other in neighbours}
            if entered:
                last = max(entered, key=entered.get)
                ns = min(entered[last], call[1]) - call[0]
                if ns > 0:
                    waits[TOLD_AS.get(row["kind"], row["kind"]), rank, last] += ns
    return waits, possible


def found_waits(recording):
    result = recording.ask("waits", "--by", "pair", "--format", "json")
    check_equal(result.status, 0, f"{result}")
    waits, unknown = Counter(), 0
    for row in json.loads(result.stdout)["waits"]:
        # Both are of a message that was sent late.
        kind = {"wrong_order": "late_sender"}.get(row["kind"], row["kind"])
        if kind not in ("barrier_completion", "nxn_completion", "wait_finalize"):
            waits[kind, row["waiting_rank"], row["causing_rank"]] += row["time_ns"]
            unknown += row["unknown_ns"]
    return waits, unknown


NEEDED = {"late_sender", "wait_barrier", "rma_wait_at_fence", "rma_early_wait", "rma_late_post"}
RUNS = 4  # the waits differ in each; hardly any run lacks a kind


def waits_are_the_naive_ones(name, seed):
    mpi = replace(MPIS[name], ranks=RANKS)
    met = set()
    with scratch() as folder:
        for number in range(RUNS):
            met |= check_run(mpi, seed, folder / str(number))
            if NEEDED <= met:
                return
    check(False, f"in {RUNS} runs nobody waited in these ways: {NEEDED - met}")


def check_run(mpi, seed, folder):
    """Which kinds of waits there were."""
    folder.mkdir()
    job = mpi.job_with_windows("random_waits", seed, STEPS, folder / "truth")
    _, recording = record_well(folder / "data", job)
    truth = {
        rank: [json.loads(line) for line in open(f"{folder / 'truth'}.{rank}.jsonl", encoding="utf-8")]
        for rank in range(RANKS)
    }
    expected, possible = naive_waits(truth, calls_of(recording))
    found, unknown = found_waits(recording)
    bound = recording.info["clock"]["max_error_ns"] or 0
    calls = sum(len(rows) for rows in truth.values())
    # Waits within the clock error are not claimed.
    off = 2 * calls * (bound + 1)
    check(possible - off <= unknown <= possible + off, f"unknown {unknown} ns, naively {possible} ns, bound {bound} ns")
    for key in set(expected) | set(found):
        check(
            0 <= expected[key] - found[key] <= off,
            f"{key}: {found[key]} ns, naively {expected[key]} ns; bound {bound} ns",
        )
    return {kind for (kind, _, _), ns in expected.items() if ns > 0}


run_test(waits_are_the_naive_ones)
