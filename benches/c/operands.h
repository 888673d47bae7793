/* The values that ranks write before an operation and expect after it; `benches/src/mpi/operands.rs`
   has the same. operation.h comes before. A block of n bytes holds 32-bit integers, start + step * i, and bytes of the next one behind
   them. Floats in reductions are such numbers that do not overflow. */
#include <stdint.h>
#include <string.h>

typedef struct { uint32_t start, step; } line;

/* The block that one rank has for another in a round. */
static line operand(int from, int to, long round) {
  return (line){(uint32_t)round * 2654435761u + (uint32_t)from * 16777619u + (uint32_t)to * 65537u, 1};
}

static __attribute__((noinline)) void write_block(char *at, long n, line l) {
  uint32_t *p = (uint32_t *)at, next = l.start + l.step * (uint32_t)(n / 4);
  for (uint32_t i = 0; i < n / 4; ++i) p[i] = l.start + l.step * i;
  memcpy(p + n / 4, &next, n % 4);
}

/* Reads the whole block. Returns 1 if it holds these values. */
static __attribute__((noinline)) int holds(const char *at, long n, line l) {
  const uint32_t *p = (const uint32_t *)at;
  uint32_t wrong = 0, next = l.start + l.step * (uint32_t)(n / 4);
  for (uint32_t i = 0; i < n / 4; ++i) wrong |= p[i] ^ (l.start + l.step * i);
  return !wrong && !memcmp(p + n / 4, &next, n % 4);
}

/* The first float of an operand; the step is 1. */
static double first_float(line l) { return l.start & 0xffffff; }

static __attribute__((noinline)) void write_floats(char *at, long n, line l) {
  double *p = (double *)at, start = first_float(l);
  for (long i = 0; i < n / 8; ++i) p[i] = start + i;
}

/* Returns 1 if the block holds the sums of all ranks' operands. */
static __attribute__((noinline)) int holds_float_sums(const char *at, long n, long round) {
  const double *p = (const double *)at;
  double start = 0, wrong = 0;
  for (int from = 0; from < ranks; ++from) start += first_float(operand(from, 0, round));
  for (long i = 0; i < n / 8; ++i) wrong += p[i] != start + (double)ranks * i;
  return wrong == 0;
}

/* Writes what this rank gives to the operation. */
static void write_operands(enum operation operation, long n, long round) {
  switch (operation) {
  case BARRIER: return;
  case BCAST: if (rank == 0) write_block(in, n, operand(0, 0, round)); return;
  case REDUCE: case ALLREDUCE:
    if (adds_floats) write_floats(in, n, operand(rank, 0, round));
    else write_block(in, n, operand(rank, 0, round));
    return;
  case SCATTER: if (rank != 0) return; /* fall through */
  case ALLTOALL: for (int to = 0; to < ranks; ++to) write_block(in + to * n, n, operand(rank, to, round)); return;
  case EXCHANGE:
    write_block(in, n, operand(rank, 0, round));
    write_block(out, n, operand(rank, 1, round));
    return;
  case HALO:
    halo_steps = 0;
    write_block(in, n, operand(above(), ROWS, round));
    for (int row = 1; row <= ROWS; ++row) write_block(in + row * n, n, operand(rank, row, round));
    write_block(in + (ROWS + 1) * n, n, operand(below(), 1, round));
    return;
  default: write_block(in, n, operand(rank, 0, round));
  }
}

/* Adds and exchanges as the operation does, for one element of each rank. */
static int exchanged(long n, long round, long times) {
  line a[2], b[2];
  for (int i = 0; i < 2; ++i) a[i] = operand(i, 0, round), b[i] = operand(i, 1, round);
  while (times-- > 0) {
    for (int i = 0; i < 2; ++i) a[i].start += b[i].start, a[i].step += b[i].step;
    b[0] = a[1], b[1] = a[0];
  }
  return holds(in, n, a[rank]) && holds(out, n, b[rank]);
}

/* Computes rows as a stencil does, for one element of each row of all ranks in a ring. */
static int rows_are_right(long n, long round, long times) {
  enum { RANKS_MAX = 1024 };
  static line grids[2][RANKS_MAX * ROWS];
  int all = ranks * ROWS;
  if (ranks > RANKS_MAX) return 0;
  for (int row = 0; row < all; ++row) grids[0][row] = operand(row / ROWS, row % ROWS + 1, round);
  for (long k = 0; k < times; ++k)
    for (int row = 0; row < all; ++row) {
      line x = grids[k % 2][(row + all - 1) % all], y = grids[k % 2][(row + 1) % all];
      grids[1 - k % 2][row] = (line){x.start + y.start, x.step + y.step};
    }
  const char *at = times % 2 ? out : in;
  int right = 1;
  for (int row = 0; row < ROWS + 2; ++row) right &= holds(at + row * n, n, grids[times % 2][(rank * ROWS + row - 1 + all) % all]);
  return right;
}

/* Reads the results of an operation that was performed `times` times. Returns 1 if they are right. */
static int results_are_right(enum operation operation, long n, long round, long times) {
  int right = 1;
  line sum = {0, 0};
  switch (operation) {
  case PINGPONG: return holds(out, n, operand(rank ^ 1, 0, round));
  case BCAST: return holds(in, n, operand(0, 0, round));
  case REDUCE:
    if (rank != 0) return 1; /* fall through */
  case ALLREDUCE:
    if (adds_floats) return holds_float_sums(out, n, round);
    for (int from = 0; from < ranks; ++from) sum.start += operand(from, 0, round).start, sum.step += 1;
    return holds(out, n, sum);
  case GATHER:
    if (rank != 0) return 1; /* fall through */
  case ALLGATHER:
    for (int from = 0; from < ranks; ++from) right &= holds(out + from * n, n, operand(from, 0, round));
    return right;
  case SCATTER: return holds(out, n, operand(0, rank, round));
  case ALLTOALL:
    for (int from = 0; from < ranks; ++from) right &= holds(out + from * n, n, operand(from, rank, round));
    return right;
  case EXCHANGE: return exchanged(n, round, times);
  case HALO: return rows_are_right(n, round, times);
  default: return 1;
  }
}
