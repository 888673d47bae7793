/* Times operations of MPI that follow each other: collectives OPERATION BYTES:ITERATIONS
   Rank 0 prints "BYTES WAY NANOSECONDS" for each way to call it: the time between two barriers by iteration. */
#include "group.h"
#include "calls.h"
#include "clock.h"

int main(int argc, char **argv) {
  group_begin(&argc, &argv);
  long n, iterations;
  if (argc < 3 || sscanf(argv[2], "%ld:%ld", &n, &iterations) != 2) group_abort(1);
  enum operation operation = operation_named(argv[1]);
  comm = GROUP_WORLD;
  size_t most = ((n + 64) * ranks + 4095) & ~4095ul;
  in = aligned_alloc(4096, most);
  out = aligned_alloc(4096, most);
  memset(in, 1, most);
  memset(out, 0, most);
  for (enum way way = 0; way < WAYS; ++way) {
    if (!prepare(operation, way, n)) continue;
    for (long k = 0; k < iterations / 10 + 2; ++k) call(operation, way, n);
    group_barrier();
    double begin = now_ns();
    for (long k = 0; k < iterations; ++k) call(operation, way, n);
    group_barrier();
    double took = now_ns() - begin;
    release_kept();
    if (rank == 0) printf("%ld %s %.1f\n", n, way_names[way], took / iterations);
  }
  group_end();
  return 0;
}
