"""The MPIs that integration tests run their jobs with, and how."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import PROGRAMS, Skip, check, need

OPEN_MPI_OVER_UCX = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any".split()


@dataclass(frozen=True)
class Mpi:
    name: str
    suffix: str  # of its programs
    launcher: list
    ranks: int
    count_option: str
    transport_options: list = field(default_factory=list)

    def job(self, program, *arguments, options=None):
        """The command that runs a test program on this MPI's usual number of ranks. `options` replace
        those that make Open MPI use UCX."""
        need(self.launcher[0])
        check(PROGRAMS.is_dir(), f"there is no {PROGRAMS}; build first, or give --build DIR")
        executable = program if isinstance(program, Path) else PROGRAMS / f"{program}.{self.suffix}"
        if not executable.exists():
            raise Skip(f"{executable.name} was not built: no compiler of this MPI")
        return [
            *self.launcher,
            *(self.transport_options if options is None else options),
            self.count_option,
            self.ranks,
            executable,
            *arguments,
        ]

    def job_with_windows(self, program, *arguments):
        """Open MPI's windows also use UCX: the default of Open MPI 5 on one host cannot make any."""
        options = [*self.transport_options, "--mca", "osc", "ucx"] if self.name == "ompi" else None
        return self.job(program, *arguments, options=options)


# MPICH's ranks poll without pause, and four of them on two cores can time out.
MPIS = {
    "ompi": Mpi("ompi", "ompi", ["mpirun.openmpi", "--oversubscribe"], 4, "-np", OPEN_MPI_OVER_UCX),
    "mpich": Mpi("mpich", "mpich", ["mpiexec.mpich"], 2, "-n"),
}
# The same libraries with MPI's standard ABI, since Open MPI 6 and MPICH 5 (standard_abi.py).
MPIS |= {f"{name}_abi": replace(mpi, suffix=f"{name}_abi") for name, mpi in MPIS.items()}
