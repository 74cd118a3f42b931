"""A full disk, an exceeded quota, or a folder that cannot be written: the job runs on, and losses are counted."""

import json
import re

from checks import check_incomplete, check_losses_are_told
from harness import (
    Skip, TOOL, check, check_equal, in_private_mounts, need, need_private_mounts, run, run_test, run_well, scratch,
)
from mpi_jobs import MPIS
from recordings import Recording, record_command
from stores import TOOL_FAILURE, generate

# A private mount namespace with a small tmpfs on $1; what is there at the end is copied to $2.
FULL = """
mount -t tmpfs -o size=1m tmpfs "$1"
disk=$1; copy=$2; shift 2
status=0; "$@" || status=$?
cp -r "$disk/." "$copy"
exit $status
"""
# A btrfs with a quota of 1 MiB, which holds for root as well: $1 is where it is mounted.
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
# The same as FULL with room for the bounded logs of a job, but not for them and their chunks.
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


def counters_tell_who_is_missing():
    """Where the files of some ranks find no room, the numbers of the others are not shown as those of the job."""
    need_private_mounts()
    mpi = MPIS["mpich"]
    job = mpi.job_with_windows("counted")
    alone = run_well(job)
    with scratch() as folder:
        for size, are_any in (("300k", True), ("64k", False)):
            disk, copy = folder / f"disk{size}", folder / f"copy{size}"
            disk.mkdir()
            copy.mkdir()
            recorded = record_command(disk / "data", job, switches=["--counters"])
            result = run_well(in_private_mounts(FULL.replace("1m", size), disk, copy, *recorded))
            check_equal(sorted(result.stdout.splitlines()), sorted(alone.stdout.splitlines()), "output of the job")
            told = run([TOOL, "counters", copy / "data", "--format", "json"])
            if not are_any:
                check(told.status == TOOL_FAILURE and "there was no room for them" in told.stderr, f"{told}")
                continue
            kept = len(json.loads(told.stdout)["processes"])
            check(0 < kept < mpi.ranks, f"{kept} ranks have counters")
            words = f"counters of {mpi.ranks - kept} of {mpi.ranks} ranks are missing"
            for said in (result.stderr, told.stderr, run_well([TOOL, "top", copy / "data", "--once"]).stdout):
                check(words in said, f"{words!r} is not said:\n{said}")


CASES = {"counters": counters_tell_who_is_missing, "bounded": newest_are_kept, "store": store_tells_what_it_needs}
run_test(lambda case: CASES[case]() if case in CASES else job_survives(case))
