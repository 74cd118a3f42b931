"""Every kind of send, 0 B to 1 MiB: the job is unchanged and each message is accounted for."""

from checks import check_program_is_recorded
from harness import run_test
from mpi_jobs import MPIS

run_test(lambda mpi_name: check_program_is_recorded(MPIS[mpi_name], "exchange"))
