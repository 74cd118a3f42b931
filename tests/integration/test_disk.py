"""A full disk, an exceeded quota, or a folder that cannot be written: the job runs on, and losses are counted."""

import json
import re

from checks import check_incomplete, check_losses_are_told
from harness import (
    PROGRAMS, Skip, TOOL, check, check_equal, in_private_mounts, need, need_private_mounts, run, run_test, run_well,
    scratch,
)
from mpi_jobs import MPIS
from recordings import Recording, record_command
from stores import TOOL_FAILURE, generate

# A private mount namespace with a small tmpfs on $1; its final content is copied to $2.
FULL = """
mount -t tmpfs -o size=1m tmpfs "$1"
disk=$1; copy=$2; shift 2
status=0; "$@" || status=$?
cp -r "$disk/." "$copy"
exit $status
"""
# A btrfs with a quota of 1 MiB, which applies to root as well, mounted at $1.
QUOTA = """
truncate -s 256M "$3"
mkfs.btrfs -q -f "$3" >&2
mount -o loop "$3" "$1"
btrfs quota enable "$1"
btrfs qgroup limit 1M "$1"
disk=$1; copy=$2; shift 3
status=0; "$@" || status=$?
cp -r "$disk/." "$copy"
umount "$disk"
exit $status
"""
# Like FULL, with room for the bounded logs of a job but not also for their chunks.
SMALL = FULL.replace("size=1m", "size=10m")
READ_ONLY = """
mount -t tmpfs -o size=1m tmpfs "$1"
mount -o remount,ro "$1"
shift
exec "$@"
"""


def job_survives(case):
    need_private_mounts()
    job = MPIS["ompi"].job("allreduce", 8192, 3000)
    alone = run_well(job)
    with scratch() as folder:
        disk, copy, temporary = folder / "disk", folder / "copy", folder / "temporary"
        for path in (disk, copy, temporary):
            path.mkdir()
        recorded = record_command(disk / "data", job)
        if case == "full":
            command = in_private_mounts(FULL, disk, copy, *recorded)
        elif case == "quota":
            need("mkfs.btrfs")
            image = folder / "image"
            if run(in_private_mounts(QUOTA, disk, copy, image, "true")).status != 0:
                raise Skip("a btrfs with a quota cannot be mounted here")
            command = in_private_mounts(QUOTA, disk, copy, image, *recorded)
        else:
            command = in_private_mounts(READ_ONLY, disk, *recorded)
        result = run_well(command, env={"TMPDIR": str(temporary)})
        check_equal(result.stdout, alone.stdout, "output of the job")
        told = check_losses_are_told(result)
        check_equal(list(temporary.glob("uctrace*")), [], "left in the temporary folder")
        if case == "quota":
            check("Disk quota exceeded" in result.stderr, f"the reason is not told: {result}")
            # Not even the last page finds room there: the logs stay open.
            check_incomplete(Recording(copy / "data").info)
        if case == "full":
            info = Recording(copy / "data").info
            check_equal(info["events"]["dropped"], told, "dropped records in info and by record")
            check(any("were dropped" in note for note in info["notes"]), f"notes: {info['notes']}")
            check(info["events"]["dropped"] > 0, f"nothing counted as dropped: {info['events']}")
            check_incomplete(info)


def newest_are_kept():
    """--max-log on a disk that is too small for what the chunks would take beside it."""
    need_private_mounts()
    with scratch() as folder:
        disk, copy = folder / "disk", folder / "copy"
        disk.mkdir()
        copy.mkdir()
        job = MPIS["ompi"].job("recorded_parts", "rounds", 12000)
        recorded = [TOOL, "record", "-o", disk / "data", "--max-log", "1M", "--", *job]
        run_well(in_private_mounts(SMALL, disk, copy, *recorded))
        recording = Recording(copy / "data")
        events = recording.info["events"]
        check(events["overwritten"] > 0, f"nothing gave way: {events}")
        newest = max(m["t_start_ns"] for m in recording.sent_by("MPI_Send"))
        since = recording.info["recording"]["whole_from_ns"]
        check(newest > since, f"the newest message, at {newest} ns, is older than {since} ns")


