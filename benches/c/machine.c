/* Measures the machine without any library: machine PROCESSOR PROCESSOR BYTES...
   Two threads run on two processors, and each has just written its own blocks. For each size it
   prints "BYTES WORK NANOSECONDS". The times are medians, less the time to read the clock:
     line      a line of the cache is handed over, one way
     pull      one copies a block that the other has written
     halves    both copy half of such a block, until both have ended
     both      each copies a block of the other, at once
     local     one copies a block of its own
     reduce    each adds a block of the other to one of its own into a third, at once
     sum       each adds two blocks of its own into a third, at once
     add       each adds a block to another one, at once; the other thread has read that one
   It is compiled for this processor: memcpy and sums use its best instructions. */
#define _GNU_SOURCE
#include "clock.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum work { LINE, PULL, HALVES, BOTH, LOCAL, REDUCE, ADD, SUM, WORKS };
static const char *const names[WORKS] = {"line", "pull", "halves", "both", "local", "reduce", "add", "sum"};

static _Alignas(128) _Atomic uint32_t ball;
static _Alignas(128) _Atomic uint32_t arrived;
static _Alignas(128) _Atomic uint32_t turn;
static _Alignas(128) _Atomic uint32_t done[2][32];
static int processors[2], sizes_count;
static long sizes[64];
static char *source[2], *other[2], *target[2];
enum { REPEATS_MAX = 2000 };
static double times[2][REPEATS_MAX];
static volatile uint32_t seen;

static void meet(void) {
  uint32_t at = atomic_load(&turn);
  if (atomic_fetch_add(&arrived, 1) + 1 == 2) {
    atomic_store(&arrived, 0);
    atomic_store(&turn, at + 1);
    return;
  }
  while (atomic_load(&turn) == at) {}
}

static __attribute__((noinline)) void fill(char *at, long n, uint32_t value) {
  uint32_t *p = (uint32_t *)at;
  for (uint32_t i = 0; i < n / 4; ++i) p[i] = value + i;
}

static __attribute__((noinline)) uint32_t total(const char *at, long n) {
  const uint32_t *p = (const uint32_t *)at;
  uint32_t sum = 0;
  for (long i = 0; i < n / 4; ++i) sum += p[i];
  return sum;
}

static __attribute__((noinline)) void add(char *restrict to, const char *restrict x, const char *restrict y, long n) {
  uint32_t *t = (uint32_t *)to;
  const uint32_t *a = (const uint32_t *)x, *b = (const uint32_t *)y;
  for (long i = 0; i < n / 4; ++i) t[i] = a[i] + b[i];
}

static __attribute__((noinline)) void add_to(char *restrict to, const char *restrict from, long n) {
  uint32_t *t = (uint32_t *)to;
  const uint32_t *f = (const uint32_t *)from;
  for (long i = 0; i < n / 4; ++i) t[i] += f[i];
}

static void perform(enum work work, int me, long n, uint32_t round) {
  int peer = 1 - me;
  switch (work) {
  case PULL: if (me == 1) memcpy(target[1], source[0], n); return;
  case HALVES: {
    long half = n / 2 & ~63l;
    if (me == 1) memcpy(target[1], source[0], half);
    else memcpy(target[1] + half, source[0] + half, n - half);
    atomic_store(&done[me][0], round);
    while (atomic_load(&done[peer][0]) != round) {}
    return;
  }
  case BOTH: memcpy(target[me], source[peer], n); return;
  case LOCAL: if (me == 1) memcpy(target[1], source[1], n); return;
  case REDUCE: add(target[me], source[peer], other[me], n); return;
  case SUM: add(target[me], source[me], other[me], n); return;
  case ADD: add_to(source[me], other[me], n); return;
  default: return;
  }
}

static double line_ns(int me) {
  enum { TRIPS = 20000 };
  if (me == 0) atomic_store(&ball, 0);
  meet();
  double begin = now_ns();
  for (uint32_t i = 0; i < TRIPS; ++i) {
    while (atomic_load(&ball) != 2 * i + me) {}
    atomic_store(&ball, 2 * i + me + 1);
  }
  meet();
  return (now_ns() - begin) / (2 * TRIPS);
}

static void *thread(void *number) {
  int me = (int)(intptr_t)number;
  uint32_t round = 0;
  double clock_ns;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processors[me], &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set)) exit(1);
  clock_ns = clock_cost_ns();
  for (int at = 0; at < sizes_count; ++at) {
    long n = sizes[at], most = (n + 8191) & ~4095l;
    long repeats = 20000000 / (n + 20000);
    repeats = repeats > REPEATS_MAX ? REPEATS_MAX : repeats < 7 ? 7 : repeats;
    /* Each touches its own memory first. */
    source[me] = aligned_alloc(4096, most), other[me] = aligned_alloc(4096, most), target[me] = aligned_alloc(4096, most);
    memset(source[me], 1, most), memset(other[me], 1, most), memset(target[me], 1, most);
    for (enum work work = 0; work < WORKS; ++work) {
      if (work == LINE) {
        double ns = line_ns(me);
        if (me == 0) printf("%ld %s %.1f\n", n, names[work], ns);
        continue;
      }
      for (long k = -3; k < repeats; ++k) {
        fill(source[me], n, ++round);
        fill(other[me], n, round);
        if (work == HALVES && me == 1) seen = total(target[1], n);
        meet();
        if (work == ADD) seen = total(source[1 - me], n);
        meet();
        double begin = now_ns();
        perform(work, me, n, round);
        double took = now_ns() - begin - clock_ns;
        if (k >= 0) times[me][k] = took;
        seen = total(target[me], n);
        meet();
      }
      if (me == 0) {
        int one = work == PULL || work == LOCAL;
        for (long k = 0; k < repeats; ++k) times[0][k] = one ? times[1][k] : (times[0][k] + times[1][k]) / 2;
        printf("%ld %s %.1f\n", n, names[work], median(times[0], repeats));
      }
      meet();
    }
    meet();
    free(source[me]), free(other[me]), free(target[me]);
    meet();
  }
  return NULL;
}

int main(int argc, char **argv) {
  processors[0] = atoi(argv[1]), processors[1] = atoi(argv[2]);
  for (int i = 3; i < argc && sizes_count < 64; ++i) sizes[sizes_count++] = atol(argv[i]);
  pthread_t second;
  if (pthread_create(&second, NULL, thread, (void *)1)) return 1;
  thread(NULL);
  pthread_join(second, NULL);
  return 0;
}
