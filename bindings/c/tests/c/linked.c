// Short collectives run without the engine, or in it: results are equal, whatever is under way. Calls
// are of random kinds, sizes and roots, in place or not, alone or several at a time, which end in any
// order; some ranks are late.
// RUN: build %s
// RUN: for n in 2 3 5; do
// RUN:   goal-run -n $n --timeout 120 ./linked $n
// RUN:   goal-run -n $n --timeout 120 --no-links ./linked $n
// RUN: done
// RUN: goal-run -n 2 --timeout 120 --progress thread ./linked-cpp 11
// RUN: goal-run -n 3 --timeout 120 --wait block ./linked 12
// RUN: goal-run -n 2 --timeout 120 --wait spin ./linked 13
// RUN: goal-run -n 4 --timeout 120 --eager-limit 0 ./linked 14
#define _DEFAULT_SOURCE
#include <goal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 600, OPEN = 6, COMMS = 5, COUNT_MAX = 700, RANKS_MAX = 8 };

/* A number that all ranks draw alike. */
static uint64_t state;
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)below);
}

static int rank, size;
static int64_t value(int call, int of, int at) { return (int64_t)call * 1000003 + of * 7919 + at * 31; }

static int64_t *numbers(int count) { return (int64_t *)malloc(sizeof(int64_t) * (size_t)count); }

/* A call that has started. */
struct call {
  int kind, count, root, number, is_in_place;
  int64_t *in, *out;
  GOAL_Comm comm;
  GOAL_Handle run;
  GOAL_Schedule kept;
};

static GOAL_Handle start(struct call *c) {
  const void *in = c->is_in_place ? GOAL_IN_PLACE : c->in;
  switch (c->kind) {
  case 0: return GOAL_Ibarrier(c->comm);
  case 1: return GOAL_Ibcast(c->out, c->count, GOAL_INT64, c->root, c->comm);
  case 2: return GOAL_Iallreduce(in, c->out, c->count, GOAL_INT64, GOAL_ADD, c->comm);
  case 3: return GOAL_Ireduce(rank == c->root ? in : c->in, c->out, c->count, GOAL_INT64, GOAL_MAX, c->root, c->comm);
  case 4: return GOAL_Igather(c->in, c->out, c->count, GOAL_INT64, c->root, c->comm);
  case 5: return GOAL_Iallgather(in, c->out, c->count, GOAL_INT64, c->comm);
  case 6: return GOAL_Ialltoall(c->in, c->out, c->count, GOAL_INT64, c->comm);
  case 7: return GOAL_Iscatter(c->in, c->out, c->count, GOAL_INT64, c->root, c->comm);
  case 8: return GOAL_Iscan(in, c->out, c->count, GOAL_INT64, GOAL_ADD, c->comm);
  case 9: return GOAL_Ireduce_scatter_block(c->in, c->out, c->count, GOAL_INT64, GOAL_ADD, c->comm);
  default: return GOAL_Run(c->kept);
  }
}

/* Writes the operands of a call. */
static void fill(struct call *c) {
  int blocks = c->kind == 6 || c->kind == 7 || c->kind == 9 ? size : 1, i;
  for (i = 0; i < blocks * c->count; i++) c->in[i] = value(c->number, rank, i);
  for (i = 0; i < size * c->count; i++) c->out[i] = -1;
  if (c->kind == 1)
    for (i = 0; i < c->count; i++) c->out[i] = value(c->number, rank, i);
  if (c->is_in_place)
    for (i = 0; i < c->count; i++) c->out[(c->kind == 5 ? rank * c->count : 0) + i] = value(c->number, rank, i);
}

