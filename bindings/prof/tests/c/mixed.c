/* Ranks call from C what other ranks call from Fortran, on one communicator and with one request. */
#include <mpi.h>
#include <stdlib.h>

void exchange_(MPI_Fint *comm, MPI_Fint *tag);
void mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code);
void mpi_wait_(MPI_Fint *request, void *status, MPI_Fint *code);

int main(int argc, char **argv) {
  static int values[1000];
  int rank, ranks, in = 0;
  MPI_Fint count = 1000, root = 0, comm, type, code, tag = 30, request_of_fortran, status[100];
  MPI_Request request;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  comm = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_INT);
  if (rank == 0)
    mpi_bcast_(values, &count, &type, &root, &comm, &code);
  else
    MPI_Bcast(values, 1000, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  comm = MPI_Comm_c2f(copy);
  exchange_(&comm, &tag);
  /* C starts, and Fortran completes. */
  MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, copy, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 7, copy);
  request_of_fortran = MPI_Request_c2f(request);
  mpi_wait_(&request_of_fortran, status, &code);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return in == (rank + ranks - 1) % ranks ? 0 : 3;
}
