! A ring exchange and a sum through mpi_f08; prints a known line.
program fortran_f08
  use mpi_f08
  implicit none
  integer, parameter :: doubles = 1000, integers = 10
  double precision, asynchronous :: sent(doubles), got(doubles)
  double precision :: total
  integer :: numbers(integers), others(integers)
  integer :: rank, ranks, next, previous
  type(MPI_Request) :: requests(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  sent = rank + 1
  numbers = rank

  call MPI_Irecv(got, doubles, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(sent, doubles, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Sendrecv(numbers, integers, MPI_INTEGER, next, 8, others, integers, MPI_INTEGER, &
                    previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (any(others /= previous)) call MPI_Abort(MPI_COMM_WORLD, 1)

  call MPI_Allreduce(sum(got), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,f0.1)', 'fortran: sum ', total
  call MPI_Finalize()
end program