/* Returns what element `at` of the result must be; sets `is_open` if it may be anything. */
static int64_t wanted(const struct call *c, int at, int *is_open) {
  int64_t sum = 0;
  int r, block = c->count ? at / c->count : 0, i = c->count ? at % c->count : 0;
  *is_open = 0;
  switch (c->kind) {
  case 1: return *is_open = block > 0, value(c->number, c->root, i);
  case 2:
  case 10: for (r = 0; r < size; r++) sum += value(c->number, r, i); return *is_open = block > 0, sum;
  case 3: return *is_open = block > 0 || rank != c->root, value(c->number, size - 1, i);
  case 4: return *is_open = rank != c->root, value(c->number, block, i);
  case 5: return value(c->number, block, i);
  case 6: return value(c->number, block, rank * c->count + i);
  case 7: return *is_open = block > 0, value(c->number, c->root, rank * c->count + i);
  case 8: for (r = 0; r <= rank; r++) sum += value(c->number, r, i); return *is_open = block > 0, sum;
  case 9: for (r = 0; r < size; r++) sum += value(c->number, r, rank * c->count + i); return *is_open = block > 0, sum;
  default: return *is_open = 1, 0;
  }
}

static int check(const struct call *c) {
  int at, is_open;
  for (at = 0; at < size * c->count; at++) {
    int64_t is = c->out[at], must = wanted(c, at, &is_open);
    if (!is_open && is != must) {
      printf("rank %d, call %d of kind %d, root %d, count %d, element %d: %lld, not %lld\n", rank, c->number,
             c->kind, c->root, c->count, at, (long long)is, (long long)must);
      return 1;
    }
  }
  return 0;
}

static int end(struct call *c, int how) {
  int ended = how ? GOAL_Wait(c->run) : 0;
  while (!how && ended == 0) ended = GOAL_Test(c->run);
  if (ended < 0) return puts(GOAL_Last_error()), 1;
  c->run = GOAL_HANDLE_NULL;
  return check(c);
}

int main(int argc, char **argv) {
  struct call open[OPEN], kept;
  GOAL_Comm comms[COMMS] = {GOAL_COMM_WORLD};
  int all[RANKS_MAX];
  int i, j, wrong = 0;
  state = (uint64_t)atoi(argv[argc - 1]) * 77 + 5;
  if (GOAL_Init() != 0) return 1;
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  memset(open, 0, sizeof open);
  memset(&kept, 0, sizeof kept);
  for (i = 0; i < size; i++) all[i] = i;
  for (i = 1; i < COMMS; i++) comms[i] = GOAL_Comm_create(GOAL_COMM_WORLD, all, size);
  for (i = 0; i < OPEN; i++) {
    open[i].in = numbers(RANKS_MAX * COUNT_MAX);
    open[i].out = numbers(RANKS_MAX * COUNT_MAX);
  }
  kept.in = numbers(3), kept.out = numbers(3 * RANKS_MAX), kept.kind = 10, kept.count = 3;
  kept.kept = GOAL_Allreduce_init(kept.in, kept.out, 3, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD);
  for (i = 0; i < CALLS && !wrong; i++) {
    struct call *c = &open[draw(OPEN)];
    const int counts[] = {0, 1, 1, 2, 7, 8, 100, COUNT_MAX};
    const int late = draw(8 * size), again = draw(3);
    if (c->run) wrong |= end(c, draw(2));
    c->comm = comms[draw(COMMS)];
    c->kind = draw(10), c->count = counts[draw(8)], c->root = draw(size), c->number = i;
    c->is_in_place = draw(2) && (c->kind == 2 || c->kind == 5 || c->kind == 8 || (c->kind == 3 && rank == c->root));
    if (c->kind == 0) c->count = 0;
    fill(c);
    if (late == rank) usleep(200);
    c->run = start(c);
    if (!c->run) return puts(GOAL_Last_error()), 1;
    for (j = 0; j < again; j++) {
      kept.number = i + j;
      fill(&kept);
      if (draw(2)) {
        kept.run = start(&kept);
        if (!kept.run) return puts(GOAL_Last_error()), 1;
        wrong |= end(&kept, 1);
      } else {
        if (GOAL_Allreduce(kept.in, kept.out, 3, GOAL_INT64, GOAL_ADD, comms[draw(COMMS)]) != 0) return puts(GOAL_Last_error()), 1;
        wrong |= check(&kept);
      }
    }
  }
  for (i = 0; i < OPEN; i++)
    if (open[i].run) wrong |= end(&open[i], 1);
  GOAL_FreeSchedule(kept.kept);
  if (rank == 0 && !wrong) printf("%d ranks: all results are right\n", size);
  return GOAL_Finalize() != 0 || wrong;
}
