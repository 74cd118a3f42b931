"""Placement of ranks: the model compared with the messages of recorded jobs, the launchers' files, and a
job on two hosts whose cable then carries less, as predicted."""

import json
import os
import re

from counter_files import counters
from harness import BUILD_ROOT, TOOL, Skip, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_command, record_well
from two_host_jobs import open_mpi
from two_hosts import HOSTS, two_hosts

MIB = 1 << 20
MUCH, LESS = 32, 8
# Other traffic on the cable: headers and acknowledgements (5 to 6 %), and the start of the job (0.5 MB, so
# the payload must be much larger).
NEAR = 0.1


def placement_of(recording, *options):
    asked = recording.ask("placement", "--format", "json", *options)
    check_equal(asked.status, 0, f"status of placement: {asked}")
    return json.loads(asked.stdout)


def named(plan):
    return {candidate["name"]: candidate for candidate in plan["placements"]}


def parts(candidate, ending):
    return [candidate[f"{level}{ending}"] for level in ("between_nodes", "between_packages", "inside")]


def model_is_of_the_messages(name):
    mpi = MPIS[name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("partners", 3, 1))
        between = [m for m in recording.messages if m["src"] != m["dst"]]
        for by, ending, total in (("bytes", "_bytes", sum(m["bytes"] for m in between)),
                                  ("messages", "", len(between))):
            plan = placement_of(recording, "--by", by)
            check_equal((plan["by"], plan["total"], plan["left_out"]), (by, total, 0), f"matrix by {by}")
            for candidate in plan["placements"]:
                check_equal(sum(parts(candidate, ending)), total, f"parts of {candidate}")
                check_equal(parts(candidate, ending)[0], 0, f"one host: {candidate}")
            costs = [candidate["cost"] for candidate in plan["placements"]]
            check_equal(min(costs), named(plan)["proposed"]["cost"], "the proposed one costs least")
        least = 2 * MIB * mpi.ranks  # of the exchanges alone
        plan = placement_of(recording)
        check(plan["total"] >= least, "less than the program sent")
        # On one host: 10 between packages, otherwise 1 or, on one core, 0.
        for candidate in plan["placements"]:
            _, packages, inside = parts(candidate, "_bytes")
            check(10 * packages <= candidate["cost"] <= 10 * packages + inside, f"cost of {candidate}")
        waits = placement_of(recording, "--by", "waits")
        check_equal(waits["by"], "waits", "by waits")

        written = recording.ask("placement", "--write", folder / "placed", "--slots", 8)
        check_equal(written.status, 0, f"status of placement --write: {written}")
        lines = (folder / "placed" / "hosts.hydra").read_text().splitlines()
        host = recording.info["processes"][0]["host"]
        check_equal(lines, [f"{host}:1"] * mpi.ranks, "hosts for Hydra")
        before = {path.name: path.read_text() for path in (folder / "placed").iterdir()}
        again = recording.ask("placement", "--write", folder / "placed")
        check(again.status == 125 and "is there already" in again.stderr, f"overwritten: {again}")
        after = {path.name: path.read_text() for path in (folder / "placed").iterdir()}
        check_equal(after, before, "files that were there")


def counters_are_enough(name):
    """A run of counters only: messages of the program and MPI's internal ones."""
    mpi = MPIS[name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("partners", 3, 1), switches=["--counters"])
        between = [row for row in counters(recording.folder)["pairs"]
                   if row["class"] in ("external", "internal") and row["rank"] != row["peer"]]
        for by in ("bytes", "messages"):
            plan = placement_of(recording, "--by", by)
            check_equal((plan["of"], plan["total"]), ("counters", sum(row[by] for row in between)), f"matrix by {by}")
            check_equal(plan["left_out"], 0, "left out")
        check(plan["total"] >= 4 * mpi.ranks, "less than the program sent")
        # One that left no counters is sent to all the same.
        next(path for path in recording.folder.glob("*.counters")).unlink()
        fewer = counters(recording.folder)
        plan = placement_of(recording, "--by", "messages")
        sent = sum(row["messages"] for row in fewer["pairs"]
                   if row["class"] in ("external", "internal") and row["rank"] != row["peer"])
        # MPI's internal messages to it went to a worker without a process.
        strangers = sum(row["messages"] for row in fewer["pairs"] if str(row["peer"]).startswith("worker"))
        check_equal((plan["ranks_without_counters"], plan["total"], plan["left_out"]), (1, sent - strangers, strangers),
                    "without the counters of a rank")
        refused = recording.ask("placement", "--by", "waits")
        check(refused.status == 125 and "no wait of it" in refused.stderr, f"counters have no waits: {refused}")
        _, recording = record_well(folder / "traced", mpi.job("partners", 3, 1), switches=["--counters", "--trace"])
        check_equal(placement_of(recording)["of"], "trace", "messages come first")
        _, recording = record_well(folder / "again", mpi.job("partners", 3, 1), switches=["--counters"])
        for path in recording.folder.glob("*.counters"):
            path.unlink()
        refused = recording.ask("placement")
        check(refused.status == 125 and "has no counters" in refused.stderr, f"nothing is known: {refused}")


