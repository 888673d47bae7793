/* Functions that MPI calls when attributes are copied and deleted: in MPI_Comm_dup, MPI_Comm_free and
 * MPI_Finalize. They call MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static void ring(MPI_Comm comm, int tag) {
  int rank, ranks, in = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, tag, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, tag,
               comm, MPI_STATUS_IGNORE);
  if (in != (rank + ranks - 1) % ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  calls++;
}

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
  *(void **)out = in;
  *flag = 1;
  ring(comm, 11);
  return MPI_SUCCESS;
}

/* Frees a communicator that belongs to another one, as libraries do. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
  MPI_Comm inner = *(MPI_Comm *)value;
  ring(comm, 12);
  if (inner != MPI_COMM_NULL) {
    MPI_Barrier(inner);
    MPI_Comm_free(&inner);
  }
  return MPI_SUCCESS;
}

static int at_end(MPI_Comm self, int key, void *value, void *extra) {
  MPI_Request request;
  int in = 0, rank, ranks;
  ring(MPI_COMM_WORLD, (int)(long)value);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 14, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 14, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  MPI_Comm inner, outer, none = MPI_COMM_NULL, copy;
  int key, end, round;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(copied, deleted, &key, NULL);
  /* More than there are numbers with 20 bits, if one was lost each time. */
  for (round = 0; round < 2100; round++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_SELF, &inner);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_free(&outer);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm_set_attr(outer, key, &none);
  MPI_Comm_dup(outer, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&outer);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &end, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, end, (void *)20);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &end, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, end, (void *)21);
  MPI_Finalize();
  return calls == 2100 + 3 + 2 ? 0 : 3;
}
