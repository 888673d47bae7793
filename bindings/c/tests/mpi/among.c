/* An MPI program that joins the group of its processes and runs collectives in a communicator of
   MPI. With the argument `fail`, rank 1 ends before its time. */
#include <goal_mpi.h>
#include <stdio.h>
#include <string.h>

static int refuse(const char *what) {
  fprintf(stderr, "%s: %s\n", what, GOAL_Last_error());
  return 1;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (GOAL_Init_mpi()) return refuse("GOAL_Init_mpi");
  if (argc > 1 && !strcmp(argv[1], "fail") && rank == 1) return 3;

  /* Even and odd ranks, each in descending order. */
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  GOAL_Comm own = GOAL_Comm_from_mpi(half);
  if (!own) return refuse("GOAL_Comm_from_mpi");
  int place, mine = rank + 1, sum = 0, wanted = 0;
  MPI_Comm_rank(half, &place);
  if (GOAL_Comm_rank(own) != place) return refuse("another place");
  MPI_Allreduce(&mine, &wanted, 1, MPI_INT, MPI_SUM, half);
  if (GOAL_Allreduce(&mine, &sum, 1, GOAL_INT32, GOAL_ADD, own)) return refuse("GOAL_Allreduce");
  printf("rank %d of %d: %s\n", rank, size, sum == wanted ? "as MPI has it" : "WRONG");
  GOAL_Comm_free(own);
  GOAL_Finalize();
  MPI_Finalize();
  return sum != wanted;
}