# Prints where a rank may run. Launchers also start programs without MPI.
WHERE = "echo ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $(sed -n 's/Cpus_allowed_list:[^0-9]*//p' /proc/self/status)"


def launchers_place(name):
    """Each launcher puts the ranks on the cores that its file says."""
    mpi = MPIS[name]
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("two ranks have one core here")
    job = mpi.job("partners", 3, 1)
    job[job.index(mpi.count_option) + 1] = 2
    with scratch() as folder:
        _, recording = record_well(folder / "data", job)
        plan = placement_of(recording, "--write", folder / "placed")
        use = {file["file"]: file["use"] for file in plan["files"]}
        check("rankfile" in use, f"cores of this machine are not known: {plan}")
        for_hydra, binding = use["hosts.hydra"].split(" -bind-to user:")
        if name == "ompi":
            words = use["rankfile"].replace("Open MPI: mpirun", mpi.launcher[0]).split()
        else:
            words = [mpi.launcher[0], *for_hydra.split()[4:], "-bind-to", f"user:{binding}"]
        placed = run_well([*words, "sh", "-c", WHERE], cwd=folder / "placed")
        # A core may have several processors, of which the first is named.
        found = {rank: re.split("[,-]", where)[0] for rank, where in map(str.split, placed.stdout.splitlines())}
        check_equal(found, dict(zip("01", binding.split(","))), "where the ranks ran")


def bad_input_is_refused():
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS["ompi"].job("partners", 1, 1))
        (folder / "broken.xml").write_text("<topology/>")
        for options, words in ((["--cost", "node=1,core=2"], "must not cost less"),
                               (["--cost", "rack=1"], "no cost of node"),
                               (["--cost", "node=much"], "no number"),
                               (["--slots", "1"], "ran on"),
                               (["--topology", folder / "broken.xml"], "no XML of hwloc"),
                               (["--topology", folder / "none.xml"], "no XML of hwloc"),
                               (["--write", folder / "data"], "is there already")):
            refused = recording.ask("placement", *options)
            check(refused.status == 125 and words in refused.stderr, f"{options}: {refused}")
        plain = folder / "plain"
        run_well([TOOL, "record", "-o", plain, "--", BUILD_ROOT / "tests/programs/plain_ucp"])
        refused = Recording(plain).ask("placement")
        check(refused.status == 125 and "has a rank" in refused.stderr, f"a job without MPI: {refused}")


def carried(rig, folder, mpi):
    """The recording, and what the cable's ends sent during the job."""
    before = [rig.counters(host) for host in HOSTS]
    run_well(rig.on_login(record_command(folder, mpi.job("partners", MUCH, LESS))))
    sent = [(rig.counters(host) - then).sent_bytes for host, then in zip(HOSTS, before)]
    return Recording(folder), sum(sent)


def cable_carries_less():
    with scratch() as folder, two_hosts(folder / "rig") as rig:
        recording, first = carried(rig, folder / "now", open_mpi(rig))
        plan = placement_of(recording, "--write", folder / "placed")
        now, proposed = (named(plan)[name]["between_nodes_bytes"] for name in ("now", "proposed"))
        check_equal(plan["verdict"], "move", f"verdict: {plan}")
        # All partners are apart now, and neighbours are then.
        check(now >= 4 * MUCH * MIB and proposed >= 4 * LESS * MIB, f"modelled: {now}, {proposed}")
        placing = ["--mca", "rmaps", "seq", "--hostfile", folder / "placed" / "hosts.openmpi"]
        moved, second = carried(rig, folder / "then", open_mpi(rig, placing))
        hosts = {rank["rank"]: rank["host"] for rank in plan["ranks"]}
        found = {process["rank"]: process["host"] for process in moved.info["processes"]}
        check_equal(found, hosts, "where the ranks ran")
        print(f"the cable carried {first} B, then {second} B; the model said {now} B and {proposed} B")
        for modelled, counted in ((now, first), (proposed, second), (now - proposed, first - second)):
            check(abs(counted - modelled) < NEAR * modelled, f"{counted} B carried, {modelled} B modelled")
        again = placement_of(moved)
        check_equal((again["verdict"], again["gain_percent"]), ("keep", 0.0), "verdict after the move")


def job_reorders_itself(name):
    mpi = MPIS[name]
    job = mpi.job(BUILD_ROOT / "examples" / f"reorder.{mpi.suffix}", 4)
    ended = run_well(job, env={"UCTRACE_EXAMPLE_NODES": "2"})
    sent = mpi.ranks * 4 * 64 * 1024
    expected = f"between nodes: {sent} B before, 0 B after, 100 % gained"
    # Two ranks have a node each, and nothing to gain.
    if mpi.ranks == 2:
        expected = f"between nodes: {sent} B before, {sent} B after, 0 % gained"
    check(expected in ended.stdout, f"the job did not reorder itself: {ended}")


CASES = {
    "ompi": lambda: model_is_of_the_messages("ompi"),
    "mpich": lambda: model_is_of_the_messages("mpich"),
    "counters": counters_are_enough,
    "launchers": launchers_place,
    "refused": bad_input_is_refused,
    "hosts": cable_carries_less,
    "reorder": job_reorders_itself,
}
run_test(lambda case, *arguments: CASES[case](*arguments))
