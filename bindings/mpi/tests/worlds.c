/* A communicator with processes of two worlds. One world has one rank, so no schedules. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Comm parent, both, merged, copy;
  int rank, size, sum, own, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  both = parent;
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &merged);
  MPI_Comm_dup(merged, &copy);
  MPI_Comm_rank(copy, &rank);
  MPI_Comm_size(copy, &size);
  for (int round = 0; round < 3; round++) {
    own = rank + 10 * round + 7;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, copy);
    wrong += sum != size * (size - 1) / 2 + size * (10 * round + 7);
    own = rank == 0 ? 100 + round : 0;
    MPI_Bcast(&own, 1, MPI_INT, 0, merged);
    wrong += own != 100 + round;
  }
  if (wrong) printf("rank %d of both worlds: %d values are wrong\n", rank, wrong);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&both);
  MPI_Finalize();
  return wrong != 0;
}
