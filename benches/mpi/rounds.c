/* Rounds of a barrier or an allreduce of 64-bit integers, each from a point in time on that all ranks share; the same loop as
   src/offload/rounds.rs: rounds OPERATION ELEMENTS ROUNDS PERIOD-US FOLDER
   Each rank writes FOLDER/times.RANK: lines of when the call began, when the result was there, and when the call returned. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000ull * t.tv_sec + t.tv_nsec;
}

static void sleep_ns(uint64_t ns) {
  struct timespec t = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&t, &t) && errno == EINTR) {}
}

static FILE *file(const char *folder, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, mode);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 1);
  int is_barrier = !strcmp(argv[1], "barrier");
  int count = atoi(argv[2]), rounds = atoi(argv[3]);
  uint64_t period = 1000ull * strtoull(argv[4], NULL, 10);
  const char *folder = argv[5];
  uint64_t *operands = malloc(8 * (size_t)count + 8), *times = malloc(24 * (size_t)rounds);
  /* The first messages make connections. */
  MPI_Barrier(MPI_COMM_WORLD);
  char name[32];
  snprintf(name, sizeof name, "ready.%d", rank);
  fclose(file(folder, name, "w"));
  unsigned long long begin = 0;
  for (int look = 0; !begin && look < 30000; ++look) {
    FILE *go = file(folder, "go", "r");
    if (go) {
      if (fscanf(go, "%llu", &begin) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
      fclose(go);
    } else {
      sleep_ns(2000000);
    }
  }
  if (!begin) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int k = 0; k < rounds; ++k) {
    uint64_t start = begin + k * period, now = now_ns();
    if (start > now) sleep_ns(start - now);
    for (int i = 0; i < count; ++i) operands[i] = (uint64_t)rank + k + i;
    times[3 * k] = now_ns();
    if (is_barrier) MPI_Barrier(MPI_COMM_WORLD);
    else MPI_Allreduce(MPI_IN_PLACE, operands, count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    times[3 * k + 1] = times[3 * k + 2] = now_ns();
    for (int i = 0; i < count && !is_barrier; ++i)
      if (operands[i] != (uint64_t)ranks * (ranks - 1) / 2 + (uint64_t)ranks * (k + i)) {
        fprintf(stderr, "rank %d, round %d: element %d is wrong\n", rank, k, i);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
  }
  snprintf(name, sizeof name, "times.%d", rank);
  FILE *out = file(folder, name, "w");
  for (int k = 0; k < rounds; ++k)
    fprintf(out, "%llu %llu %llu\n", (unsigned long long)times[3 * k], (unsigned long long)times[3 * k + 1], (unsigned long long)times[3 * k + 2]);
  fclose(out);
  MPI_Finalize();
  return 0;
}
