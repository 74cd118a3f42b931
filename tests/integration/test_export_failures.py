"""Exports overwrite nothing, leave nothing behind on failure, and say what a run lacks."""

import errno
import os

from harness import TOOL, check, check_equal, in_private_mounts, need_private_mounts, run, run_test, run_well, scratch
from stores import DISTURBED, check_one_line, copy_of, generate, record_four


def nothing_is_overwritten():
    with scratch() as folder:
        generate(folder / "data", 2000)
        for to in ("csv", "perfetto", "otf2"):
            for existing in ("folder", "file", "link"):
                path = folder / f"{to}-{existing}"
                {"folder": path.mkdir, "file": path.touch, "link": lambda: path.symlink_to("nowhere")}[existing]()
                result = run([TOOL, "export", folder / "data", "--to", to, "-o", path])
                if "built without the OTF2 library" in result.stderr:
                    continue
                check_one_line(result, f"'{path}'", "is there already", "-o PATH")
                check_equal(path.is_symlink() or not path.is_dir() or list(path.iterdir()) == [], True, f"{path} is as it was")
        check_one_line(run([TOOL, "export", folder / "data"]), "not said which format", "--to otf2, perfetto or csv")
        missing = run([TOOL, "export", folder / "data", "--to", "csv", "-o", folder / "missing" / "csv"])
        check_one_line(missing, "No such file or directory", "make the folder", "-o PATH")
        check("room" not in missing.stderr, f"there is room: {missing}")
        check_one_line(run([TOOL, "export", folder / "nothing", "--to", "csv"]), "nothing")
        # Without -o, beside the data.
        result = run_well([TOOL, "export", "data/", "--to", "csv"], cwd=folder)
        check_equal(result.stdout, f"{folder.resolve() / 'data.csv'}\n", "the name of the export")


# A private mount namespace with a small tmpfs on $1; its final content is copied to $2.
FULL = """
mount -t tmpfs -o size=100k tmpfs "$1"
disk=$1; copy=$2; shift 2
status=0; "$@" || status=$?
cp -r "$disk/." "$copy"
exit $status
"""


def full_disk_is_an_error():
    need_private_mounts()
    with scratch() as folder:
        disk = folder / "disk"
        disk.mkdir()
        generate(folder / "data", 30000)
        run_well([TOOL, "info", folder / "data"])
        for to in ("csv", "perfetto", "otf2"):
            copy = folder / f"copy-{to}"
            copy.mkdir()
            result = run(in_private_mounts(FULL, disk, copy, TOOL, "export", folder / "data", "--to", to, "-o", disk / "x"))
            if "built without the OTF2 library" in result.stderr:
                continue
            check_one_line(result, "No space left on device", "make room")
            check_equal(result.stdout, "", f"what is printed of {to}")
            check_equal(list(copy.iterdir()), [], f"what is left of {to}")


def room_is_known_at_the_end():
    """Some file systems report only at close that they have no room."""
    with scratch() as folder:
        generate(folder / "data", 2000)
        run_well([TOOL, "info", folder / "data"])
        (folder / "out").mkdir()
        environment = {"LD_PRELOAD": str(DISTURBED), "FAIL_CLOSE": "/out/", "FAIL_ERRNO": str(errno.ENOSPC)}
        for to in ("csv", "perfetto"):
            result = run([TOOL, "export", folder / "data", "--to", to, "-o", folder / "out" / to],
                         env={**os.environ, **environment})
            check_one_line(result, "No space left on device", "make room")
            check_equal(list((folder / "out").iterdir()), [], f"what is left of {to}")


def incomplete_runs_say_so():
    """Logs of a job that lack one of its ranks."""
    with scratch() as folder:
        recording = record_four(folder)
        part = copy_of(recording, folder / "part", ranks=slice(3))
        lost = [m for m in part.messages if m["match"] != "exact"]
        check(lost, "all messages have their other side")
        for to in ("csv", "perfetto", "otf2"):
            result = run([TOOL, "export", part.folder, "--to", to, "-o", folder / to])
            if "built without the OTF2 library" in result.stderr:
                continue
            check_equal(result.status, 0, f"status of {result}")
            unmatched = sum(m["match"] == "unmatched" for m in lost)
            said = f"{unmatched} messages of which the other side was not found"
            check(said in result.stderr, f"{said!r} is not said: {result}")
            where = {"csv": folder / "csv" / "notes.csv", "perfetto": folder / "perfetto",
                     "otf2": folder / "otf2" / "traces.otf2"}[to]
            notes = [line.removeprefix("uctrace: note: ") for line in result.stderr.splitlines()]
            check(to != "perfetto" or any("without an arrow" in note for note in notes), f"notes: {notes}")
            for note in notes:
                check(note.encode() in where.read_bytes(), f"{note!r} is not in the export to {to}")


CASES = {"existing": nothing_is_overwritten, "full": full_disk_is_an_error, "close": room_is_known_at_the_end,
         "incomplete": incomplete_runs_say_so}
run_test(lambda case: CASES[case]())
