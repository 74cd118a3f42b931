"""uctrace diff on real jobs, before and after a setting: another transport, another threshold, a slow
rank, more ranks, and the same again."""

import csv
import io
import json
import sys
from dataclasses import replace

from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_over_tcp, record_well

MPI = MPIS[sys.argv[1]]
STEPS = 40


def job(*arguments, ranks=MPI.ranks):
    return replace(MPI, ranks=ranks).job("phases", *arguments)


def exchange(folder, name, **env):
    """Ranks 0 and 1 send each other 256 KiB."""
    command = job("network", STEPS, "262144,300", ranks=2)
    _, recording = (record_over_tcp if "tcp" in env.get("UCX_TLS", "") else record_well)(folder / name, command, env=env)
    return recording.folder


def computing(folder, name, us, steps=STEPS):
    record_well(folder / name, job("barrier", steps, us, ranks=MPI.ranks))
    return folder / name


def diff(a, b):
    told = json.loads(run_well([TOOL, "diff", a, b, "--format", "json"]).stdout)
    for rows in (told["changes"], told["others"]):
        shares = [row["share"] for row in rows]
        check_equal(shares, sorted(shares, reverse=True), "the greatest first")
        check(all(row["a"] != row["b"] for row in rows), f"rows that do not differ: {rows}")
    return told


def changed(told, of, name, measure="payload"):
    for row in told["changes"]:
        if (row["of"], row["name"], row["measure"]) == (of, name, measure):
            return row
    return None


def another_transport(folder):
    default, tcp = exchange(folder, "default"), exchange(folder, "tcp", UCX_TLS="tcp,self")
    told = diff(default, tcp)
    settings = {s["name"]: (s["a"], s["b"]) for s in told["settings"]}
    check_equal(settings.get("UCX_TLS"), (None, "tcp,self"), "the setting that differs")
    row = changed(told, "transport", "tcp")
    check(row and row["a"] == 0 and row["share"] > 0.99, f"payload over tcp: {told['changes']}")
    check_equal(told["changes"][0]["share"], 1, "share of the greatest change")
    gone = [r["name"] for r in told["changes"] if r["of"] == "transport" and r["b"] == 0]
    check(gone, f"no transport is gone: {told['changes']}")
    back = diff(tcp, default)
    check_equal(changed(back, "transport", "tcp")["b"], 0, "the same, the other way round")
    text = run_well([TOOL, "diff", default, tcp]).stdout
    check("transport tcp: payload" in text, text)
    rows = list(csv.DictReader(io.StringIO(
        run_well([TOOL, "diff", default, tcp, "--format", "csv"]).stdout)))
    check_equal([r["what"] for r in rows if r["verdict"] == "change"],
                [r["what"] for r in told["changes"]], "changes as CSV")
    return default


def another_threshold(folder, default):
    told = diff(default, exchange(folder, "eager", UCX_RNDV_THRESH="inf"))
    protocols = {r["name"]: r for r in told["changes"]
                 if r["of"] == "protocol" and r["measure"] == "payload"}
    eager = ("eager", "egr")  # as UCX calls it in protocols v1, and in v2
    check(any(name.startswith(eager) and row["b"] > row["a"] for name, row in protocols.items()),
          f"eager carries no more: {protocols}")
    check(any(row["b"] == 0 for row in protocols.values()), f"no rendezvous is gone: {protocols}")
    sizes = [row for row in told["protocols"] if row["from_bytes"] == 262144]
    check({bool(row["a"]) for row in sizes} == {bool(row["b"]) for row in sizes} == {True, False},
          f"protocols of 256 KiB: {sizes}")


def other_sizes(folder, default):
    """Twice the amount by the program's arguments, and by the sent data, by function and by call site."""
    twice = folder / "twice"
    record_well(twice, job("network", STEPS, "524288,300", ranks=2))
    told = diff(default, twice)
    sent = [r for r in told["changes"] if r["of"] == "function" and r["measure"] == "payload"]
    check(sent and all(r["b"] > r["a"] and r["unit"] == "bytes" for r in sent), f"payload by function: {told['changes']}")
    asked = [r for r in told["changes"] if r["of"] == "call site" and r["measure"] == "bytes of its arguments"]
    check(any(r["b"] == 2 * r["a"] > 0 for r in asked), f"bytes by call site: {told['changes']}")


def a_slow_rank(folder):
    # A change of waiting is reported only if most of it comes from at least 8 waits between the same two ranks. In the
    # even run a rank waits sometimes for one and sometimes for another.
    steps = 200
    told = diff(computing(folder, "even", "2000", steps), computing(folder, "slow", "2000,20000,2000", steps))
    row = changed(told, "rank", "1", "time outside MPI")
    check(row and row["b"] > 3 * row["a"], f"rank 1 is not slower: {told['changes']}")
    check(row["each_b"]["median_ns"] > 15_000_000, f"each: {row}")
    waits = changed(told, "wait", "wait_barrier", "waiting")
    check(waits and waits["b"] > waits["a"], f"nobody waits in the barrier: {told['changes']}")
    check(not changed(told, "rank", "0", "time outside MPI"), f"rank 0 is: {told['changes']}")


def more_ranks(folder, default):
    many = folder / "many"
    record_well(many, job("network", STEPS, "262144,300", ranks=4))
    told = diff(default, many)
    check(told["per_rank"] and "2 ranks against 4" in told["notes"][0], f"notes: {told['notes']}")
    everything = told["changes"] + told["others"]
    check(not {row["of"] for row in everything} & {"rank", "pair"}, "single ranks are compared")
    check(not changed(told, "transport", "tcp"), f"other ranks, other transports: {everything}")


def the_same(folder):
    """Load on the machine can change one of three runs, but not all."""
    runs = [computing(folder, f"same{i}", "3000") for i in range(3)]
    told = [diff(a, b) for a, b in zip(runs, runs[1:] + runs[:1])]
    check(any(not one["changes"] for one in told), f"never the same: {[t['changes'] for t in told]}")
    for one in told:
        check_equal([s["name"] for s in one["settings"]], [], "settings that differ")
        exact = [r["what"] for r in one["changes"] if r["unit"] != "ns"]
        check_equal(exact, [], "counts and bytes that changed")
    same = run_well([TOOL, "diff", runs[0], runs[0]]).stdout
    check(same.startswith("no change beyond noise\n"), same)


def errors(default):
    for words in (["diff"], ["diff", default]):
        result = run([TOOL, *words])
        check(result.status == 125 and "not both are named" in result.stderr, f"{words}: {result}")
    result = run([TOOL, "diff", default, "/nonexistent"])
    check(result.status == 125 and "/nonexistent" in result.stderr, f"no run: {result}")


def diff_tells_settings_apart(_mpi):
    with scratch() as folder:
        default = another_transport(folder)
        another_threshold(folder, default)
        other_sizes(folder, default)
        a_slow_rank(folder)
        more_ranks(folder, default)
        the_same(folder)
        errors(default)


run_test(diff_tells_settings_apart)
