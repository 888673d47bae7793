/* Programs that end in other ways, by the first argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  int rank, ranks, in = 0, out = 1, at;
  const char *way = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (at = 0; at < (strcmp(way, "long") ? 1 : 20000); at++)
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(way, "abort") && rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strcmp(way, "exit")) exit(0);
  if (!strcmp(way, "tag"))
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 5000, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 5000,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(way, "idup")) {
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
  }
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  if (!strcmp(way, "isendrecv")) {
    MPI_Request request;
    MPI_Isendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
#endif
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (in != 1) return 3;
  if (rank == 0) puts("the program has ended");
  return 0;
}
