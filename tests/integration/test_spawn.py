"""A job that spawns another world: undisturbed, whole, and one run of both worlds, whose messages to
each other are on the intercommunicator."""

import json
from collections import Counter

from checks import check_complete
from harness import check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

PARENTS, CHILDREN, BYTES = 2, 3, 5000
SPAWNED = "p0.1"  # one communicator, seen from either side


def spawned_world_is_recorded(mpi_name):
    mpi = MPIS[mpi_name]
    job = mpi.job("spawns")
    job[job.index(mpi.count_option) + 1] = PARENTS
    with scratch() as folder:
        alone = run_well(job)
        result, recording = record_well(folder / "data", job)
        check_equal(result.stdout, alone.stdout, "output of the job")
        check_equal(len(recording.logs), PARENTS + CHILDREN, "logs")
        check_complete(recording.info, processes=PARENTS + CHILDREN)
        ranks = Counter(process["rank"] for process in recording.info["processes"])
        check_equal(ranks, Counter([*range(PARENTS), *range(CHILDREN)]), "ranks from 0")

        sizes = [process["world_size"] for process in recording.table("processes")]
        check_equal(sorted(sizes), [PARENTS] * PARENTS + [CHILDREN] * CHILDREN, "sizes of worlds")
        ends = {
            (m["comm"], sizes[m["src_process"]], sizes[m["dst_process"]])
            for m in recording.table("messages")
            if m["bytes"] == BYTES
        }
        down, up = (SPAWNED, PARENTS, CHILDREN), (SPAWNED, CHILDREN, PARENTS)
        check_equal(ends, {down, up}, "worlds of the messages")
        report = recording.ask("report", "--by", "pairs", "--format", "json")
        check_equal(report.status, 0, "status of report")
        named = {row["src"] for row in json.loads(report.stdout)["pairs"]}
        known = {
            f"{process['rank']}@{process['host']}:{process['pid']}"
            if ranks[process["rank"]] > 1
            else process["rank"]
            for process in recording.info["processes"]
        }
        check_equal(named, known, "names of the processes in the report")
        found = Counter(
            (message["comm"], message["src"], message["dst"], message["bytes"])
            for message in recording.sent_by("MPI_Send")
        )
        pairs = [(a, b) for a in range(PARENTS) for b in range(CHILDREN)]
        expected = Counter((SPAWNED, a, b, BYTES) for a, b in pairs)
        expected += Counter((SPAWNED, b, a, BYTES) for a, b in pairs)
        check_equal(found, expected, "messages between the worlds")


run_test(spawned_world_is_recorded)
