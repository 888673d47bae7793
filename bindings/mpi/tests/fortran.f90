! Collectives from Fortran in the forms of its three interfaces: mpif.h, mpi and mpi_f08.
program fortran
  implicit none
  include 'mpif.h'
  integer :: faults, error
  faults = 0
  call MPI_Init(error)
  call old(faults)
  call new(faults)
  call newest(faults)
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (faults > 0) stop 1
contains
  subroutine old(faults)
    integer, intent(inout) :: faults
    integer :: rank, size, error, word
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    word = rank
    call MPI_Allreduce(MPI_IN_PLACE, word, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (word /= size * (size - 1) / 2) faults = faults + 1
  end subroutine
end program

subroutine new(faults)
  use mpi
  implicit none
  integer, intent(inout) :: faults
  integer :: rank, size, error, request, made
  double precision :: sent(500), got(500)
  call MPI_Comm_dup(MPI_COMM_WORLD, made, error)
  call MPI_Comm_rank(made, rank, error)
  call MPI_Comm_size(made, size, error)
  sent = rank
  call MPI_Iallreduce(sent, got, 500, MPI_DOUBLE_PRECISION, MPI_SUM, made, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  if (any(got /= size * (size - 1) / 2)) faults = faults + 1
  call MPI_Comm_free(made, error)
end subroutine

subroutine newest(faults)
  use mpi_f08
  implicit none
  integer, intent(inout) :: faults
  integer :: rank, word
  type(MPI_Request) :: request
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  word = -1
  if (rank == 0) word = 7
  call MPI_Bcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (word /= 7) faults = faults + 1
  call MPI_Ibarrier(MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
end subroutine
