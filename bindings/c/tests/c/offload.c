// Schedules that the kernels of the hosts may run: prepared collectives, with data that changes
// from run to run, mixed with schedules of the processes. With the argument "kernel", the kernels
// run the schedules that they support. Without it the processes run everything.
// RUN: build %s
// RUN: ./offload
// RUN: goal-run -n 4 ./offload
// RUN: goal-run -n 3 --progress thread ./offload-cpp
// RUN: memcheck ./offload
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <goal.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT = 100, RANKS_MAX = 8, ROUNDS = 50, KINDS = 10, AGAIN = 100, LONG = 5000 };

static int rank, size, in_kernel, checks, wrong;
static int in[COUNT * RANKS_MAX], out[COUNT * RANKS_MAX], in_place[COUNT * RANKS_MAX];
static int called;

static void check(int is_right, const char *what) {
  checks++;
  if (!is_right) {
    if (wrong++ < 10) {
      printf("rank %d: %s (%s)\n", rank, what, GOAL_Last_error());
    }
  }
}

/* Checks that the kernels run a schedule if they run any, or never. */
static void offloaded(GOAL_Schedule schedule, int can, const char *what) {
  int is = GOAL_IsOffloaded(schedule);
  const char *reason = GOAL_Offload_reason(schedule);
  if (is != (can && in_kernel) || reason == NULL || (is == 0) != (reason[0] != 0)) {
    printf("rank %d: %s: %d: %s\n", rank, what, is, reason == NULL ? "NULL" : reason);
  }
  check(is == (can && in_kernel), what);
}

static int value(int of, int block, int i, int round) {
  return 1000 * round + 100 * of + 10 * block + i + 1;
}

static void fill(int *at, int blocks, int round) {
  for (int block = 0; block < blocks; block++) {
    for (int i = 0; i < COUNT; i++) {
      at[block * COUNT + i] = value(rank, block, i, round);
    }
  }
}

static int sum(int ranks, int block, int i, int round) {
  int all = 0;
  for (int r = 0; r < ranks; r++) {
    all += value(r, block, i, round);
  }
  return all;
}

/* One schedule of each kind: its name, and if the run of a round is right. */
static const char *NAMES[KINDS] = {"barrier",  "bcast",  "reduce", "allreduce", "allreduce in place",
                                   "allgather", "gather", "scatter", "alltoall",  "scan"};

static GOAL_Schedule prepare(int kind, GOAL_Comm comm, int root) {
  switch (kind) {
  case 0:
    return GOAL_Barrier_init(comm);
  case 1:
    return GOAL_Bcast_init(out, COUNT, GOAL_INT32, root, comm);
  case 2:
    return GOAL_Reduce_init(in, out, COUNT, GOAL_INT32, GOAL_ADD, root, comm);
  case 3:
    return GOAL_Allreduce_init(in, out, COUNT, GOAL_INT32, GOAL_ADD, comm);
  case 4:
    return GOAL_Allreduce_init(GOAL_IN_PLACE, in_place, COUNT, GOAL_INT32, GOAL_ADD, comm);
  case 5:
    return GOAL_Allgather_init(in, out, COUNT, GOAL_INT32, comm);
  case 6:
    return GOAL_Gather_init(in, out, COUNT, GOAL_INT32, root, comm);
  case 7:
    return GOAL_Scatter_init(in, out, COUNT, GOAL_INT32, root, comm);
  case 8:
    return GOAL_Alltoall_init(in, out, COUNT, GOAL_INT32, comm);
  default:
    return GOAL_Scan_init(in, out, COUNT, GOAL_INT32, GOAL_ADD, comm);
  }
}

static int is_right(int kind, int root, int round) {
  int right = 1;
  for (int i = 0; i < COUNT; i++) {
    switch (kind) {
    case 1:
      right &= out[i] == value(root, 0, i, round);
      break;
    case 2:
      right &= rank != root || out[i] == sum(size, 0, i, round);
      break;
    case 3:
      right &= out[i] == sum(size, 0, i, round);
      break;
    case 4:
      right &= in_place[i] == sum(size, 0, i, round);
      break;
    case 5:
    case 6:
      for (int r = 0; r < size && (kind == 5 || rank == root); r++) {
        right &= out[r * COUNT + i] == value(r, 0, i, round);
      }
      break;
    case 7:
      right &= out[i] == value(root, rank, i, round);
      break;
    case 8:
      for (int r = 0; r < size; r++) {
        right &= out[r * COUNT + i] == value(r, rank, i, round);
      }
      break;
    case 9:
      right &= out[i] == sum(rank + 1, 0, i, round);
      break;
    default:
      break;
    }
  }
  return right;
}

