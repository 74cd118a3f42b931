"""`mpirun -n N uctrace merge DIR`: the same run as with one process, reported once; failures in one line; a
command run by only one rank of a script is alone; without the library for the MPI the first process merges."""

import shutil

from harness import (
    TOOL, check, check_equal, in_private_mounts, need, need_private_mounts, run, run_test, run_well, scratch,
)
from mpi_jobs import MPIS
from stores import generate, views


def launch(mpi, ranks, *command):
    need(MPIS[mpi].launcher[0])
    return [*MPIS[mpi].launcher, MPIS[mpi].count_option, ranks, *command]


def same_run(mpi):
    with scratch() as folder:
        data, alone = folder / "data", folder / "alone"
        generate(data, 80000, "--processes", 5)
        told = run_well([TOOL, "merge", data, "--store", alone]).stdout
        for ranks in (2, 3):
            together = folder / f"by{ranks}"
            result = run_well(launch(mpi, ranks, TOOL, "merge", data, "--store", together))
            check_equal(result.stdout.replace(str(together), str(alone)), told, f"what {ranks} ranks say")
            check_equal((together / "run.h5").stat().st_size, (alone / "run.h5").stat().st_size, "bytes of the store")
            check(views(data, together) == views(data, alone), f"{ranks} ranks made another run than one process")


def failures(mpi):
    with scratch() as folder:
        empty = folder / "empty"
        empty.mkdir()
        result = run(launch(mpi, 3, TOOL, "merge", empty))
        check(result.status != 0, f"a folder without logs was merged: {result}")
        check_equal(result.stderr.count("it holds no *.ulog file"), 1, f"times that it is told: {result}")

        data, file = folder / "data", folder / "file"
        generate(data, 3000)
        file.write_text("no folder")
        result = run(launch(mpi, 2, TOOL, "merge", data, "--store", file))
        check(result.status != 0, f"a store was written into a file: {result}")
        check_equal(result.stderr.count(str(file)), 1, f"times that the file is named: {result}")
        check_equal(file.read_text(), "no folder", "what lay there")


def no_room(mpi):
    """A failure in the middle of one rank's merge: the others must not wait for it."""
    need_private_mounts()
    with scratch() as folder:
        data, disk = folder / "data", folder / "disk"
        generate(data, 600000, "--processes", 6)
        disk.mkdir()
        script = 'mount -t tmpfs -o size=64m tmpfs "$1" && mkdir "$1/store" && shift && exec "$@"'
        merge = launch(mpi, 2, TOOL, "merge", data, "--store", disk / "store", "--memory", "64M")
        result = run(in_private_mounts(script, disk, *merge))
        check(result.status != 0, f"a merge without room ended well: {result}")
        check("which has no room left" in result.stderr, f"the reason is not told: {result}")


def one_rank_of_a_script(mpi):
    """MPI would wait for the other rank for ever."""
    with scratch() as folder:
        data = folder / "data"
        generate(data, 3000)
        rank = {"ompi": "$OMPI_COMM_WORLD_RANK", "mpich": "$PMI_RANK"}[mpi]
        script = f'if [ "{rank}" = 0 ]; then "$0" merge "$1"; fi; true'
        result = run_well(launch(mpi, 2, "sh", "-c", script, TOOL, data))
        check_equal(result.stdout.count("identities:"), 1, f"times that it is told: {result}")


def no_library(mpi):
    with scratch() as folder:
        for name in ("uctrace", "libuctrace.so"):
            shutil.copy(TOOL.with_name(name), folder / name)
        data = folder / "data"
        generate(data, 3000)
        result = run_well(launch(mpi, 2, folder / "uctrace", "merge", data))
        check_equal(result.stdout.count("identities:"), 1, f"times that it is told: {result}")
        check_equal(result.stderr.count("one process merges alone"), 1, f"warnings of {result}")


CASES = {"same": same_run, "failures": failures, "room": no_room, "script": one_rank_of_a_script, "no-library": no_library}
run_test(lambda mpi, case: CASES[case](mpi))
