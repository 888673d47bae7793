/* Point-to-point messages of all kinds. Every value that arrives is checked, so that the profiler
 * changes nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* All ranks send to the one above, long messages too. */
static void ring(MPI_Comm comm, int count) {
  int me, size, *out = calloc(count, sizeof *out), *in = calloc(count, sizeof *in);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  out[count - 1] = me;
  MPI_Irecv(in, count, MPI_INT, (me + size - 1) % size, 3, comm, &requests[0]);
  MPI_Isend(out, count, MPI_INT, (me + 1) % size, 3, comm, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  check(in[count - 1] == (me + size - 1) % size, "ring");
  MPI_Sendrecv(out, count, MPI_INT, (me + 1) % size, 4, in, count, MPI_INT, (me + size - 1) % size, 4, comm,
               MPI_STATUS_IGNORE);
  check(in[count - 1] == (me + size - 1) % size, "sendrecv");
  MPI_Sendrecv_replace(out, count, MPI_INT, (me + 1) % size, 5, (me + size - 1) % size, 5, comm,
                       MPI_STATUS_IGNORE);
  check(out[count - 1] == (me + size - 1) % size, "sendrecv_replace");
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  /* One rank's request meets two calls of the others. */
  out[count - 1] = me;
  if (me == 0) {
    MPI_Isendrecv(out, count, MPI_INT, (me + 1) % size, 6, in, count, MPI_INT, (me + size - 1) % size, 6, comm,
                  &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, count, MPI_INT, (me + size - 1) % size, 6, comm, MPI_STATUS_IGNORE);
    MPI_Send(out, count, MPI_INT, (me + 1) % size, 6, comm);
  }
  check(in[count - 1] == (me + size - 1) % size, "isendrecv");
#endif
  free(out);
  free(in);
}

/* Rank 0 takes what comes, in buffers that are larger than the messages. */
static void wildcards(void) {
  int at, sum = 0;
  if (rank == 0) {
    int in[2 * 64][16], first[16], done = 0;
    MPI_Request requests[2 * 64];
    MPI_Status status;
    MPI_Recv(first, 16, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
    check(first[0] == status.MPI_SOURCE, "recv of any source");
    for (at = 1; at < ranks - 1; at++) MPI_Recv(first, 16, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
    for (at = 0; at < 2 * (ranks - 1); at++)
      MPI_Irecv(in[at], 16, MPI_INT, MPI_ANY_SOURCE, at % 2 ? MPI_ANY_TAG : 21, MPI_COMM_WORLD, &requests[at]);
    while (done < 2 * (ranks - 1)) {
      int index[2 * 64], some;
      MPI_Waitsome(2 * (ranks - 1), requests, &some, index, MPI_STATUSES_IGNORE);
      done += some;
      for (at = 0; at < some; at++) sum += in[index[at]][0];
    }
    check(sum == ranks * (ranks - 1), "sum of wildcards");
  } else {
    int out[16] = {rank};
    MPI_Send(out, 4, MPI_INT, 0, 20, MPI_COMM_WORLD);
    MPI_Send(out, rank % 3 + 1, MPI_INT, 0, 21, MPI_COMM_WORLD);
    MPI_Ssend(out, 2, MPI_INT, 0, 21, MPI_COMM_WORLD);
  }
}

static void persistent(void) {
  int out = 0, in = -1, at, up = (rank + 1) % ranks, down = (rank + ranks - 1) % ranks;
  MPI_Request requests[3];
  MPI_Send_init(&out, 1, MPI_INT, up, 30, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, down, 30, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD, &requests[2]);
  for (at = 0; at < 5; at++) {
    int done[3] = {0};
    out = 10 * rank + at;
    MPI_Startall(3, requests);
    /* Without the request that has no peer, which Intel MPI returns again and again. */
    while (!done[0] || !done[1]) {
      int index;
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      if (index != MPI_UNDEFINED) done[index] = 1;
    }
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    check(in == 10 * down + at, "persistent");
  }
  for (at = 0; at < 3; at++) MPI_Request_free(&requests[at]);
}

/* Probes, a matched probe, a cancelled receive, a buffered send and a request that is freed. */
static void others(void) {
  int in[8] = {0}, out[8] = {rank}, flag = 0, up = (rank + 1) % ranks, down = (rank + ranks - 1) % ranks;
  char *buffer;
  int size = 1000 + MPI_BSEND_OVERHEAD;
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  MPI_Irecv(in, 8, MPI_INT, down, 49, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  check(flag, "cancelled");
  MPI_Isend(out, 3, MPI_INT, up, 40, MPI_COMM_WORLD, &request);
  for (flag = 0; !flag;) MPI_Iprobe(down, 40, MPI_COMM_WORLD, &flag, &status);
  MPI_Recv(in, 8, MPI_INT, down, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in[0] == down, "probe");
  for (flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Isend(out, 5, MPI_INT, up, 41, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 8, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  buffer = malloc(size);
  MPI_Buffer_attach(buffer, size);
  MPI_Bsend(out, 8, MPI_INT, up, 42, MPI_COMM_WORLD);
  MPI_Recv(in, 8, MPI_INT, down, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&buffer, &size);
  free(buffer);
  MPI_Isend(out, 1, MPI_INT, up, 43, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(in, 8, MPI_INT, down, 43, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 44, MPI_COMM_WORLD);
  MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Part of the program is not recorded. */
static void unrecorded(void) {
  int in, out = rank;
  MPI_Pcontrol(0);
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 99, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 99,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1);
}

int main(int argc, char **argv) {
  MPI_Comm half, copy, own;
  int at;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ring(MPI_COMM_WORLD, 1);
  ring(MPI_COMM_WORLD, 100000);
  wildcards();
  persistent();
  others();
  unrecorded();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &copy);
  ring(copy, 10);
  ring(half, 10);
  ring(MPI_COMM_SELF, 10);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  for (at = 0; at < 5; at++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    ring(own, 10 + at);
    MPI_Comm_free(&own);
  }
  MPI_Finalize();
  return 0;
}
