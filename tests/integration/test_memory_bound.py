"""--memory: a merge that does not fit into memory makes the same run, holds no more than the bound, and leaves
nothing behind; without room for spilling it says so in one line and keeps the old run."""

import resource
import subprocess

from harness import (
    TOOL,
    check,
    check_equal,
    in_private_mounts,
    need_private_mounts,
    peak_kb_of,
    run,
    run_test,
    scratch,
)
from stores import TOOL_FAILURE, generate, views

EVENTS = 300_000
MANY_EVENTS = 1_200_000
MIB = 1 << 20
PROCESSES = ("--processes", 6)


def merge_peak(data, store, *options):
    status, told, peak_kb = peak_kb_of(TOOL, "merge", data, "--store", store, *options)
    check_equal(status, 0, f"the status of a merge with {options}: {told}")
    return peak_kb * 1024


def bound_is_kept():
    with scratch() as folder:
        data, free, bound = folder / "data", folder / "free", folder / "bound"
        generate(data, MANY_EVENTS, *PROCESSES)
        whole = merge_peak(data, free, "--memory", "4G")
        most = merge_peak(data, bound, "--memory", "64M")
        # On a busy machine threads allocate more until the next check.
        check(whole > 300 * MIB, f"{MANY_EVENTS} events need no more than {whole} bytes: the test says nothing")
        check(most < 0.75 * whole, f"{most} bytes with a bound of 64 MiB, {whole} without")
        check(views(data, free) == views(data, bound), "the bound changed the run")
        check_equal(sorted(path.name for path in bound.iterdir()),
                    sorted(path.name for path in free.iterdir()), "files beside the store")


def no_room_is_told():
    need_private_mounts()
    with scratch() as folder:
        data, disk = folder / "data", folder / "disk"
        generate(data, EVENTS, *PROCESSES)
        disk.mkdir()
        script = """
mount -t tmpfs -o size=48m tmpfs "$1"
mkdir "$1/store" && echo old > "$1/store/kept"
status=0; "$2" merge "$3" --store "$1/store" --memory 64M || status=$?
ls -A "$1/store"
exit $status
"""
        result = run(in_private_mounts(script, disk, TOOL, data))
        check_equal(result.status, TOOL_FAILURE, f"the status of {result}")
        check_equal(result.stdout.split(), ["kept"], f"what is left beside the store after {result}")
        lines = result.stderr.splitlines()
        check(len(lines) == 1 and "which has no room left" in lines[0] and "--memory" in lines[0],
              f"not one line with what to do: {result}")


def no_addresses_are_told():
    """A limit on address space leaves no place for the file."""
    with scratch() as folder:
        data = folder / "data"
        generate(data, EVENTS, *PROCESSES)
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        command = [TOOL, "merge", data, "--threads", "1"]
        bound = subprocess.run([*command, "--memory", "64M"], capture_output=True, text=True, check=False,
                               preexec_fn=limited)
        check_equal(bound.returncode, TOOL_FAILURE, f"the status of {bound}")
        check("ulimit -v" in bound.stderr, f"the reason is not told: {bound}")
        free = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited)
        check_equal(free.returncode, 0, f"the status of {free}")


def sizes_are_checked():
    for size, reason in (("8M", "less than 64M"), ("lots", "no size")):
        result = run([TOOL, "merge", "--memory", size])
        check_equal(result.status, TOOL_FAILURE, f"the status of {result}")
        check(reason in result.stderr, f"the reason is not told: {result}")


CASES = {"bound": bound_is_kept, "room": no_room_is_told, "addresses": no_addresses_are_told,
         "sizes": sizes_are_checked}
run_test(lambda case: CASES[case]())
