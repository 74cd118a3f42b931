"""Threads that communicate at the same time (MPI_THREAD_MULTIPLE) are each recorded exactly."""

from checks import check_program_is_recorded
from harness import MPIS, run_test

run_test(lambda mpi_name: check_program_is_recorded(MPIS[mpi_name], "threads"))
