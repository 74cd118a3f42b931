"""Scripts, interpreters and other wrappers between launcher and program, and paths with blanks."""

import os
import shutil

from checks import check_complete
from harness import LIBRARY, TOOL, Skip, check, check_equal, run, run_test, run_well, scratch
from launchers import SHOW, write_script
from mpi_jobs import MPIS
from recordings import Recording, record_well

PYTHON = "/usr/bin/python3"  # Debian's mpi4py is of Debian's Python
HELLO = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))\n"


def wrapped(mpi, folder):
    """{description: the command line} with something between the launcher and its program."""
    *launcher, program, size = mpi.job("allreduce", 64)
    spaced = folder / "a program"
    shutil.copy(program, spaced)
    script = write_script(folder / "run it.sh", '#!/bin/sh\ntrue | cat\nexec "$@"\n')
    elsewhere = write_script(folder / "elsewhere.sh", '#!/bin/sh\ncd /\nexec "$@"\n')
    return {
        "a script": [*launcher, script, program, size],
        "a shell": [*launcher, "sh", "-c", f"'{program}' {size}; true"],
        "nice and env": [*launcher, "nice", "-n", 1, "env", "A=b", program, size],
        "another folder": [*launcher, elsewhere, program, size],
        "a path with blanks": [*launcher, spaced, size],
    }


def wrappers_are_passed_through(mpi, folder):
    for what, line in wrapped(mpi, folder).items():
        alone = run_well(line, cwd=folder)
        # A relative folder is that of the command line, even if a wrapper changes directory.
        result = run_well([TOOL, "record", "-o", "my data", "--", *line], cwd=folder)
        check_equal(result.stdout, alone.stdout, f"output through {what}")
        recording = Recording(folder / "my data")
        check_equal(len(recording.logs), mpi.ranks, f"logs through {what}")
        check_complete(recording.info, processes=mpi.ranks)


def users_library_is_kept(mpi, folder):
    *launcher, program, size = mpi.job("allreduce", 64)
    show = write_script(folder / "show.sh", SHOW)
    env = {"LD_PRELOAD": "libm.so.6"}
    result, _ = record_well(folder / "data", [*launcher, show, program, size], env=env)
    lines = {line for line in result.stdout.splitlines() if line.startswith("preload=")}
    check_equal(lines, {f"preload={LIBRARY}:libm.so.6 own="}, "LD_PRELOAD of the ranks")


def tool_below_a_path_with_a_colon(mpi, folder):
    home = folder / "a place: here"
    home.mkdir()
    for file in (TOOL, LIBRARY):
        shutil.copy(file, home)
    job = mpi.job("allreduce", 64)
    tool = [home / TOOL.name, "record", "-o"]
    for data in (folder / "plain", folder / "my data 2"):
        result = run_well([*tool, data, "--", *job])
        check("ld.so" not in result.stderr, f"the link is not loaded: {result}")
        check_complete(Recording(data).info, processes=mpi.ranks)
    # Behind the launcher the link must be in a folder that all hosts share.
    *launcher, program, size = job
    behind = folder / "behind"
    run_well([*launcher, *tool, behind, "--", program, size])
    check_complete(Recording(behind).info, processes=mpi.ranks)
    refused = run([*launcher, *tool, folder / "no way", "--", program, size])
    check(refused.status != 0, f"recorded where nothing can be loaded: {refused}")
    check("LD_PRELOAD takes no path" in refused.stderr, f"not explained: {refused}")


def python_is_recorded(mpi, folder):
    if mpi.name != "ompi":
        return
    if not os.path.exists(PYTHON) or run([PYTHON, "-c", "import mpi4py"]).status != 0:
        raise Skip("mpi4py is missing")
    script = folder / "hello.py"
    script.write_text(HELLO)
    launcher = mpi.job("allreduce")[:-1]
    result, recording = record_well(folder / "python", [*launcher, PYTHON, script])
    check_equal(result.stdout.count(str(mpi.ranks)), mpi.ranks, "sums that the ranks print")
    check_complete(recording.info, processes=mpi.ranks)


def wrappers_are_no_obstacle(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        if ":" in str(folder) or " " in str(folder):
            raise Skip(f"the temporary folder itself has a blank or colon: {folder}")
        wrappers_are_passed_through(mpi, folder)
        users_library_is_kept(mpi, folder)
        tool_below_a_path_with_a_colon(mpi, folder)
        python_is_recorded(mpi, folder)


run_test(wrappers_are_no_obstacle)
