"""Launchers for tests: two "hosts" on this one machine, and a wrapper that shows what a rank gets."""

from harness import MPIS, need

# A remote shell: the command runs on this machine, with next to nothing in its environment.
AGENT = """#!/bin/bash
while [[ "$1" == -* ]]; do shift; done
shift
exec env -i PATH=/usr/bin:/bin HOME=/ OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \\
  sh -c "$*"
"""
SHOW = """#!/bin/sh
echo "preload=$LD_PRELOAD own=$OWN"
exec "$@"
"""
HOSTS = ("uctrace-host-a", "uctrace-host-b")


def write_script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def two_hosts(mpi_name, folder):
    """The launcher with options for two hosts, which start with an empty environment."""
    agent = write_script(folder / "agent.sh", AGENT)
    mpi = MPIS[mpi_name]
    need(mpi.launcher[0])
    if mpi_name == "mpich":
        hosts = ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", ",".join(HOSTS), "-ppn", 1]
    else:
        hosts = [*mpi.transport_options, "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent]
        hosts += ["--mca", "rtc", "^hwloc"]  # two daemons of one machine share its file
        hosts += ["--map-by", "node", "-H", ",".join(f"{host}:2" for host in HOSTS)]
    return [*mpi.launcher, *hosts]
