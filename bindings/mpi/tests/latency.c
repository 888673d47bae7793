/* Measures the time of a collective in a loop, as other benchmarks of MPI do. For each size it
 * prints a line of csv: the median over rounds of the mean over iterations, in microseconds, at the
 * slowest rank.
 *
 *   latency [OPERATION...]
 *
 * Each iteration writes the operand first, and each round begins with a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 21
#define BYTES_MAX (1 << 20)

static const char *const names[] = {"barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall", "iallreduce"};
enum { OPERATIONS = sizeof names / sizeof *names };
static char *in, *out;

static void call(int operation, int bytes, int round) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  memset(in, round, (size_t)bytes);
  switch (operation) {
    case 0: MPI_Barrier(comm); break;
    case 1: MPI_Bcast(in, bytes, MPI_BYTE, 0, comm); break;
    case 2: MPI_Reduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, comm); break;
    case 3: MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm); break;
    case 4: MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm); break;
    case 5: MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm); break;
    case 6: MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm); break;
    case 7:
      MPI_Iallreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}

static int ascending(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void measure(int operation, int bytes) {
  int rank, size, iterations = bytes > 65536 ? 10 : bytes > 4096 ? 100 : 500;
  double times[ROUNDS], slowest[ROUNDS];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = -2; round < ROUNDS; round++) {
    double begin;
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int at = 0; at < iterations; at++) call(operation, bytes, at);
    if (round >= 0) times[round] = (MPI_Wtime() - begin) / iterations * 1e6;
  }
  PMPI_Reduce(times, slowest, ROUNDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank) return;
  qsort(slowest, ROUNDS, sizeof *slowest, ascending);
  printf("%s,%d,%d,%.3f\n", names[operation], size, operation ? bytes : 0, slowest[ROUNDS / 2]);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = calloc((size_t)size, BYTES_MAX);
  out = calloc((size_t)size, BYTES_MAX);
  if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int operation = 0; operation < OPERATIONS; operation++) {
    int is_chosen = argc < 2;
    for (int at = 1; at < argc; at++) is_chosen |= strcmp(argv[at], names[operation]) == 0;
    for (int bytes = 4; is_chosen && bytes <= BYTES_MAX; bytes *= 8) {
      measure(operation, bytes);
      if (operation == 0) break;
    }
    if (is_chosen && operation) measure(operation, BYTES_MAX);
  }
  MPI_Finalize();
  free(in);
  free(out);
  return 0;
}
