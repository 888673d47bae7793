/* Times operations of MPI that follow each other: collectives OPERATION BYTES:ITERATIONS
   Rank 0 prints "BYTES WAY NANOSECONDS" for each way to call it: the time between two barriers by iteration. */
#include "calls.h"
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum operation operation = operation_named(argv[1]);
  long n, iterations;
  if (argc < 3 || sscanf(argv[2], "%ld:%ld", &n, &iterations) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  size_t most = ((n + 64) * ranks + 4095) & ~4095ul;
  in = aligned_alloc(4096, most);
  out = aligned_alloc(4096, most);
  memset(in, 1, most);
  memset(out, 0, most);
  for (enum way way = 0; way < WAYS; ++way) {
    if (!prepare(operation, way, n)) continue;
    for (long k = 0; k < iterations / 10 + 2; ++k) call(operation, way, n);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_ns();
    for (long k = 0; k < iterations; ++k) call(operation, way, n);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = now_ns() - begin;
    release_kept();
    if (rank == 0) printf("%ld %s %.1f\n", n, way_names[way], took / iterations);
  }
  MPI_Finalize();
  return 0;
}
