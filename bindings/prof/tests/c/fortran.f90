! Calls of all kinds from Fortran: messages, requests, communicators and collectives.
subroutine exchange(comm, tag)
  use mpi
  implicit none
  integer, intent(in) :: comm, tag
  integer :: rank, ranks, next, before, code, at
  integer :: requests(3), persistent(2), statuses(MPI_STATUS_SIZE, 3), got(MPI_STATUS_SIZE)
  integer :: input(8), output(8)
  logical :: flag
  call MPI_Comm_rank(comm, rank, code)
  call MPI_Comm_size(comm, ranks, code)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  output = rank
  call MPI_Irecv(input, 8, MPI_INTEGER, MPI_ANY_SOURCE, tag, comm, requests(1), code)
  call MPI_Isend(output, 4, MPI_INTEGER, next, tag, comm, requests(2), code)
  requests(3) = MPI_REQUEST_NULL
  call MPI_Waitall(3, requests, statuses, code)
  call MPI_Sendrecv(output, 1, MPI_INTEGER, next, tag + 1, input, 1, MPI_INTEGER, before, tag + 1, comm, &
                    MPI_STATUS_IGNORE, code)
  call MPI_Irecv(input, 8, MPI_INTEGER, before, tag + 2, comm, requests(1), code)
  call MPI_Request_free(requests(1), code)
  call MPI_Send(output, 2, MPI_INTEGER, next, tag + 2, comm, code)
  call MPI_Send_init(output, 3, MPI_INTEGER, next, tag + 3, comm, persistent(1), code)
  call MPI_Recv_init(input, 8, MPI_INTEGER, before, tag + 3, comm, persistent(2), code)
  do at = 1, 3
    call MPI_Startall(2, persistent, code)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, persistent, flag, MPI_STATUSES_IGNORE, code)
    end do
  end do
  call MPI_Request_free(persistent(1), code)
  call MPI_Request_free(persistent(2), code)
  call MPI_Isend(output, 1, MPI_INTEGER, next, tag + 4, comm, requests(1), code)
  call MPI_Probe(before, tag + 4, comm, got, code)
  call MPI_Recv(input, 1, MPI_INTEGER, got(MPI_SOURCE), got(MPI_TAG), comm, got, code)
  call MPI_Waitany(1, requests, at, MPI_STATUS_IGNORE, code)
  call MPI_Allreduce(MPI_IN_PLACE, output, 8, MPI_INTEGER, MPI_SUM, comm, code)
  call MPI_Bcast(output, 8, MPI_INTEGER, 0, comm, code)
  call MPI_Ibarrier(comm, requests(1), code)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
  if (output(1) /= ranks * (ranks - 1) / 2 .or. input(1) /= before) call MPI_Abort(MPI_COMM_WORLD, 1, code)
end subroutine

#ifdef MODERN
subroutine exchange_08()
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request
  type(MPI_Status) :: got
  integer :: rank, ranks, input(4), output(4)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, 0, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  output = rank
  call MPI_Irecv(input, 4, MPI_INTEGER, mod(rank + ranks - 1, ranks), 5, comm, request)
  call MPI_Ssend(output, 3, MPI_INTEGER, mod(rank + 1, ranks), 5, comm)
  call MPI_Wait(request, got)
  call MPI_Allreduce(MPI_IN_PLACE, output, 4, MPI_INTEGER, MPI_MAX, comm)
  call MPI_Comm_free(comm)
  if (output(1) /= ranks - 1) call MPI_Abort(MPI_COMM_WORLD, 1)
end subroutine
#endif

#ifdef MAIN
program fortran
  use mpi
  implicit none
  integer :: code, comm, grid
  call MPI_Init(code)
  call exchange(MPI_COMM_WORLD, 10)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
  call exchange(comm, 20)
  call MPI_Comm_free(comm, code)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., grid, code)
  if (grid /= MPI_COMM_NULL) call MPI_Barrier(grid, code)
#ifdef MODERN
  call exchange_08()
#endif
  call MPI_Finalize(code)
end program
#endif
