! Reads variables of MPI_T from Fortran, for which MPI has no bindings: by the C functions. Each rank sends
! in a ring and prints what pml_monitoring_messages_count and _size tell of each peer, one JSON object a line.
module tool_interface
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    function mpi_t_init_thread(required, provided) bind(C, name='MPI_T_init_thread') result(error)
      import :: c_int
      integer(c_int), value :: required
      integer(c_int), intent(out) :: provided
      integer(c_int) :: error
    end function
    function mpi_t_finalize() bind(C, name='MPI_T_finalize') result(error)
      import :: c_int
      integer(c_int) :: error
    end function
    function mpi_t_pvar_get_num(count) bind(C, name='MPI_T_pvar_get_num') result(error)
      import :: c_int
      integer(c_int), intent(out) :: count
      integer(c_int) :: error
    end function
    function mpi_t_pvar_get_info(number, name, name_length, verbosity, class, datatype, enumtype, &
                                 description, description_length, bound, readonly, continuous, atomic) &
        bind(C, name='MPI_T_pvar_get_info') result(error)
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: number
      character(kind=c_char), intent(out) :: name(*)
      integer(c_int), intent(inout) :: name_length
      integer(c_int), intent(out) :: verbosity, class
      type(c_ptr), value :: datatype, enumtype, description, description_length
      integer(c_int), intent(out) :: bound, readonly, continuous, atomic
      integer(c_int) :: error
    end function
    function mpi_t_pvar_session_create(session) bind(C, name='MPI_T_pvar_session_create') result(error)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: session
      integer(c_int) :: error
    end function
    function mpi_t_pvar_session_free(session) bind(C, name='MPI_T_pvar_session_free') result(error)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: session
      integer(c_int) :: error
    end function
    function mpi_t_pvar_handle_alloc(session, number, object, handle, count) &
        bind(C, name='MPI_T_pvar_handle_alloc') result(error)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: number
      type(c_ptr), intent(in) :: object
      type(c_ptr), intent(out) :: handle
      integer(c_int), intent(out) :: count
      integer(c_int) :: error
    end function
    function mpi_t_pvar_handle_free(session, handle) bind(C, name='MPI_T_pvar_handle_free') result(error)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      type(c_ptr), intent(inout) :: handle
      integer(c_int) :: error
    end function
    function mpi_t_pvar_start(session, handle) bind(C, name='MPI_T_pvar_start') result(error)
      import :: c_int, c_ptr
      type(c_ptr), value :: session, handle
      integer(c_int) :: error
    end function
    function mpi_t_pvar_stop(session, handle) bind(C, name='MPI_T_pvar_stop') result(error)
      import :: c_int, c_ptr
      type(c_ptr), value :: session, handle
      integer(c_int) :: error
    end function
    function mpi_t_pvar_read(session, handle, values) bind(C, name='MPI_T_pvar_read') result(error)
      import :: c_int, c_long, c_ptr
      type(c_ptr), value :: session, handle
      integer(c_long), intent(out) :: values(*)
      integer(c_int) :: error
    end function
    function dlsym(handle, name) bind(C, name='dlsym') result(address)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface

  abstract interface
    function to_c(handle) bind(C) result(object)
      import :: c_int, c_ptr
      integer(c_int), value :: handle
      type(c_ptr) :: object
    end function
  end interface

