"""Launchers for tests: two "hosts" on this machine, and a wrapper that shows the environment of a rank."""

import re
from functools import cache

from harness import need, run_well
from mpi_jobs import MPIS

# A remote shell: the command runs on this machine, with next to nothing in its environment. Each "host"
# has temporary files of its own: Open MPI's daemons conflict over folders that they all make.
AGENT = """#!/bin/bash
while [[ "$1" == -* ]]; do shift; done
own="$(dirname "$0")/${1##*-}"
mkdir -p "$own"
shift
exec env -i PATH=/usr/bin:/bin HOME=/ TMPDIR="$own" OMPI_ALLOW_RUN_AS_ROOT=1 \\
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "$*"
"""
SHOW = """#!/bin/sh
echo "preload=$LD_PRELOAD own=$OWN"
exec "$@"
"""
# Scripts that start a program with another preloaded library, after or before the existing ones.
PRELOADING = {
    "behind": '#!/bin/sh\nexec env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}%s" "$@"\n',
    "in front": '#!/bin/sh\nexec env LD_PRELOAD="%s${LD_PRELOAD:+:$LD_PRELOAD}" "$@"\n',
}
HOSTS = ("uctrace-host-a", "uctrace-host-b")


def write_script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


@cache
def launcher_version(mpi_name):
    """(major, minor). Since version 5 Open MPI's launcher is PRRTE's."""
    told = run_well([need(MPIS[mpi_name].launcher[0]), "--version"]).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)\.\d", told).groups()))


def tells_failures(mpi_name):
    """Whether the launcher's output for failing ranks is deterministic. MPICH 4.2's is not, and it may
    exit with 0."""
    return mpi_name != "mpich" or launcher_version("mpich") < (4, 2)


def open_mpi_settings():
    """Options for the processes. Open MPI 5 needs them in each part of a line between ":"."""
    settings = MPIS["ompi"].transport_options
    # Its collectives for hosts with one process each are wrong if both hosts have the same name.
    return [*settings, "--mca", "coll", "^han"] if launcher_version("ompi") >= (5, 0) else settings


def two_hosts(mpi_name, folder):
    """The launcher with options for two hosts, which start with an empty environment."""
    agent = write_script(folder / "agent.sh", AGENT)
    mpi = MPIS[mpi_name]
    need(mpi.launcher[0])
    if mpi_name == "mpich":
        hosts = ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", ",".join(HOSTS), "-ppn", 1]
    else:
        hosts = list(open_mpi_settings())
        if launcher_version("ompi") >= (5, 0):
            hosts += ["--prtemca", "plm", "ssh", "--prtemca", "plm_ssh_agent", agent]
        else:
            hosts += ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent]
            hosts += ["--mca", "rtc", "^hwloc"]  # two daemons of one machine share its file
        hosts += ["--map-by", "node", "-H", ",".join(f"{host}:2" for host in HOSTS)]
    return [*mpi.launcher, *hosts]
