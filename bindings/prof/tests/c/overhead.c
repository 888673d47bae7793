/* The time of a ping-pong of 8 bytes and of an allreduce of 8 bytes: the median of many batches. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCHES 101
#define CALLS 1000

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(int kind, int rank) {
  double times[BATCHES], in = 1, out = 0;
  int batch, call;
  for (batch = 0; batch < BATCHES; batch++) {
    MPI_Barrier(MPI_COMM_WORLD);
    times[batch] = MPI_Wtime();
    for (call = 0; call < CALLS; call++) {
      if (kind == 1) {
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      } else if (rank == 0) {
        MPI_Send(&in, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&out, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      }
    }
    times[batch] = (MPI_Wtime() - times[batch]) * 1e6 / CALLS;
  }
  qsort(times, BATCHES, sizeof *times, ascending);
  return times[BATCHES / 2];
}

int main(int argc, char **argv) {
  int rank;
  double pingpong, allreduce;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pingpong = median(0, rank) / 2;
  allreduce = median(1, rank);
  if (rank == 0) printf("ping-pong %.3f us, allreduce %.3f us\n", pingpong, allreduce);
  MPI_Finalize();
  return 0;
}