contains

  subroutine require(error, what)
    integer(c_int), intent(in) :: error
    character(len=*), intent(in) :: what
    if (error == 0) return
    write (*, '(3a, i0)') 'failed: ', what, ': ', error
    error stop
  end subroutine

  ! The handle of C for one of Fortran. Where MPI has no function for that they are the same number.
  function c_communicator(comm) result(object)
    integer, intent(in) :: comm
    type(c_ptr) :: object
    type(c_funptr) :: address
    procedure(to_c), pointer :: convert
    address = dlsym(c_null_ptr, 'MPI_Comm_f2c' // c_null_char)
    if (c_associated(address)) then
      call c_f_procpointer(address, convert)
      object = convert(int(comm, c_int))
    else
      object = transfer(int(comm, c_intptr_t), object)
    end if
  end function

  function number_of(wanted) result(found)
    character(len=*), intent(in) :: wanted
    integer(c_int) :: found
    character(kind=c_char) :: name(256)
    character(len=256) :: text
    integer(c_int) :: count, number, length, ignored(6)
    integer :: i
    found = -1
    call require(mpi_t_pvar_get_num(count), 'MPI_T_pvar_get_num')
    do number = 0, count - 1
      length = size(name)
      if (mpi_t_pvar_get_info(number, name, length, ignored(1), ignored(2), c_null_ptr, c_null_ptr, c_null_ptr, &
                              c_null_ptr, ignored(3), ignored(4), ignored(5), ignored(6)) /= 0) cycle
      text = ''
      do i = 1, size(name)
        if (name(i) == c_null_char) exit
        text(i:i) = name(i)
      end do
      if (text == wanted) found = number  ! the last one: ours come behind the library's
    end do
    if (found < 0) call require(1_c_int, wanted)
  end function
end module

program fortran_tool_variables
  use tool_interface
  use mpi
  implicit none
  integer, parameter :: rounds = 3, most = 64
  integer :: error, rank, ranks, next, previous, round, peer
  integer(c_int) :: provided, number
  type(c_ptr) :: session, object, handles(2)
  integer(c_long) :: values(most, 2)
  integer(c_int) :: counts(2)
  double precision :: mine(100), theirs(100)

  call require(mpi_t_init_thread(0_c_int, provided), 'MPI_T_init_thread')
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  object = c_communicator(MPI_COMM_WORLD)
  call require(mpi_t_pvar_session_create(session), 'MPI_T_pvar_session_create')
  number = number_of('pml_monitoring_messages_count')
  call require(mpi_t_pvar_handle_alloc(session, number, object, handles(1), counts(1)), 'MPI_T_pvar_handle_alloc')
  number = number_of('pml_monitoring_messages_size')
  call require(mpi_t_pvar_handle_alloc(session, number, object, handles(2), counts(2)), 'MPI_T_pvar_handle_alloc')
  if (any(counts /= ranks)) call require(2_c_int, 'number of values')
  call require(mpi_t_pvar_start(session, handles(1)), 'MPI_T_pvar_start')
  call require(mpi_t_pvar_start(session, handles(2)), 'MPI_T_pvar_start')

  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  mine = rank
  do round = 1, rounds
    call mpi_sendrecv(mine, 10 * round, MPI_DOUBLE_PRECISION, next, 1, theirs, 100, MPI_DOUBLE_PRECISION, previous, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do

  call require(mpi_t_pvar_stop(session, handles(1)), 'MPI_T_pvar_stop')
  call require(mpi_t_pvar_stop(session, handles(2)), 'MPI_T_pvar_stop')
  ! What is sent while they are stopped is in none of them.
  call mpi_sendrecv(mine, 1, MPI_DOUBLE_PRECISION, next, 2, theirs, 1, MPI_DOUBLE_PRECISION, previous, 2, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call require(mpi_t_pvar_read(session, handles(1), values(:, 1)), 'MPI_T_pvar_read')
  call require(mpi_t_pvar_read(session, handles(2), values(:, 2)), 'MPI_T_pvar_read')
  do peer = 0, ranks - 1
    write (*, '(a, 4(i0, a))') '{"class": "external", "rank": ', rank, ', "peer": ', peer, ', "messages": ', &
      values(peer + 1, 1), ', "bytes": ', values(peer + 1, 2), '}'
  end do
  call require(mpi_t_pvar_handle_free(session, handles(1)), 'MPI_T_pvar_handle_free')
  call require(mpi_t_pvar_handle_free(session, handles(2)), 'MPI_T_pvar_handle_free')
  call require(mpi_t_pvar_session_free(session), 'MPI_T_pvar_session_free')
  call require(mpi_t_finalize(), 'MPI_T_finalize')
  call mpi_finalize(error)
end program
