"""Point-to-point traffic of a kind (the program's name): the job is unchanged, each of its messages
is recorded with function, communicator, tag, bytes and ranks, and the recording is complete."""

from checks import check_program_is_recorded
from harness import run_test
from mpi_jobs import MPIS

run_test(lambda mpi_name, program: check_program_is_recorded(MPIS[mpi_name], program))
