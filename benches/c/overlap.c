/* A non-blocking allreduce of a library, MPI or libgoal, beside a matrix product: overlap FILE PROCESSORS MEMORY CASE...
   FILE is a page of zeros for the barrier before everything that is timed, or "-" for the library's own: ranks of several hosts share no page,
   and a rank that waits in the library's may have to send again what was lost. PROCESSORS are those that the ranks must be bound to, as 0,1, or
   "-" where ranks share processors. MEMORY is a kind of memory (group.h). A case is
     ORDER:BYTES:CALLS:ITERATIONS   the product alone, then with an allreduce that is started before it and waited for after it, with a
                                    test after each block if CALLS is 1. Each rank prints
                                    "CASE rank alone both waiting checksum": medians in nanoseconds. Both kinds alternate, and "both" is "alone"
                                    and the median of the differences of pairs.
     late:WHO:BYTES:BUSY:ITERATIONS nobody computes (WHO 0), or for BUSY nanoseconds all before the start (1), the last rank after it (2) or
                                    all after it (3); then all wait. Each rank prints "CASE rank started computed ended" of each iteration, by one clock.
   Operands of another value are written before each allreduce, and results are read and checked after it. */
#define _GNU_SOURCE
#include "group.h"
#include "operation.h"
#include "clock.h"
#include "meeting.h"
#include "operands.h"
#include "placement.h"

enum { BLOCK = 32 };
typedef float block[BLOCK][BLOCK];

static int crowded;
static meeting *m;

static void meet(void) {
  if (m) meeting_wait(m, ranks, crowded);
  else group_barrier();
}

static group_request start(long bytes) { return group_allreduce((int *)in, (int *)out, bytes / sizeof(int)); }

static void check(long bytes, long round) {
  if (!results_are_right(ALLREDUCE, bytes, round, 1)) fail("the allreduce of round %ld has another result", round);
}

/* Square matrices in block data layout. */
static int blocks;
static block *a, *b, *c;

static void matrices(int order) {
  free(a), free(b), free(c);
  blocks = order / BLOCK;
  size_t bytes = sizeof(block) * blocks * blocks;
  a = aligned_alloc(64, bytes), b = aligned_alloc(64, bytes), c = aligned_alloc(64, bytes);
  float *x = (float *)a, *y = (float *)b;
  for (size_t i = 0; i < bytes / sizeof(float); ++i) x[i] = i % 7, y[i] = i % 5;
}

/* The row is held in registers: so the Rust compiler does it by itself. */
static __attribute__((noinline)) void multiply_block(block *restrict z, const block *x, const block *y) {
  for (int i = 0; i < BLOCK; ++i) {
    float row[BLOCK];
    memcpy(row, (*z)[i], sizeof row);
    for (int k = 0; k < BLOCK; ++k)
      for (int j = 0; j < BLOCK; ++j) row[j] += (*x)[i][k] * (*y)[k][j];
    memcpy((*z)[i], row, sizeof row);
  }
}

/* With a test after each block where there is a request. */
static void multiply(group_request *request) {
  memset(c, 0, sizeof(block) * blocks * blocks);
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < blocks; ++j)
      for (int k = 0; k < blocks; ++k) {
        multiply_block(&c[i * blocks + j], &a[i * blocks + k], &b[k * blocks + j]);
        if (request) group_test(request);
      }
}

static uint32_t checksum(void) {
  uint32_t sum = 0, bits;
  for (int i = 0; i < blocks * blocks * BLOCK * BLOCK; ++i) {
    memcpy(&bits, (float *)c + i, sizeof bits);
    sum += bits;
  }
  return sum;
}

static void product(const char *name, long bytes, int calls, int iterations) {
  enum { WARM = 2 };
  double *samples = calloc(3 * iterations, sizeof(double));
  double *alone = samples, *more = alone + iterations, *waiting = more + iterations;
  /* Each with the allreduce beside one without, so that both see the same phase of the machine. */
  for (int k = -WARM; k < iterations; ++k) {
    meet();
    double begin = now_ns();
    multiply(NULL);
    double took = now_ns() - begin;
    write_operands(ALLREDUCE, bytes, k + WARM);
    meet();
    begin = now_ns();
    group_request request = start(bytes);
    multiply(calls ? &request : NULL);
    double computed = now_ns();
    group_wait(&request);
    double end = now_ns();
    check(bytes, k + WARM);
    if (k >= 0) alone[k] = took, more[k] = end - begin - took, waiting[k] = end - computed;
  }
  double x = median(alone, iterations), y = x + median(more, iterations), z = median(waiting, iterations);
  printf("%s %d %.1f %.1f %.1f %u\n", name, rank, x, y, z, checksum());
  free(samples);
}

static void late(const char *name, int who, long bytes, double busy, int iterations) {
  int computes = who == 3 || (who == 2 && rank == ranks - 1);
  double *times = malloc(sizeof *times * 3 * (size_t)iterations);
  if (!times) fail("no memory for %d iterations", iterations);
  for (int k = -1; k < iterations; ++k) {
    write_operands(ALLREDUCE, bytes, k + 1);
    if (who == 1)
      for (double end = now_ns() + busy; now_ns() < end;) multiply(NULL);
    meet();
    double started = now_ns();
    group_request request = start(bytes);
    while (computes && now_ns() < started + busy) multiply(NULL);
    double computed = now_ns();
    group_wait(&request);
    double ended = now_ns();
    check(bytes, k + 1);
    if (k >= 0) memcpy(times + 3 * k, (double[]){started, computed, ended}, 3 * sizeof *times);
  }
  for (double *at = times; at < times + 3 * iterations; at += 3) printf("%s %d %.0f %.0f %.0f\n", name, rank, at[0], at[1], at[2]);
  free(times);
}

int main(int argc, char **argv) {
  /* A launcher may mix the outputs of ranks between two writes, so each line is a write. */
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  bind_to_processor(argv[2]);
  group_begin(&argc, &argv);
  m = *argv[1] == '-' ? NULL : meeting_open(argv[1]);
  check_placement(argv[2]);
  crowded = is_crowded(argv[2]);
  for (int i = 4; i < argc; ++i) {
    int order = 128, calls, who, iterations;
    long bytes;
    double busy;
    int is_late = sscanf(argv[i], "late:%d:%ld:%lf:%d", &who, &bytes, &busy, &iterations) == 4;
    if (!is_late && sscanf(argv[i], "%d:%ld:%d:%d", &order, &bytes, &calls, &iterations) != 4) fail("no case: %s", argv[i]);
    size_t most = (bytes + 4095) & ~4095ul;
    in = group_memory(argv[3], most, 0);
    out = group_memory(argv[3], most, 1);
    if (!in || !out) fail("no memory of the kind %s", argv[3]);
    memset(in, 0, most);
    memset(out, 0, most);
    matrices(order);
    if (is_late) late(argv[i], who, bytes, busy, iterations);
    else product(argv[i], bytes, calls, iterations);
    group_barrier();
    group_release(argv[3], in, 0);
    group_release(argv[3], out, 1);
  }
  group_end();
  return 0;
}
