! The plug-in of mpi_plugin.c in Fortran, through mpi_f08.
function call_mpi(turn) bind(C, name="call_mpi") result(failed)
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer(c_int), value :: turn
  integer(c_int) :: failed
  integer, save :: rank, ranks
  integer :: got
  failed = 0
  if (turn < 0) then
    call MPI_Finalize()
  else if (turn == 0) then
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  else
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), turn, got, 1, MPI_INTEGER, &
                      mod(rank + ranks - 1, ranks), turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (got /= mod(rank + ranks - 1, ranks)) failed = 1
  end if
end function