def store_tells_what_it_needs():
    """A merge whose store finds no room: one line with how much it takes, and nothing is left."""
    need_private_mounts()
    with scratch() as folder:
        disk, copy = folder / "disk", folder / "copy"
        disk.mkdir()
        copy.mkdir()
        generate(folder / "data", 100000)
        merge = [TOOL, "merge", folder / "data", "--store", disk / "store"]
        result = run(in_private_mounts(FULL.replace("size=1m", "size=256k"), disk, copy, *merge))
        check_equal(result.status, TOOL_FAILURE, f"the status of {result}")
        told = re.search(r"; ([0-9.]+) KiB are free there, and it takes up to ([0-9.]+) MiB",
                         result.stderr)
        check(told is not None, f"what it needs is not told: {result}")
        check(0 < float(told[1]) <= 256 and float(told[2]) > 1, f"as what it needs: {told[0]}")
        check_equal(len(result.stderr.splitlines()), 1, f"lines of {result}")
        check_equal(list((copy / "store").iterdir()), [], "what is left of the store")


def record_counters(folder, size, job_for):
    """Counters on a disk of this size: the messages of the recording, and the folder that it left. `job_for`: the
    job, given the folder that it is recorded into."""
    disk, copy = folder / f"disk{size}", folder / f"copy{size}"
    disk.mkdir()
    copy.mkdir()
    job = job_for(disk / "data")
    recorded = record_command(disk / "data", job, switches=["--counters"])
    result = run_well(in_private_mounts(FULL.replace("1m", size), disk, copy, *recorded))
    alone = run_well(job_for(copy / "data"))
    check_equal(sorted(result.stdout.splitlines()), sorted(alone.stdout.splitlines()), "output of the job")
    return result.stderr, copy / "data"


# A rank of MPICH that starts when rank 0 has made its file of counters in the folder $1.
BEHIND_RANK_0 = """
folder=$1; shift
[ "$PMI_RANK" = 0 ] || until [ "$(find "$folder" -name '*.counters' -size +0)" ]; do sleep 0.01; done
exec "$@"
"""


def counters_tell_who_is_missing():
    """If the files of some ranks find no room, the others' numbers are not presented as the job's."""
    need_private_mounts()
    mpi = MPIS["mpich"]

    def job(data):
        # One after the other: of two that reserve the last room at once, tmpfs may refuse both.
        *launch, program = mpi.job_with_windows("counted")
        return [*launch, "sh", "-ec", BEHIND_RANK_0, "sh", data, program]

    with scratch() as folder:
        # A log begins with 128 KiB and its counters with 64: there is room for two logs and one file of counters.
        said, data = record_counters(folder, "368k", job)
        told = run_well([TOOL, "counters", data, "--format", "json"])
        kept = len(json.loads(told.stdout)["processes"])
        check_equal((mpi.ranks, kept), (2, 1), "ranks, and those that have counters")
        check("counters of 1 process," in said, f"that one process has counters is not said:\n{said}")
        words = "counters of 1 of 2 ranks are missing"
        for where in (said, told.stderr, run_well([TOOL, "top", data, "--once"]).stdout):
            check(words in where, f"{words!r} is not said:\n{where}")


def counters_tell_that_none_were_kept():
    """If no file of counters finds room, none are announced, with or without logs."""
    need_private_mounts()
    mpi = MPIS["mpich"]
    one_rank = [*mpi.launcher, mpi.count_option, 1, PROGRAMS / f"counted.{mpi.suffix}"]
    with scratch() as folder:
        for size, job in (("64k", mpi.job_with_windows("counted")), ("160k", one_rank)):
            said, data = record_counters(folder, size, lambda _data, job=job: job)
            check("no counters were kept" in said, f"that there are no counters is not said:\n{said}")
            check("next: uctrace counters" not in said, f"counters are announced:\n{said}")
            told = run([TOOL, "counters", data])
            check(told.status == TOOL_FAILURE and "there was no room for them" in told.stderr, f"{told}")
            check_equal(len(told.stderr.splitlines()), 1, f"lines of {told}")


CASES = {
    "counters": counters_tell_who_is_missing,
    "no_counters": counters_tell_that_none_were_kept,
    "bounded": newest_are_kept,
    "store": store_tells_what_it_needs,
}
run_test(lambda case: CASES[case]() if case in CASES else job_survives(case))
