#!/usr/bin/env python3
"""Where this machine has MPI's standard ABI (MPI 5): its header, and the libraries that have it. As
Debian lays them out from Open MPI 6 and MPICH 5 on; UCTRACE_TEST_MPI_ABI names a folder with
`include/mpi.h` and `lib/libmpi_abi.so.1` in their place."""

import os
import subprocess
import sys
from dataclasses import dataclass
from glob import glob
from pathlib import Path

ROOT = "/usr/lib/*-linux-gnu"


@dataclass(frozen=True)
class StandardAbi:
    name: str  # of the library that implements it
    include: Path
    library: Path

    def link_as_soname(self, folder):
        """A folder for LD_LIBRARY_PATH in which programs find this library: all of them are called
        libmpi_abi.so.1."""
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / "libmpi_abi.so.1"
        if not link.is_symlink():
            link.symlink_to(self.library)
        return folder


def _first(pattern):
    return next(map(Path, sorted(glob(pattern))), None)


def installed():
    """In no order of preference; empty where there is none."""
    if folder := os.environ.get("UCTRACE_TEST_MPI_ABI"):
        return [StandardAbi("given", Path(folder, "include"), Path(folder, "lib/libmpi_abi.so.1"))]
    found = [
        StandardAbi("Open MPI", _first(f"{ROOT}/openmpi/include/standard_abi"),
                    _first(f"{ROOT}/libmpi_abi_openmpi.so.1")
                    or _first(f"{ROOT}/libmpi_abi_openmpi.so.1.*")),
        StandardAbi("MPICH", _first(f"{ROOT}/mpi_abi_mpich/include"),
                    _first(f"{ROOT}/libmpi_abi_mpich.so.1")
                    or _first(f"{ROOT}/libmpi_abi_mpich.so.1.*"))]
    return [abi for abi in found if abi.include and abi.library]


# The harnesses' names of a launcher with this library; for a library in UCTRACE_TEST_MPI_ABI none is
# known.
LAUNCHERS = {"Open MPI": "ompi_abi", "MPICH": "mpich_abi"}


def main():
    """usage: standard_abi.py --list FOLDER | NAME FOLDER OPTION...
    --list prints the name that each library has in our tests; NAME compiles for one of them, and has
    programs find it through FOLDER."""
    name, folder, *options = sys.argv[1:]
    known = {LAUNCHERS[abi.name]: abi for abi in installed() if abi.name in LAUNCHERS}
    if name == "--list":
        print(*known)
        return 0
    abi = known[name]
    place = abi.link_as_soname(Path(folder).resolve() / name)
    return subprocess.call(["cc", f"-I{abi.include}", *options, str(abi.library),
                            f"-Wl,--enable-new-dtags,-rpath,{place}"])


if __name__ == "__main__":
    sys.exit(main())
