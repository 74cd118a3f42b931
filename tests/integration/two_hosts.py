"""Two hosts on one machine, as MPI and UCX see them.

node1 and node2 have a network, a host name, shared memory, processes and a monotonic clock of their
own, and share the folders of the machine. A third place, "login", starts their jobs: a bridge joins
it with both (eth0), and a cable that nothing else uses joins the two (ucx0), for UCX.

Everything is made of unnamed namespaces that hang on one process, which ends when this one does, in
whichever way; the kernel then removes the rest. Nothing of the machine itself is touched.
"""

import contextlib
import json
import os
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from harness import Skip, check, need, run, run_well, wait_until

HOSTS = ("node1", "node2")
LAUNCH_NETWORK = "10.77.0.0/24"
CABLE = "ucx0"  # the device that UCX gets
NAMESPACES = ["--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
# As if the hosts had booted at different times: their monotonic clocks differ by more than the duration of any
# test.
AHEAD_S = {"node1": 1000, "node2": 5000}

# Run on each host as its first process, with its name and the folder: $1 and $2.
HOST = """
read -r pid rest < /proc/self/stat  # as login counts processes: its /proc is still in place
mount -t proc proc /proc
mount -t sysfs sysfs /sys  # shows the network devices of where it was mounted; UCX reads them
mount -t tmpfs shm /dev/shm
mount --bind "$2/hosts" /etc/hosts
[ ! -e "$2/$1.boot_id" ] || mount --bind "$2/$1.boot_id" /proc/sys/kernel/random/boot_id
hostname "$1"
echo "$pid" > "$2/$1.started"
exec sleep infinity
"""

# Run on login with the folder: $1. `ip netns` is not used: it would name namespaces for all to see.
LOGIN = """
hostname login
mount --bind "$1/hosts" /etc/hosts
ip link set lo up
ip link add launch type bridge
ip address add 10.77.0.254/24 dev launch
ip link set launch up
start() {
  mkfifo "$1/$2.started"
  unshare --net --uts --ipc --pid --mount --time --monotonic "$3" --boottime "$3" --fork --kill-child \
          sh -ec "$HOST" sh "$2" "$1" < /dev/null > /dev/null &
  read -r pid < "$1/$2.started"
  echo "$pid" > "$1/$2.pid"
  ip link add eth0 netns "$pid" type veth peer name "$2"
  ip link set "$2" master launch up
}
set_up() {
  nsenter --all --target "$1" sh -ec '
    ip link set lo up
    ip address add "10.77.0.$1/24" dev eth0
    ip link set eth0 up
    ip address add "10.78.0.$1/24" dev ucx0
    ip link set ucx0 addrgenmode none gso_max_segs 1 up
    echo 1 > /sys/class/net/ucx0/queues/rx-0/rps_cpus
  ' sh "$2"
}
start "$1" node1 "$AHEAD1"; first=$pid
start "$1" node2 "$AHEAD2"; second=$pid
ip link add ucx0 netns "$first" type veth peer name ucx0 netns "$second"
set_up "$first" 1
set_up "$second" 2
echo ready
exec cat  # until the test closes the other end, or ends
"""

# A replacement for ssh, for launchers: AGENT [OPTION...] HOST COMMAND. Nothing of the caller's environment
# reaches the other side. A PATH and a HOME are there, as with sshd: without the first Open MPI's daemon does
# not start, without the second that of Open MPI 5 crashes. Two rigs have hosts of one name: in one folder for
# temporary files the launcher of one would remove what that of the other works with.
AGENT = """#!/bin/sh
case $1 in -*) shift ;; esac
host=$1; shift
exec nsenter --all --target "$(cat "{folder}/$host.pid")" env -i PATH=/usr/bin:/bin HOME=/ TMPDIR="{folder}/tmp" sh -c "$*"
"""

HOSTS_FILE = "127.0.0.1 localhost\n10.77.0.254 login\n10.77.0.1 node1\n10.77.0.2 node2\n"


@dataclass(frozen=True)
class Counters:
    """The kernel's counters of a device: bytes including the headers, from Ethernet's on."""

    sent_bytes: int
    sent_packets: int
    received_bytes: int
    received_packets: int

    def __sub__(self, before):
        return Counters(*(a - b for a, b in zip(vars(self).values(), vars(before).values())))


class Rig:
    def __init__(self, folder, login):
        self.folder = folder
        self.agent = folder / "agent"
        self._login = login

    def on_login(self, command):
        """The command that runs `command` on login."""
        own = Path("/proc") / str(self._login) / "ns"
        kinds = {"mount": "mnt", "net": "net", "uts": "uts", "ipc": "ipc", "pid": "pid_for_children"}
        namespaces = (f"--{kind}={own / file}" for kind, file in kinds.items())
        return ["nsenter", *namespaces, "env", f"TMPDIR={self.folder / 'tmp'}", *command]

    def on(self, host, command):
        """The command that runs `command` on a host, with an empty environment."""
        return self.on_login([self.agent, host, *command])

    def device(self, host):
        """The cable's end, as `ip` sees it."""
        shown = run_well(self.on(host, ["ip", "-j", "-s", "link", "show", CABLE])).stdout
        return json.loads(shown)[0]

    def counters(self, host):
        sent, received = (self.device(host)["stats64"][way] for way in ("tx", "rx"))
        return Counters(sent["bytes"], sent["packets"], received["bytes"], received["packets"])


def _need_namespaces():
    """Skips the test where the kernel or missing privileges do not allow the rig."""
    for command in ("unshare", "nsenter", "ip"):
        need(command)
    probe = "mount -t tmpfs x /mnt; ip link add name v0 type veth peer name v1; ip link add name b0 type bridge"
    made = run(["unshare", "--time", *NAMESPACES, "sh", "-ec", probe])
    if made.status != 0:
        raise Skip(f"namespaces with networks cannot be made here: {made.stderr.strip()}")


@contextlib.contextmanager
def two_hosts(folder, *, own_boot_ids=False):
    """The hosts, with `folder` for their files. UCX distinguishes hosts only by their boot ids when it checks
    whether GPU memory can be shared."""
    _need_namespaces()
    folder.mkdir()
    (folder / "tmp").mkdir()
    if own_boot_ids:
        for host in HOSTS:
            (folder / f"{host}.boot_id").write_text(f"{uuid.uuid4()}\n")
    (folder / "hosts").write_text(HOSTS_FILE)
    rig_agent = folder / "agent"
    rig_agent.write_text(AGENT.format(folder=folder))
    rig_agent.chmod(0o755)
    ahead = {f"AHEAD{name[-1]}": str(seconds) for name, seconds in AHEAD_S.items()}
    login = subprocess.Popen(
        ["unshare", *NAMESPACES, "--mount-proc", "sh", "-ec", LOGIN, "sh", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOST": HOST, **ahead},
    )
    try:
        ready = login.stdout.readline().strip() == "ready"
        check(ready, f"the two hosts could not be set up: {'' if ready else login.stderr.read()}")
        rig = Rig(folder, login.pid)
        for host in HOSTS:  # UCX does not use a device without a carrier
            wait_until(lambda: rig.device(host)["operstate"] == "UP", f"{CABLE} of {host} is down")
        yield rig
    finally:
        login.stdin.close()
        login.wait(timeout=10)
        login.stdout.close()
        login.stderr.close()
