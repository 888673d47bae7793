/* Measures collectives of MPI. First it prints a line with the version of the MPI library. Then it
 * prints a line of csv for each operation and size: the name, the bytes, and the time in
 * microseconds. A name is that of a blocking form (bcast), a non-blocking one (ibcast) or a
 * persistent one (bcast_init).
 *
 * Each operation begins behind a barrier of MPI's own. Its operand is written before it, and its
 * result is read after it. The time is the median over rounds of the mean over iterations, at the
 * slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 21
#define BYTES_MAX (1 << 20)
#define WORLD MPI_COMM_WORLD
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

static const char *const names[] = {"barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"};
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, ALLGATHER, ALLTOALL, OPERATIONS };
enum { BLOCKING, NONBLOCKING, PERSISTENT };
static char *in, *out;

static int call(int operation, int n) {
  switch (operation) {
    case BARRIER: return MPI_Barrier(WORLD);
    case BCAST: return MPI_Bcast(in, n, MPI_BYTE, 0, WORLD);
    case REDUCE: return MPI_Reduce(in, out, n / 4, MPI_FLOAT, MPI_SUM, 0, WORLD);
    case ALLREDUCE: return MPI_Allreduce(in, out, n / 4, MPI_FLOAT, MPI_SUM, WORLD);
    case GATHER: return MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, WORLD);
    case ALLGATHER: return MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD);
    default: return MPI_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD);
  }
}

static int start(int operation, int n, MPI_Request *request) {
  switch (operation) {
    case BARRIER: return MPI_Ibarrier(WORLD, request);
    case BCAST: return MPI_Ibcast(in, n, MPI_BYTE, 0, WORLD, request);
    case REDUCE: return MPI_Ireduce(in, out, n / 4, MPI_FLOAT, MPI_SUM, 0, WORLD, request);
    case ALLREDUCE: return MPI_Iallreduce(in, out, n / 4, MPI_FLOAT, MPI_SUM, WORLD, request);
    case GATHER: return MPI_Igather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, WORLD, request);
    case ALLGATHER: return MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD, request);
    default: return MPI_Ialltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD, request);
  }
}

static int prepare(int operation, int n, MPI_Request *request) {
#ifdef HAS_PERSISTENT
  MPI_Info none = MPI_INFO_NULL;
  switch (operation) {
    case BARRIER: return MPI_Barrier_init(WORLD, none, request);
    case BCAST: return MPI_Bcast_init(in, n, MPI_BYTE, 0, WORLD, none, request);
    case REDUCE: return MPI_Reduce_init(in, out, n / 4, MPI_FLOAT, MPI_SUM, 0, WORLD, none, request);
    case ALLREDUCE: return MPI_Allreduce_init(in, out, n / 4, MPI_FLOAT, MPI_SUM, WORLD, none, request);
    case GATHER: return MPI_Gather_init(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, WORLD, none, request);
    case ALLGATHER: return MPI_Allgather_init(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD, none, request);
    default: return MPI_Alltoall_init(in, n, MPI_BYTE, out, n, MPI_BYTE, WORLD, none, request);
  }
#else
  (void)operation, (void)n, (void)request;
  return MPI_ERR_OTHER;
#endif
}

static void run(int operation, int form, int bytes, MPI_Request *request) {
  if (form == BLOCKING) {
    call(operation, bytes);
    return;
  }
  if (form == PERSISTENT) MPI_Start(request);
  else start(operation, bytes, request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int ascending(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static void measure(int operation, int form, int bytes) {
  int rank, iterations = bytes > 65536 ? 10 : bytes > 4096 ? 50 : 300;
  double times[ROUNDS], slowest;
  volatile char read = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_rank(WORLD, &rank);
  if (form == PERSISTENT && prepare(operation, bytes, &request) != MPI_SUCCESS) return;
  for (int round = -2; round < ROUNDS; round++) {
    double sum = 0;
    for (int at = 0; at < iterations; at++) {
      double begin;
      memset(in, at, (size_t)bytes);
      PMPI_Barrier(WORLD);
      begin = MPI_Wtime();
      run(operation, form, bytes, &request);
      sum += MPI_Wtime() - begin;
      for (int byte = 0; byte < bytes; byte += 64) read += out[byte];
    }
    if (round >= 0) times[round] = sum / iterations * 1e6;
  }
  if (form == PERSISTENT) MPI_Request_free(&request);
  qsort(times, ROUNDS, sizeof *times, ascending);
  PMPI_Reduce(&times[ROUNDS / 2], &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, WORLD);
  if (rank) return;
  printf("%s%s%s,%d,%.4f\n", form == NONBLOCKING ? "i" : "", names[operation], form == PERSISTENT ? "_init" : "", bytes, slowest);
}

int main(int argc, char **argv) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int rank, size, length;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(WORLD, &size);
  MPI_Comm_rank(WORLD, &rank);
  in = calloc((size_t)size, BYTES_MAX);
  out = calloc((size_t)size, BYTES_MAX);
  if (!in || !out) MPI_Abort(WORLD, 1);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\r\n")] = '\0';
  if (rank == 0) printf("%s\n", version);
  /* The blocking forms first: the others may start a thread. */
  for (int form = BLOCKING; form <= PERSISTENT; form++)
    for (int operation = 0; operation < OPERATIONS; operation++)
      for (int bytes = operation ? 4 : 0; bytes <= BYTES_MAX; bytes *= 4) {
        measure(operation, form, bytes);
        if (operation == BARRIER) break;
      }
  MPI_Finalize();
  free(in);
  free(out);
  return 0;
}
