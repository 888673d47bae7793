/* Collectives in all forms, with blocks of equal and of different sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static int rank, ranks;

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void all(MPI_Comm comm, int count) {
  int *in = calloc((size_t)count * MOST, sizeof *in), *out = calloc((size_t)count * MOST, sizeof *out);
  int me, size, root = 0, at, counts[MOST], displs[MOST], total = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  root = size - 1;
  in[0] = me + 1;
  MPI_Barrier(comm);
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  check(out[0] == size * (size + 1) / 2, "allreduce");
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_MAX, comm);
  MPI_Bcast(out, count, MPI_INT, root, comm);
  MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
  MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  check(me != root || out[count * me] == me + 1, "gather");
  MPI_Scatter(out, count, MPI_INT, me == root ? MPI_IN_PLACE : in, count, MPI_INT, root, comm);
  in[0] = me + 1;
  MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
  check(out[count * root] == root + 1, "allgather");
  MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
  MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
  check(out[0] == (me + 1) * (me + 2) / 2, "scan");
  MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm);
  for (at = 0; at < size; at++) {
    counts[at] = at % 3 * count;
    if (counts[at] > count) counts[at] = count;
    displs[at] = total;
    total += counts[at];
  }
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
  MPI_Gatherv(in, counts[me], MPI_INT, out, counts, displs, MPI_INT, root, comm);
  MPI_Scatterv(out, counts, displs, MPI_INT, in, counts[me], MPI_INT, root, comm);
  MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, displs, MPI_INT, comm);
  {
    int to[MOST], from[MOST], places[MOST];
    for (at = 0; at < size; at++) {
      to[at] = counts[at];
      from[at] = counts[me];
      places[at] = at * count;
    }
    MPI_Alltoallv(in, to, places, MPI_INT, out, from, places, MPI_INT, comm);
  }
  free(in);
  free(out);
}

static void nonblocking(MPI_Comm comm, int count) {
  int *in = calloc(count, sizeof *in), *out = calloc(count, sizeof *out), *other = calloc(count, sizeof *other);
  int me, size, flag = 0;
  MPI_Request requests[3];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  in[0] = me;
  other[0] = me == 0 ? 7 : 0;
  MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Ibcast(other, count, MPI_INT, 0, comm, &requests[1]);
  MPI_Ibarrier(comm, &requests[2]);
  while (!flag) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
  check(out[0] == size * (size - 1) / 2 && other[0] == 7, "non-blocking");
  free(in);
  free(out);
  free(other);
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void persistent(MPI_Comm comm) {
  int in = 0, out = 0, at, size, me;
  MPI_Request request;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  for (at = 0; at < 3; at++) {
    in = at;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(out == at * size, "persistent");
  }
  MPI_Request_free(&request);
}
#endif

int main(int argc, char **argv) {
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all(MPI_COMM_WORLD, 1);
  all(MPI_COMM_WORLD, 5000);
  nonblocking(MPI_COMM_WORLD, 100);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &half);
  all(half, 3);
  nonblocking(half, 3);
  all(MPI_COMM_SELF, 3);
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  persistent(MPI_COMM_WORLD);
  persistent(half);
#endif
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
