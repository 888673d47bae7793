/* Measures the processor time of ranks that wait. Rank 0 computes for SECONDS seconds and then
   sends a message to the others. Each of them prints "rank processor-time" of its wait, in
   milliseconds. Usage: idle SECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  char message[8] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  double used = now_ns(CLOCK_PROCESS_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC);
  if (rank == 0) {
    while (now_ns(CLOCK_MONOTONIC) < begin + 1e9 * atof(argv[1])) {}
    for (int to = 1; to < ranks; ++to) MPI_Send(message, sizeof message, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(message, sizeof message, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d %.1f\n", rank, (now_ns(CLOCK_PROCESS_CPUTIME_ID) - used) / 1e6);
  MPI_Finalize();
  return 0;
}
