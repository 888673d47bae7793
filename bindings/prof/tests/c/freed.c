/* Requests that are freed while they are active, in all forms. MPI completes their operations. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 500

int main(int argc, char **argv) {
  int rank, ranks, next, before, out = 1, in[MANY], big[4000], other[4000], at;
  MPI_Request request;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  memset(big, 0, sizeof big);
  /* A receive, with wildcards and a buffer that is too large. */
  MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  if (request != MPI_REQUEST_NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Sends. */
  MPI_Isend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(in, 1, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send_init(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Request_free(&request);
  MPI_Recv(in, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* A persistent receive, and one that never starts. */
  MPI_Recv_init(in, 1, MPI_INT, before, 4, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Request_free(&request);
  MPI_Send(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
  MPI_Recv_init(in, 1, MPI_INT, before, 4, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  /* One that is cancelled, and one without a source. */
  MPI_Irecv(in, 1, MPI_INT, before, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  /* More than are kept at a time, small and large. */
  for (at = 0; at < MANY; at++) {
    MPI_Irecv(&in[at], 1, MPI_INT, before, 6, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  }
  MPI_Irecv(other, 4000, MPI_INT, before, 7, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Ssend(big, 4000, MPI_INT, next, 7, MPI_COMM_WORLD);
  /* The communicator goes before its receive ends. */
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Irecv(in, 1, MPI_INT, before, 8, copy, &request);
  MPI_Request_free(&request);
  MPI_Send(&out, 1, MPI_INT, next, 8, copy);
  MPI_Comm_free(&copy);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return in[0] == 1 ? 0 : 3;
}
