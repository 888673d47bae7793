/* MPI's rule of progress: a rank that waits in one call completes what it began in others. Each case
 * hangs if a schedule does not progress in calls of MPI, or MPI does not in calls of schedules. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG (1 << 22)

int main(int argc, char **argv) {
  int rank, size, ok = 1, word = 0;
  MPI_Request requests[2];
  char *buffer = malloc(LONG), *other = malloc(LONG);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 5; round++) {
    /* A long message is under way while its sender waits in a barrier. */
    memset(buffer, rank + round, LONG);
    if (rank == 0) {
      MPI_Isend(buffer, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
      if (rank == 1) MPI_Recv(other, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1) ok &= other[0] == round && other[LONG - 1] == round;
    }
    /* A receive is under way while its process waits in a barrier. */
    if (rank == 0) MPI_Ssend(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) MPI_Irecv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* A non-blocking broadcast is under way while its root waits in a receive. */
    MPI_Ibcast(buffer, LONG, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[0]);
    if (rank == 0) {
      for (int from = 1; from < size; from++)
        MPI_Recv(&word, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      ok &= buffer[0] == round && buffer[LONG - 1] == round;
    }
    /* A broadcast is under way while its root calls a collective that MPI runs, because libgoal
     * lacks the operator. */
    struct { double value; int index; } pair = {rank, rank}, best;
    MPI_Ibcast(buffer, LONG, MPI_BYTE, 1, MPI_COMM_WORLD, &requests[0]);
    if (rank == 1) {
      MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    }
    ok &= best.index == size - 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  /* A message that was sent is received although its sender is in MPI_Finalize. */
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  free(buffer);
  free(other);
  return !ok;
}