static void count_call(GOAL_Handle handle, void *arg) {
  (void)handle;
  *(int *)arg += 1;
}

/* Waits in one of several ways. */
static int ended(GOAL_Handle run, int way) {
  if (way % 3 == 0) {
    return GOAL_Wait(run) == GOAL_SUCCESS;
  }
  if (way % 3 == 1) {
    int has_ended;
    while ((has_ended = GOAL_Test(run)) == 0) {
    }
    return has_ended == 1;
  }
  struct pollfd poll_for;
  poll_for.fd = GOAL_Eventfd(run);
  poll_for.events = POLLIN;
  int is_readable = poll(&poll_for, 1, 20000) == 1;
  close(poll_for.fd);
  return is_readable && GOAL_Test(run) == 1;
}

static void all_kinds(void) {
  int root = size - 1;
  GOAL_Schedule schedules[KINDS];
  for (int kind = 0; kind < KINDS; kind++) {
    schedules[kind] = prepare(kind, GOAL_COMM_WORLD, root);
    offloaded(schedules[kind], size > 1, NAMES[kind]);
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int kind = 0; kind < KINDS; kind++) {
      memset(out, 0, sizeof out);
      fill(in, size, round);
      fill(in_place, 1, round);
      if (kind == 1 && rank == root) {
        fill(out, 1, round);
      }
      check(ended(GOAL_Run(schedules[kind]), round + kind), NAMES[kind]);
      check(is_right(kind, root, round), NAMES[kind]);
    }
  }
  for (int kind = 0; kind < KINDS; kind++) {
    check(GOAL_FreeSchedule(schedules[kind]) == GOAL_SUCCESS, "free");
  }
}

/* Runs of one schedule that are started before earlier ones have ended, beside others. */
static void several_at_once(void) {
  enum { RUNS = 4 };
  static int inputs[RUNS][COUNT], outputs[RUNS][COUNT];
  double number = rank + 1, total = 0;
  GOAL_Handle runs[RUNS + 1];
  GOAL_Schedule sums = prepare(3, GOAL_COMM_WORLD, 0);
  called = 0;
  for (int n = 0; n < RUNS; n++) {
    fill(inputs[n], 1, n);
    void *buffers[2] = {inputs[n], outputs[n]};
    runs[n] = GOAL_RunOn(sums, buffers, 2);
    check(GOAL_On_end(runs[n], count_call, &called) == GOAL_SUCCESS, "GOAL_On_end");
  }
  runs[RUNS] = GOAL_Iallreduce(&number, &total, 1, GOAL_FLOAT64, GOAL_ADD, GOAL_COMM_WORLD);
  check(GOAL_Waitall(RUNS + 1, runs) == GOAL_SUCCESS, "GOAL_Waitall");
  check(total == size * (size + 1) / 2, "the sum of the processes");
  for (int n = 0; n < RUNS; n++) {
    int right = 1;
    for (int i = 0; i < COUNT; i++) {
      right &= outputs[n][i] == sum(size, 0, i, n);
    }
    check(right, "one of several runs");
  }
  while (called < RUNS && GOAL_Get_progress() == GOAL_PROGRESS_THREAD) {
  }
  check(called == RUNS, "functions of ends");
  void *one[1] = {outputs[0]};
  check(GOAL_RunOn(sums, one, 1) == NULL, "a buffer is missing");
  void *same[2] = {outputs[0], outputs[0] + 1};
  check(GOAL_RunOn(sums, same, 2) == NULL, "buffers overlap");
  GOAL_FreeSchedule(sums);
}

/* Schedules are freed and prepared again, more often than there are numbers. */
static void again(void) {
  for (int round = 0; round < AGAIN; round++) {
    GOAL_Schedule schedule = prepare(3, GOAL_COMM_WORLD, 0);
    offloaded(schedule, size > 1, "again");
    fill(in, 1, round);
    check(GOAL_Wait(GOAL_Run(schedule)) == GOAL_SUCCESS && is_right(3, 0, round), "again");
    check(GOAL_FreeSchedule(schedule) == GOAL_SUCCESS, "free");
  }
}

/* The ranks of even and of odd numbers at the same time. */
static void some_ranks(void) {
  int ranks[RANKS_MAX], n = 0;
  for (int r = rank % 2; r < size; r += 2) {
    ranks[n++] = r;
  }
  GOAL_Comm comm = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, n);
  GOAL_Schedule schedule = GOAL_Allreduce_init(in, out, 1, GOAL_INT32, GOAL_MAX, comm);
  offloaded(schedule, n > 1, "some ranks");
  for (int round = 0; round < ROUNDS; round++) {
    in[0] = rank + round;
    check(GOAL_Wait(GOAL_Run(schedule)) == GOAL_SUCCESS, "some ranks");
    check(out[0] == ranks[n - 1] + round, "the maximum of some ranks");
  }
  GOAL_FreeSchedule(schedule);
  GOAL_Comm_free(comm);
}

