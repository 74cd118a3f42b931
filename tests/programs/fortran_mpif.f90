! A ring exchange and a sum through mpif.h; prints a known line.
program fortran_mpif
  implicit none
  include 'mpif.h'
  integer, parameter :: doubles = 1000, integers = 10
  double precision :: sent(doubles), got(doubles), total
  integer :: numbers(integers), others(integers)
  integer :: rank, ranks, next, previous, requests(2), ierror

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  sent = rank + 1
  numbers = rank

  call MPI_IRECV(got, doubles, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, requests(1), &
                 ierror)
  call MPI_ISEND(sent, doubles, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, requests(2), &
                 ierror)
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_SENDRECV(numbers, integers, MPI_INTEGER, next, 8, others, integers, MPI_INTEGER, &
                    previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  if (any(others /= previous)) call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)

  call MPI_ALLREDUCE(sum(got), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,f0.1)', 'fortran: sum ', total
  call MPI_FINALIZE(ierror)
end program
