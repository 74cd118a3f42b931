"""Collects everything that GPU jobs need in one folder, so that they run on machines with only a driver,
Python and a C library no older than this machine's: Open MPI, a UCX with CUDA, uctrace, the programs, and
these tests. The folder looks like a build folder to tests/integration/harness.py.

CUDA's runtime, which that UCX is linked with, is the one of tests/virtual-gpu: a thin layer over the
driver, whichever that is. So no toolkit is needed, neither here nor there."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MULTIARCH = sysconfig.get_config_var("MULTIARCH") or ""
# Of Open MPI: not for networks and file systems, which pull in half a distribution.
LEFT_OUT = ("mca_mtl_", "mca_btl_openib", "mca_btl_usnic", "mca_btl_ofi", "mca_btl_uct", "mca_common_ofi",
            "mca_io_romio", "mca_fs_", "mca_coll_hcoll", "mca_plm_slurm", "mca_plm_tm", "mca_ras_",
            "mca_pml_monitoring", "mca_crcp")
# Libraries that every machine has, or gets from its driver.
OF_THE_MACHINE = ("ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so",
                  "libutil.so", "libcuda.so", "libcudart.so", "libnvidia-ml.so", "libcupti.so")
OF_UCX = ("libuc",)

LAUNCHER = """#!/bin/sh
# Open MPI's launcher at another place than it was installed at.
pack=$(cd "$(dirname "$0")/../.." && pwd)
usr="$pack/mpi/usr" lib="$pack/mpi/usr/lib/MULTIARCH"
export OPAL_PREFIX="$usr" OPAL_SYSCONFDIR="$pack/mpi/etc/openmpi" OPAL_PKGDATADIR="$usr/share/openmpi"
export PMIX_MCA_mca_base_component_path="$lib/pmix2/lib/pmix" HWLOC_PLUGINS_PATH="$pack/none"
export PMIX_MCA_pcompress_base_silence_warning=1
export LD_LIBRARY_PATH="$lib/openmpi/lib:$pack/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"""
ORTERUN = """\
exec "$usr/bin/orterun" --bind-to none --mca plm isolated --mca btl self --mca coll ^hcoll "$@"
"""
# Open MPI 5 starts jobs with PRRTE, which needs a command that could be ssh and, after being moved, gives
# ranks another LD_LIBRARY_PATH.
PRTERUN = """\
export PRTE_PREFIX="$usr" PRTE_SYSCONFDIR="$pack/mpi/etc/openmpi" PRTE_PKGDATADIR="$usr/share/prte"
export PMIX_PREFIX="$usr" PMIX_SYSCONFDIR="$pack/mpi/etc/openmpi" PMIX_PKGDATADIR="$usr/share/pmix"
export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent=false
set -- -x LD_LIBRARY_PATH --bind-to none --mca btl self --mca coll ^hcoll "$@"
exec "$usr/bin/mpirun.openmpi" "$@"
"""


class Incomplete(Exception):
    """Something that is needed is not installed, or was not built."""


def _need(path):
    if not path.exists():
        raise Incomplete(f"there is no {path}")
    return path


def _copy(source, target):
    """A file under its name, without symbols for debuggers; a folder with all that is in it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def _is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _libraries(files, search):
    """The libraries that this machine's loader finds for these files: {name: path}."""
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, search))}
    told = subprocess.run(["ldd", *map(str, files)], env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    found = {}
    for line in told.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        path = rest.partition(" (")[0].strip()
        if arrow and path.startswith("/"):
            found[name] = Path(path)
    return found


def _copy_open_mpi(pack):
    usr = Path("/usr")
    mpi = pack / "mpi" / "usr"
    is_5 = (usr / "bin" / "prterun").exists()
    for program in ("mpirun.openmpi", "prterun") if is_5 else ("orterun",):
        _copy(_need(usr / "bin" / program), mpi / "bin" / program)
    components = Path("lib") / MULTIARCH / "openmpi" / "lib" / "openmpi3"
    # Those of Open MPI 5 are in its libraries.
    for component in [] if is_5 else sorted(_need(usr / components).glob("mca_*.so")):
        if not component.name.startswith(LEFT_OUT):
            _copy(component, mpi / components / component.name)
    if is_5:
        _copy(_need(usr / "share" / "prte"), mpi / "share" / "prte")
    pmix = Path("lib") / MULTIARCH / "pmix2" / "lib" / "pmix"
    _copy(_need(usr / pmix), mpi / pmix)
    _copy(_need(usr / "share" / "openmpi"), mpi / "share" / "openmpi")
    _copy(_need(Path("/etc/openmpi")), pack / "mpi" / "etc" / "openmpi")
    launcher = pack / "mpi" / "bin" / "mpirun.openmpi"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    launcher.write_text((LAUNCHER + (PRTERUN if is_5 else ORTERUN)).replace("MULTIARCH", MULTIARCH))
    launcher.chmod(0o755)


def make_pack(pack, build, ucx, *, virtual):
    """Fills the folder. `virtual`: with the virtual GPUs, in place of a driver."""
    _copy_open_mpi(pack)
    _copy(_need(ucx / "lib"), pack / "ucx-hooks" / "lib")
    for name in ("uctrace", "libuctrace.so"):
        _copy(_need(build / name), pack / name)
    if (build / "uctrace-topology").exists():  # made where hwloc is
        _copy(build / "uctrace-topology", pack / "uctrace-topology")
    for name in ("gpu_exchange.ompi", "gpu_reuse"):
        _copy(_need(build / "tests" / "programs" / name), pack / "tests" / "programs" / name)
    _copy(_need(build / "tests" / "gpu" / "query_cost"), pack / "tests" / "gpu" / "query_cost")
    made = build / "tests" / "virtual-gpu"
    for plug_in in made.glob("libuctrace-cupti.so"):  # for any CUPTI: that of virtual GPUs is declared alike
        _copy(plug_in, pack / plug_in.name)
    _copy(_need(made / "libcudart.so.13"), pack / "runtime" / "libcudart.so.13")
    if virtual:
        for library in made.glob("lib*.so.*"):
            if _is_elf(library):
                _copy(library, pack / "virtual" / library.name)
    for folder, pattern in (("integration", "*.py"), ("gpu", "*")):
        for source in sorted((SOURCE / "tests" / folder).glob(pattern)):
            if source.is_file():
                _copy(source, pack / "tests" / folder / source.name)
    _finish(pack, ucx)


def _finish(pack, ucx):
    """Adds all needed libraries, then strips debug information."""
    files = [path for path in pack.rglob("*") if _is_elf(path)]
    for name, path in _libraries(files, [ucx / "lib", pack / "runtime"]).items():
        if not name.startswith((*OF_THE_MACHINE, *OF_UCX)):
            _copy(path, pack / "lib" / name)
    elf = [path for path in pack.rglob("*") if _is_elf(path)]
    subprocess.run(["strip", "--strip-debug", *map(str, elf)], check=True)
