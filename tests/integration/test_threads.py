"""Threads that communicate at the same time (MPI_THREAD_MULTIPLE) are each recorded exactly."""

from checks import check_program_is_recorded
from harness import run_test
from mpi_jobs import MPIS

run_test(lambda mpi_name: check_program_is_recorded(MPIS[mpi_name], "threads"))
