"""Runs programs, MPI jobs and recordings of them."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Build:
    """Where the tool and the benchmark programs were built."""

    root: Path

    @property
    def tool(self):
        return self.root / "uctrace"

    @property
    def generator(self):
        """The generator of whole jobs' logs: tests/tracegen."""
        return self.root / "uctrace-tracegen"

    @property
    def library(self):
        return self.root / "libuctrace.so"

    def program(self, name):
        return self.root / "tests" / "benchmarks" / name


@dataclass(frozen=True)
class Mpi:
    title: str
    suffix: str
    launcher: list
    count_option: str
    over_ucx: tuple = ()

    def command(self, build, program, ranks, *arguments, options=(), monitored=False):
        """`monitored`: by Open MPI itself. A program of another folder is given as its path."""
        name = f"{program}.{self.suffix}"
        executable = name if isinstance(program, Path) else build.program(name)
        pml = MONITORING if monitored else self.over_ucx
        return [*self.launcher, *pml, *options, self.count_option, ranks, executable, *arguments]

    def available(self, build):
        return shutil.which(self.launcher[0]) and build.program(f"start_up.{self.suffix}").exists()


OPEN_MPI = Mpi(
    "Open MPI",
    "ompi",
    "mpirun.openmpi --mca pml_ucx_tls any --mca pml_ucx_devices any".split(),
    "-np",
    ("--mca", "pml", "ucx"),
)
MONITORING = ("--mca", "pml", "ucx,monitoring", "--mca", "pml_monitoring_enable", "2")
MPICH = Mpi("MPICH", "mpich", ["mpiexec.mpich"], "-n")


@dataclass(frozen=True)
class Outcome:
    """The output of one run and its resources: the kernel's sums over it and its children."""

    output: str
    errors: str
    wall_s: float
    ended_ns: int  # CLOCK_MONOTONIC
    cpu_s: float
    max_rss_kib: int

    @property
    def result(self):
        """The JSON object that rank 0 printed."""
        return json.loads(self.output.splitlines()[-1])


def run(command, env=None, check=True):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("UCTRACE_", "UCX_", "OMPI_", "PMIX_", "LD_PRELOAD"))
    }
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start_ns = time.monotonic_ns()
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment | (env or {}),
        )
        _, status, usage = os.wait4(process.pid, 0)
        ended_ns = time.monotonic_ns()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        outcome = Outcome(
            output=output.read(),
            errors=errors.read(),
            wall_s=(ended_ns - start_ns) / 1e9,
            ended_ns=ended_ns,
            cpu_s=usage.ru_utime + usage.ru_stime,
            max_rss_kib=usage.ru_maxrss,
        )
    if check and process.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: status {process.returncode}\n{outcome.errors}")
    return outcome


@contextlib.contextmanager
def scratch_folder():
    folder = Path(tempfile.mkdtemp(prefix="uctrace-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Recorded:
    """Events that a run wrote and lost, from `uctrace record -v` for each process."""

    events: int = 0
    dropped: int = 0

    @property
    def dropped_share(self):
        return self.dropped / max(1, self.events + self.dropped)

    def add(self, errors):
        for events, dropped in re.findall(r": (\d+) events, (\d+) dropped", errors):
            self.events += int(events)
            self.dropped += int(dropped)


def record(build, folder, command, env=None, options=()):
    shutil.rmtree(folder, ignore_errors=True)
    return run([build.tool, "record", "-v", "-o", folder, *options, "--", *command], env)


def info(build, folder, check=True):
    """`uctrace info` of a recording; its counts do not depend on `record -v`. With `check` False
    the program may misuse UCX, so its accounts need not balance."""
    return json.loads(run([build.tool, "info", folder, "--format", "json"], check=check).output)
