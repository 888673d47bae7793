/* The operations that are timed, and the ways in which MPI offers each: a blocking call, a
   non-blocking one and, where the library has it, a persistent one. */
#include "operation.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT(NAME) MPI_##NAME##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT(NAME) MPIX_##NAME##_init
#endif

/* Requests that are started again and again. */
typedef struct { MPI_Request requests[8]; int count; } kept_calls;
static kept_calls own_kept, *kept = &own_kept;

static void release_kept(void) {
  for (int i = 0; i < kept->count; ++i) MPI_Request_free(&kept->requests[i]);
  kept->count = 0;
}

static MPI_Datatype number(void) { return adds_floats ? MPI_DOUBLE : MPI_INT; }

/* Prepares a way to call an operation of `n` bytes. Returns 0 if the library does not have it. */
static int prepare(enum operation operation, enum way way, int n) {
  MPI_Comm w = comm;
  int peer = rank ^ 1;
  if (way != PERSISTENTLY) return 1;
  switch (operation) {
  case PINGPONG:
    MPI_Recv_init(out, n, MPI_BYTE, peer, 0, w, &kept->requests[0]);
    MPI_Send_init(in, n, MPI_BYTE, peer, 0, w, &kept->requests[1]);
    kept->count = 2;
    return 1;
  case EXCHANGE:
    MPI_Recv_init(out, n / 4, MPI_INT, peer, 0, w, &kept->requests[0]);
    MPI_Send_init(in, n / 4, MPI_INT, peer, 0, w, &kept->requests[1]);
    kept->count = 2;
    return 1;
  case HALO:
    for (int odd = 0; odd < 2; ++odd) {
      char *to = odd ? in : out;
      MPI_Recv_init(to, n / 4, MPI_INT, above(), 1, w, &kept->requests[4 * odd]);
      MPI_Recv_init(to + (ROWS + 1) * (size_t)n, n / 4, MPI_INT, below(), 0, w, &kept->requests[4 * odd + 1]);
      MPI_Send_init(to + n, n / 4, MPI_INT, above(), 0, w, &kept->requests[4 * odd + 2]);
      MPI_Send_init(to + ROWS * (size_t)n, n / 4, MPI_INT, below(), 1, w, &kept->requests[4 * odd + 3]);
    }
    kept->count = 8;
    return 1;
#ifdef PERSISTENT
  case BARRIER: PERSISTENT(Barrier)(w, MPI_INFO_NULL, &kept->requests[0]); break;
  case BCAST: PERSISTENT(Bcast)(in, n, MPI_BYTE, 0, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case REDUCE: PERSISTENT(Reduce)(in, out, n / element(), number(), MPI_SUM, 0, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case ALLREDUCE: PERSISTENT(Allreduce)(in, out, n / element(), number(), MPI_SUM, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case GATHER: PERSISTENT(Gather)(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case SCATTER: PERSISTENT(Scatter)(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case ALLGATHER: PERSISTENT(Allgather)(in, n, MPI_BYTE, out, n, MPI_BYTE, w, MPI_INFO_NULL, &kept->requests[0]); break;
  case ALLTOALL: PERSISTENT(Alltoall)(in, n, MPI_BYTE, out, n, MPI_BYTE, w, MPI_INFO_NULL, &kept->requests[0]); break;
#endif
  default: return 0;
  }
  kept->count = 1;
  return 1;
}

static void pingpong(enum way way, int n) {
  MPI_Comm w = comm;
  MPI_Request r[2];
  int peer = rank ^ 1;
  switch (way) {
  case BLOCKING:
    if (rank == 0) MPI_Send(in, n, MPI_BYTE, peer, 0, w);
    MPI_Recv(out, n, MPI_BYTE, peer, 0, w, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(in, n, MPI_BYTE, peer, 0, w);
    return;
  case NONBLOCKING:
    MPI_Irecv(out, n, MPI_BYTE, peer, 0, w, &r[0]);
    if (rank != 0) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(in, n, MPI_BYTE, peer, 0, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return;
  default:
    MPI_Start(&kept->requests[0]);
    if (rank != 0) MPI_Wait(&kept->requests[0], MPI_STATUS_IGNORE);
    MPI_Start(&kept->requests[1]);
    MPI_Waitall(2, kept->requests, MPI_STATUSES_IGNORE);
  }
}

/* to[i] += from[i] */
static __attribute__((noinline)) void add(uint32_t *restrict to, const uint32_t *restrict from, long count) {
  for (long i = 0; i < count; ++i) to[i] += from[i];
}

/* Adds what came to the operand, and exchanges the sum with the other rank. */
static void exchange(enum way way, int n) {
  MPI_Comm w = comm;
  MPI_Request r[2];
  int peer = rank ^ 1, count = n / 4;
  add((uint32_t *)in, (uint32_t *)out, count);
  switch (way) {
  case BLOCKING:
    MPI_Sendrecv(in, count, MPI_INT, peer, 0, out, count, MPI_INT, peer, 0, w, MPI_STATUS_IGNORE);
    return;
  case NONBLOCKING:
    MPI_Irecv(out, count, MPI_INT, peer, 0, w, &r[0]);
    MPI_Isend(in, count, MPI_INT, peer, 0, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return;
  default:
    MPI_Startall(2, kept->requests);
    MPI_Waitall(2, kept->requests, MPI_STATUSES_IGNORE);
  }
}

/* to[i] = x[i] + y[i] */
static __attribute__((noinline)) void add_rows(uint32_t *restrict to, const uint32_t *restrict x, const uint32_t *restrict y, long count) {
  for (long i = 0; i < count; ++i) to[i] = x[i] + y[i];
}

/* Computes row `row` of a step: the sum of the rows above and below it in the step before. */
static void update(char *to, const char *from, int row, size_t n) {
  add_rows((uint32_t *)(to + row * n), (const uint32_t *)(from + (row - 1) * n), (const uint32_t *)(from + (row + 1) * n), n / 4);
}

/* A step of a stencil: computes every row of the part, and exchanges its first and last row with the
   neighbours. Rows 0 and ROWS + 1 are theirs. Without blocking calls, rows within the part are
   computed while messages travel. */
static void halo(enum way way, size_t n) {
  MPI_Comm w = comm;
  MPI_Request r[4];
  int count = n / 4, odd = halo_steps++ % 2;
  char *from = odd ? out : in, *to = odd ? in : out;
  char *first = to + n, *last = to + ROWS * n, *over = to, *under = to + (ROWS + 1) * n;
  if (way == BLOCKING) {
    for (int row = 1; row <= ROWS; ++row) update(to, from, row, n);
    MPI_Sendrecv(first, count, MPI_INT, above(), 0, under, count, MPI_INT, below(), 0, w, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, count, MPI_INT, below(), 1, over, count, MPI_INT, above(), 1, w, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request *requests = way == PERSISTENTLY ? &kept->requests[4 * odd] : r;
  if (way == PERSISTENTLY) {
    MPI_Startall(2, requests);
  } else {
    MPI_Irecv(over, count, MPI_INT, above(), 1, w, &r[0]);
    MPI_Irecv(under, count, MPI_INT, below(), 0, w, &r[1]);
  }
  update(to, from, 1, n);
  update(to, from, ROWS, n);
  if (way == PERSISTENTLY) {
    MPI_Startall(2, requests + 2);
  } else {
    MPI_Isend(first, count, MPI_INT, above(), 0, w, &r[2]);
    MPI_Isend(last, count, MPI_INT, below(), 1, w, &r[3]);
  }
  for (int row = 2; row < ROWS; ++row) update(to, from, row, n);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Performs an operation once. */
static void call(enum operation operation, enum way way, int n) {
  MPI_Comm w = comm;
  MPI_Request r;
  if (operation == PINGPONG) { pingpong(way, n); return; }
  if (operation == EXCHANGE) { exchange(way, n); return; }
  if (operation == HALO) { halo(way, n); return; }
  if (way == BLOCKING) {
    switch (operation) {
    case BARRIER: MPI_Barrier(w); return;
    case BCAST: MPI_Bcast(in, n, MPI_BYTE, 0, w); return;
    case REDUCE: MPI_Reduce(in, out, n / element(), number(), MPI_SUM, 0, w); return;
    case ALLREDUCE: MPI_Allreduce(in, out, n / element(), number(), MPI_SUM, w); return;
    case GATHER: MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w); return;
    case SCATTER: MPI_Scatter(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w); return;
    case ALLGATHER: MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, w); return;
    default: MPI_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, w); return;
    }
  }
  if (way == PERSISTENTLY) {
    MPI_Start(&kept->requests[0]);
    MPI_Wait(&kept->requests[0], MPI_STATUS_IGNORE);
    return;
  }
  switch (operation) {
  case BARRIER: MPI_Ibarrier(w, &r); break;
  case BCAST: MPI_Ibcast(in, n, MPI_BYTE, 0, w, &r); break;
  case REDUCE: MPI_Ireduce(in, out, n / element(), number(), MPI_SUM, 0, w, &r); break;
  case ALLREDUCE: MPI_Iallreduce(in, out, n / element(), number(), MPI_SUM, w, &r); break;
  case GATHER: MPI_Igather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w, &r); break;
  case SCATTER: MPI_Iscatter(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w, &r); break;
  case ALLGATHER: MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, w, &r); break;
  default: MPI_Ialltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, w, &r); break;
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Ranks that wait for MPI do not sleep. */
static void call_awake(enum operation operation, enum way way, int n) { call(operation, way, n); }
