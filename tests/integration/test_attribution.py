"""Traffic belongs to the call that asked for it, whichever call happened to drive it."""

from checks import check_program_is_recorded
from harness import MPIS, run_test

run_test(lambda mpi_name: check_program_is_recorded(MPIS[mpi_name], "attribution"))
