/* Times an operation of MPI: collectives OPERATION FILE CROWDED BYTES:ITERATIONS...
   For every size, and for the blocking and the non-blocking call, each rank's mean is averaged over the ranks; rank 0 prints
   "bytes mode nanoseconds". A ping-pong's time is rank 0's, halved. FILE is a page of zeros for the barrier before each call; where it is
   "-", the calls follow each other without one, between two barriers of MPI, and the time is rank 0's for all of them. */
#include "meeting.h"
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, ranks;
static char *in, *out;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

static void pingpong(int n) {
  int peer = 1 - rank;
  if (rank == 0) {
    MPI_Send(in, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(out, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(out, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(in, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  }
}

static void ipingpong(int n) {
  MPI_Request r[2];
  int peer = 1 - rank;
  MPI_Irecv(out, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &r[0]);
  if (rank != 0) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Isend(in, n, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void run(const char *op, int blocking, int n) {
  MPI_Request r;
  MPI_Comm w = MPI_COMM_WORLD;
  if (!strcmp(op, "pingpong")) {
    if (blocking) pingpong(n); else ipingpong(n);
    return;
  }
  if (!strcmp(op, "barrier")) {
    if (blocking) { MPI_Barrier(w); return; }
    MPI_Ibarrier(w, &r);
  } else if (!strcmp(op, "bcast")) {
    if (blocking) { MPI_Bcast(in, n, MPI_BYTE, 0, w); return; }
    MPI_Ibcast(in, n, MPI_BYTE, 0, w, &r);
  } else if (!strcmp(op, "allreduce")) {
    if (blocking) { MPI_Allreduce(in, out, n / 4, MPI_INT, MPI_SUM, w); return; }
    MPI_Iallreduce(in, out, n / 4, MPI_INT, MPI_SUM, w, &r);
  } else if (!strcmp(op, "gather")) {
    if (blocking) { MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w); return; }
    MPI_Igather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w, &r);
  } else if (!strcmp(op, "allgather")) {
    if (blocking) { MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, w); return; }
    MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, w, &r);
  } else if (!strcmp(op, "alltoall")) {
    if (blocking) { MPI_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, w); return; }
    MPI_Ialltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, w, &r);
  } else {
    fprintf(stderr, "no operation %s\n", op);
    MPI_Abort(w, 1);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int back_to_back = !strcmp(argv[2], "-");
  meeting *m = back_to_back ? NULL : meeting_open(argv[2]);
  int crowded = atoi(argv[3]);
  for (int i = 4; i < argc; ++i) {
    long n, iterations;
    if (sscanf(argv[i], "%ld:%ld", &n, &iterations) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
    size_t most = (n + 64) * ranks;
    in = aligned_alloc(4096, (most + 4095) & ~4095ul);
    out = aligned_alloc(4096, (most + 4095) & ~4095ul);
    memset(in, 1, most);
    memset(out, 0, most);
    for (int blocking = 1; blocking >= 0; --blocking) {
      double total = 0;
      long warm = iterations / 10 + 2;
      if (back_to_back) {
        for (long k = 0; k < warm; ++k) run(argv[1], blocking, n);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now_ns();
        for (long k = 0; k < iterations; ++k) run(argv[1], blocking, n);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
          printf("%ld %s %.1f\n", n, blocking ? "blocking" : "nonblocking", (now_ns() - begin) / iterations);
        continue;
      }
      for (long k = -warm; k < iterations; ++k) {
        meeting_wait(m, ranks, crowded);
        double begin = now_ns();
        run(argv[1], blocking, n);
        if (k >= 0) total += now_ns() - begin;
      }
      double mean = total / iterations, sum;
      int is_pingpong = !strcmp(argv[1], "pingpong");
      MPI_Reduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      double result = is_pingpong ? mean / 2 : sum / ranks;
      if (rank == 0) printf("%ld %s %.1f\n", n, blocking ? "blocking" : "nonblocking", result);
    }
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
