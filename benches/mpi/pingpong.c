/* Ping-pong between two ranks: prints half a round trip in nanoseconds. Usage: pingpong BYTES ROUND_TRIPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bytes = atoi(argv[1]), trips = atoi(argv[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *buffer = calloc(bytes, 1);
  for (int counted = 0; counted < 2; ++counted) { /* the first round warms up */
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
      if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      }
    }
    if (rank == 0 && counted) printf("%.1f\n", (MPI_Wtime() - begin) / trips / 2 * 1e9);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
