/* Each call is made several times, with other buffers, roots or communicators. A communicator may get
 * the handle of a freed one. The result must be that of the arguments of the call at hand. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 40
/* Buffers may overlap, which MPI forbids and schedules take care of. */
static int overlaps;
static int faults, rank, size;

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  if (faults++ < 8) printf("rank %d: %s is %d, and not %d\n", rank, what, got, wanted);
}

/* `first` is what rank 0 of the communicator contributes, rank 1 one more, and so on. */
static void call(MPI_Comm comm, int first) {
  int own, all[8], buffer[16], sum = 0, root = first % size, last;
  MPI_Comm_rank(comm, &own);
  last = first + size - 1;
  own += first;
  for (int at = first; at <= last; at++) sum += at;
  MPI_Barrier(comm);
  buffer[0] = own;
  MPI_Bcast(buffer, 1, MPI_INT, root, comm);
  expect("a bcast", buffer[0], first + root);
  MPI_Allreduce(&own, buffer, 1, MPI_INT, MPI_SUM, comm);
  expect("a sum", buffer[0], sum);
  MPI_Allreduce(&own, buffer, 1, MPI_INT, MPI_MAX, comm);
  expect("a maximum", buffer[0], last);
  buffer[0] = own;
  MPI_Allreduce(MPI_IN_PLACE, buffer, 1, MPI_INT, MPI_SUM, comm);
  expect("a sum in place", buffer[0], sum);
  MPI_Reduce(&own, buffer, 1, MPI_INT, MPI_SUM, root, comm);
  if (own == first + root) expect("a sum at a root", buffer[0], sum);
  MPI_Gather(&own, 1, MPI_INT, own == first + root ? all : NULL, 1, MPI_INT, root, comm);
  if (own == first + root) expect("a gathered element", all[size - 1], last);
  MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
  expect("an element of all", all[size - 1], last);
  if (overlaps) {
    /* The input lies where another rank's element comes to lie. */
    int *place = buffer + (own == first);
    *place = own;
    MPI_Allgather(place, 1, MPI_INT, buffer, 1, MPI_INT, comm);
    expect("an element of all over its input", buffer[size - 1], last);
  }
  for (int at = 0; at < size; at++) buffer[at] = 100 * own + at;
  MPI_Alltoall(buffer, 1, MPI_INT, all, 1, MPI_INT, comm);
  expect("an element for this rank", all[size - 1], 100 * last + own - first);
}

int main(int argc, char **argv) {
  MPI_Comm comm;
  const char *ranges = getenv("GOALMPI_RANGES");
  MPI_Init(&argc, &argv);
  overlaps = ranges && strcmp(ranges, "all=on") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < ROUNDS; round++) {
    call(MPI_COMM_WORLD, round);
    /* The ranks of a half of them are in the other order. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -rank : rank, &comm);
    for (int at = 0; at < 3; at++) call(comm, 10 * round + at);
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