/* Floating-point numbers, which the kernel computes if they are few and hands over if not. */
static void floats(int64_t count) {
  static double halves[LONG], sums[LONG];
  GOAL_Schedule schedule =
      GOAL_Scan_init(halves, sums, count, GOAL_FLOAT64, GOAL_ADD, GOAL_COMM_WORLD);
  offloaded(schedule, size > 1, "floating-point numbers");
  for (int round = 0; round < ROUNDS; round++) {
    int right = 1;
    for (int i = 0; i < count; i++) {
      halves[i] = 0.5 * (round + i);
    }
    check(ended(GOAL_Run(schedule), round), "floating-point numbers");
    for (int i = 0; i < count; i++) {
      right &= sums[i] == (rank + 1) * halves[i];
    }
    check(right, "sums of floating-point numbers");
  }
  GOAL_FreeSchedule(schedule);
}

/* Joins texts: not commutative. */
static void then(void *first, size_t bytes, void *second, size_t same) {
  char *a = (char *)first, *b = (char *)second, joined[32];
  snprintf(joined, sizeof joined, "%s%s", a, b);
  memcpy(b, joined, same);
  (void)bytes;
}

static void unused(void *first, size_t bytes, void *second, size_t same) {
  memset(second, 0, same);
  (void)first, (void)bytes;
}

/* Memory that can't be written while it is locked: functions leave their first operand as it is. */
static char *pages(void) {
  return (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void lock(char *page, int is_locked) {
  mprotect(page, 4096, is_locked ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* A function of the program, which has not the same number on all ranks. */
static void functions(void) {
  static char joined[16], want[16];
  char *own = pages();
  if (rank % 2 == 1) {
    GOAL_Reg_func(NULL, unused);
  }
  int fid = GOAL_Reg_func(NULL, then);
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(own, joined, 16, GOAL_UINT8, GOAL_USER_OP(fid), GOAL_COMM_WORLD);
  offloaded(schedule, size > 1, "a function");
  for (int round = 0; round < ROUNDS; round++) {
    lock(own, 0);
    own[0] = (char)('a' + (rank + round) % 26);
    lock(own, 1);
    for (int r = 0; r < size; r++) {
      want[r] = (char)('a' + (r + round) % 26);
    }
    check(ended(GOAL_Run(schedule), round), "a function");
    check(strcmp(joined, want) == 0, "joined texts");
  }
  GOAL_FreeSchedule(schedule);
  /* Another function, where the schedule of the first one was freed. */
  fid = GOAL_Reg_func(NULL, unused);
  schedule = GOAL_Allreduce_init(own, joined, 16, GOAL_UINT8, GOAL_USER_OP(fid), GOAL_COMM_WORLD);
  offloaded(schedule, size > 1, "another function");
  check(ended(GOAL_Run(schedule), 0), "another function");
  check(size == 1 || joined[0] == 0, "what another function leaves");
  GOAL_FreeSchedule(schedule);
}

/* Runs schedules that the processes execute in any job. */
static void never(void) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule schedule = GOAL_Compile(graph);
  offloaded(schedule, 0, "a graph of one rank");
  GOAL_FreeSchedule(schedule);
  GOAL_FreeGraph(graph);
  int64_t counts[RANKS_MAX];
  for (int r = 0; r < size; r++) {
    counts[r] = r + 1;
  }
  schedule = GOAL_Allgatherv_init(in, counts[rank], out, counts, NULL, GOAL_INT32, GOAL_COMM_WORLD);
  offloaded(schedule, 0, "blocks of different sizes");
  GOAL_FreeSchedule(schedule);
  check(GOAL_IsOffloaded(schedule) == GOAL_ERR_HANDLE, "a freed schedule");
  check(GOAL_Offload_reason(schedule) == NULL, "a freed schedule");
}

int main(int argc, char **argv) {
  in_kernel = argc > 1 && strcmp(argv[1], "kernel") == 0;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  check(GOAL_IsExtensionAvailable(GOAL_EXT_OFFLOAD), "the extension");
  all_kinds();
  several_at_once();
  again();
  some_ranks();
  floats(COUNT);
  floats(LONG);
  functions();
  never();
  int all = 0;
  check(GOAL_Reduce(&wrong, &all, 1, GOAL_INT32, GOAL_ADD, 0, GOAL_COMM_WORLD) == 0, "the end");
  if (rank == 0) {
    printf("%d ranks: %d of %d checks are wrong\n", size, all, checks);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrong > 0;
}
