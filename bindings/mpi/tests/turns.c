/* One call behind a barrier must find a message that was sent before it. MPI promises it only for later
 * calls, and programs rely on it: the barriers of MPI libraries make progress. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, flag, word = 0, missed[3] = {0}, all[3];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 200; round++) {
    if (rank == 1) MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(&round, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      missed[0] += !flag;
      if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Send(&round, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      missed[1] += !flag;
      MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Send(&round, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      missed[2] += !flag;
      MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Allreduce(missed, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all[0] + all[1] + all[2])
    printf("not found: %d by MPI_Test, %d by MPI_Iprobe, %d behind a bcast\n", all[0], all[1], all[2]);
  MPI_Finalize();
  return all[0] + all[1] + all[2] != 0;
}
