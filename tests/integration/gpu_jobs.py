"""Jobs on virtual GPUs (tests/virtual-gpu), recorded over the UCX with hooks, which has CUDA: on this
machine, or on two hosts with GPUs of their own."""

import contextlib
from dataclasses import replace

from harness import (
    MPIS,
    OPEN_MPI_OVER_UCX,
    VIRTUAL_GPUS,
    Mpi,
    Recording,
    check_equal,
    cuda_ucx,
    record_command,
    run_well,
    scratch,
)
from two_hosts import CABLE, HOSTS, LAUNCH_NETWORK, two_hosts

SHARED_MEMORY = "sysv,posix,cma,self"


def gpu_environment(settings):
    """The environment of the ranks: what a test sets, and where the virtual GPUs are."""
    return {"LD_LIBRARY_PATH": f"{VIRTUAL_GPUS}:{cuda_ucx()}/lib", **settings}


class OneHost:
    def __init__(self, folder, name):
        self.folder, self.mpi = folder, MPIS[name]

    def recorded(self, program, *arguments, settings, ranks=2):
        mpi = replace(self.mpi, ranks=ranks)
        environment = gpu_environment(settings)
        if mpi.name == "ompi":
            exported = [word for name in environment for word in ("-x", name)]
            mpi = replace(mpi, transport_options=[*mpi.transport_options, *exported])
        command = mpi.job(program, *arguments)
        alone = run_well(command, env=environment)
        data = self.folder / "data"
        result = run_well(record_command(data, command, ["--ucx", cuda_ucx()]), env=environment)
        check_equal(result.stdout, alone.stdout, "output of the job")
        return Recording(data)


class TwoHosts:
    """Four ranks: two on each host, and each on a GPU of its own there."""

    def __init__(self, folder, rig):
        self.folder, self.rig = folder, rig

    def recorded(self, program, *arguments, settings):
        environment = gpu_environment({"UCX_NET_DEVICES": CABLE, **settings})
        options = [
            *OPEN_MPI_OVER_UCX,
            *["--mca", "plm_rsh_agent", self.rig.agent, "--mca", "plm_rsh_no_tree_spawn", "1"],
            *["--mca", "oob_tcp_if_include", LAUNCH_NETWORK],
            *["-H", ",".join(f"{host}:2" for host in HOSTS)],
        ]
        for name, value in environment.items():
            options += ["-x", f"{name}={value}"]
        command = Mpi("ompi", ["mpirun.openmpi"], 4, "-np", options).job(program, *arguments)
        alone = run_well(self.rig.on_login(command))
        data = self.folder / "data"
        result = run_well(self.rig.on_login(record_command(data, command, ["--ucx", cuda_ucx()])))
        check_equal(own_lines(result), own_lines(alone), "output of the job")
        return Recording(data)


def own_lines(result):
    """What the job prints. UCX 1.13 may complain at the end about ranks that left before."""
    return [line for line in result.stdout.splitlines() if not line.startswith("[")]


@contextlib.contextmanager
def place(name):
    """Where jobs run: an MPI on this machine, or "two-hosts"."""
    with scratch() as folder:
        if name != "two-hosts":
            yield OneHost(folder, name)
            return
        with two_hosts(folder / "rig", own_boot_ids=True) as rig:
            yield TwoHosts(folder, rig)
