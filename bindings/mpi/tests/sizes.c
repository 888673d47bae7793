/* Ranks that give an operation blocks of different sizes. The error handler must be told, in each
 * form. The program's arguments name the operation, the form, and the elements of rank 0. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM 100000
static int rank, is_told;

static void tell(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  is_told = 1;
  printf("rank %d: the handler was told\n", rank);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int count, is_pending = argc > 2 && strcmp(argv[2], "pending") == 0, *in = calloc(ROOM, sizeof *in), *out = calloc(ROOM, sizeof *out);
  const char *what = argc > 1 ? argv[1] : "";
  MPI_Errhandler handler;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  count = (argc > 3 ? atoi(argv[3]) : 0) + 100 * rank;
#define FORMS(f, i, ...) is_pending ? MPI_##i(__VA_ARGS__, &request) : MPI_##f(__VA_ARGS__)
  if (strcmp(what, "bcast") == 0) FORMS(Bcast, Ibcast, in, count, MPI_INT, 0, comm);
  if (strcmp(what, "reduce") == 0) FORMS(Reduce, Ireduce, in, out, count, MPI_INT, MPI_SUM, 1, comm);
  if (strcmp(what, "allreduce") == 0) FORMS(Allreduce, Iallreduce, in, out, count, MPI_INT, MPI_SUM, comm);
  if (strcmp(what, "gather") == 0) FORMS(Gather, Igather, in, count, MPI_INT, out, count, MPI_INT, 1, comm);
  if (strcmp(what, "allgather") == 0) FORMS(Allgather, Iallgather, in, count, MPI_INT, out, count, MPI_INT, comm);
  if (strcmp(what, "alltoall") == 0) FORMS(Alltoall, Ialltoall, in, count, MPI_INT, out, count, MPI_INT, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* Those that have not met the error end with the job. */
  while (!is_told) pause();
  /* MPICH's launcher drops what a rank has printed right before an abort. */
  usleep(500000);
  MPI_Abort(comm, 1);
}
