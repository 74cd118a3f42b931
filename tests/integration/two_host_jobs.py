"""Jobs of Open MPI on the two hosts of two_hosts.py, over their cable."""

from launchers import launcher_version
from mpi_jobs import OPEN_MPI_OVER_UCX, Mpi
from two_hosts import CABLE, HOSTS, LAUNCH_NETWORK

TWO_ON_EACH = ["-H", ",".join(f"{host}:2" for host in HOSTS)]


def open_mpi(rig, placing=TWO_ON_EACH):
    """`placing`: the options that choose the hosts of the ranks."""
    agent = ["--mca", "plm_rsh_agent", rig.agent, "--mca", "plm_rsh_no_tree_spawn", "1"]
    network = ["--mca", "oob_tcp_if_include", LAUNCH_NETWORK]
    # From 5 on each host binds its first rank to the first core, which here is one for both.
    binding = ["--bind-to", "none"] if launcher_version("ompi") >= (5, 0) else []
    options = [*OPEN_MPI_OVER_UCX, "--mca", "osc", "ucx", *agent, *network, *placing,
               "-x", f"UCX_NET_DEVICES={CABLE}", *binding]
    return Mpi("ompi", "ompi", ["mpirun.openmpi"], 4, "-np", options)
