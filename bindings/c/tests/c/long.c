// Long schedules are linked (GOAL_Link): they run in blocks, with the results of the engine, whatever
// else is under way. Messages with one tag stay in order. Reports name the actions that wait.
// RUN: build %s
// RUN: for n in 2 3; do echo $n ranks; goal-run -n $n --timeout 120 ./long; done
// RUN: echo 4 ranks; goal-run -n 4 --timeout 120 ./long few
// RUN: echo thread; goal-run -n 3 --timeout 120 --progress thread ./long-cpp few
// RUN: for wait in block spin; do goal-run -n 3 --timeout 120 --wait $wait ./long few | sed "s/^/$wait: /"; done
// RUN: echo unlinked; goal-run -n 2 --timeout 120 --no-links ./long few
// RUN: echo stuck; goal-run -n 2 ./long stuck 2>&1 | sort
// RUN: echo missing; goal-run -n 2 ./long missing 2>&1 | sort
// RUN: echo lost; goal-run -n 3 --timeout 120 --survive ./long lost 2>&1 | sort
// RUN: echo differs; goal-run -n 2 --timeout 60 ./long differs >differs.txt 2>&1 || echo fails
// RUN: grep -o 'started another linked schedule.*' differs.txt | sort -u
#define _DEFAULT_SOURCE
#include <goal.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 200, WORDS = 300, RANKS = 4, WIDE = 150 };

static int rank, size, failures, rounds_max = 5000;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      failures++;                                                                            \
      printf("rank %d, line %d: %s; %s\n", rank, __LINE__, #condition, GOAL_Last_error());   \
    }                                                                                        \
  } while (0)

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

static GOAL_Schedule linked(const char *name, GOAL_Graph graph) {
  GOAL_Schedule schedule = GOAL_Compile(graph);
  int is = GOAL_Link(schedule, GOAL_COMM_WORLD);
  CHECK(schedule != NULL && GOAL_FreeGraph(graph) == 0);
  CHECK(is >= 0 && (is == 1) == (*GOAL_Link_reason(schedule) == '\0'));
  if (rank == 0 && name != NULL) {
    printf("%s: %s\n", name, is == 1 ? "linked" : GOAL_Link_reason(schedule));
  }
  return schedule;
}

/* Lets an action of a chain wait for the one before. */
static GOAL_Vertex after(GOAL_Graph graph, GOAL_Vertex before, GOAL_Vertex action) {
  CHECK(action != GOAL_INVALID_VERTEX);
  if (before != GOAL_INVALID_VERTEX) GOAL_Requires(graph, before, action);
  return action;
}

/* The ranks 0 and 1 send a number to and fro. Rank 1 adds 1 to it in each round. */
static GOAL_Schedule ping_pong(const char *name, int64_t *number, const int64_t *one, int rounds) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex last = GOAL_INVALID_VERTEX;
  int round;
  for (round = 0; round < rounds && rank < 2; round++) {
    if (rank == 0) last = after(graph, last, GOAL_Send(graph, number, 8, 1, 0, GOAL_USERSPACE));
    last = after(graph, last, GOAL_Recv(graph, number, 8, 1 - rank, 0, GOAL_USERSPACE));
    if (rank == 0) continue;
    last = after(graph, last,
                 GOAL_LocalOp(graph, one, number, number, GOAL_ADD, GOAL_SINT, 64, 1,
                              GOAL_USERSPACE, GOAL_USERSPACE, GOAL_USERSPACE));
    last = after(graph, last, GOAL_Send(graph, number, 8, 0, 0, GOAL_USERSPACE));
  }
  return linked(name, graph);
}

/*
 * Each rank begins with a message. In each step it gets one from the left into scratch memory, adds
 * its own words, and sends the sum to the right. All messages have one tag.
 */
static GOAL_Schedule ring(const char *name, int64_t *own, int64_t *sum) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex sent = GOAL_INVALID_VERTEX, got = GOAL_INVALID_VERTEX, added = GOAL_INVALID_VERTEX;
  int step, bytes = 8 * WORDS;
  GOAL_AllocateScratchpad(graph, (size_t)bytes);
  for (step = 0; step < STEPS; step++) {
    int64_t *from = step == 0 ? own : sum;
    GOAL_Vertex send = after(graph, sent, GOAL_Send(graph, from, bytes, right(), 7, GOAL_USERSPACE));
    if (step > 0) GOAL_Requires(graph, added, send);
    got = after(graph, got, GOAL_Recv(graph, GOAL_OFFSET(0), bytes, left(), 7, GOAL_SCRATCHPAD));
    if (step > 0) GOAL_Requires(graph, added, got);
    added = GOAL_LocalOp(graph, GOAL_OFFSET(0), own, sum, GOAL_ADD, GOAL_SINT, 64, WORDS,
                         GOAL_SCRATCHPAD, GOAL_USERSPACE, GOAL_USERSPACE);
    GOAL_Requires(graph, got, added);
    GOAL_Requires(graph, send, added);
    sent = send;
  }
  return linked(name, graph);
}

/* Actions without dependencies, more than a block takes. */
static GOAL_Schedule wide(const char *name, int64_t (*mine)[WIDE], int64_t (*theirs)[WIDE]) {
  GOAL_Graph graph = GOAL_CreateGraph();
  int at, other;
  for (at = 0; at < WIDE; at++) {
    for (other = 0; other < size; other++) {
      if (other == rank) continue;
      GOAL_Send(graph, &mine[other][at], 8, other, WIDE - at, GOAL_USERSPACE);
      GOAL_Recv(graph, &theirs[other][at], 8, other, WIDE - at, GOAL_USERSPACE);
    }
  }
  return linked(name, graph);
}

static int64_t numbers[2], one = 1, own[2][WORDS], sums[2][WORDS];
static int64_t mine[RANKS][WIDE], theirs[RANKS][WIDE];

static void check_ring(int which) {
  int at, step;
  for (at = 0; at < WORDS; at++) {
    int64_t sum = 0;
    for (step = 0; step <= STEPS; step++) {
      sum += which + 1000 * ((rank + size * STEPS - step) % size) + at;
    }
    CHECK(sums[which][at] == sum);
    if (sums[which][at] != sum) return;
  }
}

/* Waits for runs in an order that differs between ranks and steps. */
static void wait_for(GOAL_Handle *runs, int count, int step) {
  int at, index;
  for (at = 0; at < count; at++) {
    GOAL_Handle *run = &runs[(at + rank + step) % count];
    switch ((step + rank + at) % 3) {
    case 0: CHECK(GOAL_Wait(*run) == 0); break;
    case 1:
      while (GOAL_Test(*run) == 0) continue;
      break;
    case 2: CHECK(GOAL_Waitany(1, run, &index) == 0); break;
    }
  }
}

/* Long runs with collectives of the communicator between their starts, short and long ones. */
static void mixed(void) {
  static int64_t input[512], output[RANKS * 512];
  GOAL_Schedule first = ping_pong("ping-pong", &numbers[0], &one, rounds_max);
  GOAL_Schedule second = ping_pong(NULL, &numbers[1], &one, 40);
  GOAL_Schedule rings[2], flat;
  GOAL_Handle runs[8];
  int step, at, other;
  for (at = 0; at < 2; at++) {
    rings[at] = ring(at == 0 ? "ring" : NULL, own[at], sums[at]);
    for (other = 0; other < WORDS; other++) own[at][other] = at + 1000 * rank + other;
  }
  flat = wide("wide", mine, theirs);
  for (step = 0; step < 6; step++) {
    int64_t sum = rank + step, total = -1;
    numbers[0] = numbers[1] = rank == 0 ? step : -1;
    for (at = 0; at < 512; at++) input[at] = 1000 * step + 10 * rank + at;
    for (other = 0; other < size; other++) {
      for (at = 0; at < WIDE; at++) mine[other][at] = step + 100 * rank + 10000 * at + other;
    }
    runs[0] = GOAL_Run(first);
    if (step % 4 == 1) CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == 0);
    runs[1] = GOAL_Iallreduce(&sum, &total, 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD);
    runs[2] = GOAL_Run(rings[0]);
    runs[3] = GOAL_Iallgather(input, output, 512, GOAL_INT64, GOAL_COMM_WORLD);
    runs[4] = GOAL_Run(second);
    runs[5] = GOAL_Run(flat);
    runs[6] = GOAL_Run(rings[1]);
    runs[7] = GOAL_Ibarrier(GOAL_COMM_WORLD);
    wait_for(runs, 8, step);
    CHECK(rank > 1 || (numbers[0] == step + rounds_max && numbers[1] == step + 40));
    CHECK(total == size * step + size * (size - 1) / 2);
    check_ring(0);
    check_ring(1);
    for (other = 0; other < size; other++) {
      CHECK(output[512 * other + 511] == 1000 * step + 10 * other + 511);
      for (at = 0; at < WIDE && other != rank; at++) {
        CHECK(theirs[other][at] == step + 100 * other + 10000 * at + rank);
      }
    }
  }
  CHECK(GOAL_FreeSchedule(first) == 0 && GOAL_FreeSchedule(second) == 0);
  CHECK(GOAL_FreeSchedule(rings[0]) == 0 && GOAL_FreeSchedule(rings[1]) == 0);
  CHECK(GOAL_FreeSchedule(flat) == 0);
}

/* A long run alone, again and again, by each way to wait. */
static void alone(void) {
  GOAL_Schedule schedule = ping_pong(NULL, &numbers[0], &one, rounds_max);
  int step;
  for (step = 0; step < 6; step++) {
    GOAL_Handle run;
    numbers[0] = step;
    if (step % 2 == 0) {
      CHECK(GOAL_Sched_run(schedule) == 0);
    } else {
      run = GOAL_Run(schedule);
      wait_for(&run, 1, step);
    }
    CHECK(numbers[0] == step + (rank < 2 ? rounds_max : 0));
  }
  CHECK(GOAL_FreeSchedule(schedule) == 0);
}

/* Schedules that can't be linked. */
static void refused(void) {
  static int64_t bytes[200];
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex all;
  int at;
  /* All sends come before all receives, so no rank may cut between them. */
  all = GOAL_LocalOp(graph, &bytes[180], &bytes[180], &bytes[181], GOAL_ADD, GOAL_SINT, 64, 1,
                     GOAL_USERSPACE, GOAL_USERSPACE, GOAL_USERSPACE);
  for (at = 0; at < 70; at++) {
    GOAL_Requires(graph, GOAL_Send(graph, bytes, 8, right(), at, GOAL_USERSPACE), all);
    GOAL_Requires(graph, all, GOAL_Recv(graph, &bytes[1 + at], 8, left(), at, GOAL_USERSPACE));
  }
  CHECK(GOAL_Sched_run(linked("circle", graph)) == 0);
  graph = GOAL_CreateGraph();
  for (at = 0; at < 2; at++) {
    GOAL_Send(graph, &bytes[at], 8, right(), 0, GOAL_USERSPACE);
    GOAL_Recv(graph, &bytes[2 + at], 8, left(), 0, GOAL_USERSPACE);
  }
  CHECK(GOAL_Sched_run(linked("without an order", graph)) == 0);
}

/* Both ranks wait after 100 rounds, each for a message that the other one sends later. */
static int stuck(void) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex last = GOAL_INVALID_VERTEX;
  int round;
  for (round = 0; round < 101; round++) {
    GOAL_Vertex send, recv;
    send = GOAL_Send(graph, &numbers[0], 8, 1 - rank, 0, GOAL_USERSPACE);
    recv = GOAL_Recv(graph, &numbers[1], 8, 1 - rank, 0, GOAL_USERSPACE);
    if (rank == 0 && round < 100) {
      after(graph, last, send);
      last = after(graph, send, recv);
    } else {
      after(graph, last, recv);
      last = after(graph, recv, send);
    }
  }
  return GOAL_Sched_run(linked("stuck", graph)) != GOAL_ERR_STUCK;
}

/* Rank 1 does not start the schedule, and waits for another message. */
static int missing(void) {
  GOAL_Schedule schedule = ping_pong("missing", &numbers[0], &one, rounds_max);
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Recv(graph, &numbers[1], 8, 0, 3, GOAL_USERSPACE);
  if (rank == 1) schedule = GOAL_Compile(graph);
  return GOAL_Sched_run(schedule) != GOAL_ERR_STUCK;
}

/* The last rank ends while the others wait for it in a long run. */
static int lost(void) {
  GOAL_Schedule schedule = ring("lost", own[0], sums[0]);
  GOAL_Graph graph = GOAL_CreateGraph();
  int other, code, last = size - 1;
  for (other = 0; other < last && rank == last; other++) {
    GOAL_Recv(graph, &numbers[0], 8, other, other, GOAL_USERSPACE);
  }
  if (rank != last) GOAL_Send(graph, &numbers[0], 8, last, rank, GOAL_USERSPACE);
  CHECK(GOAL_Sched_run(GOAL_Compile(graph)) == 0);
  if (rank == last) raise(SIGKILL);
  code = GOAL_Sched_run(schedule);
  printf("rank %d: %s\n", rank, code == GOAL_ERR_RANK_LOST ? "a rank is lost" : GOAL_Last_error());
  return GOAL_Finalize() != 0;
}

static int differs(void) {
  GOAL_Schedule first = ping_pong(NULL, &numbers[0], &one, 100);
  GOAL_Schedule second = ping_pong(NULL, &numbers[0], &one, 200);
  CHECK(GOAL_Sched_run(first) == 0 && GOAL_Sched_run(second) == 0);
  return GOAL_Sched_run(rank == 0 ? first : second) == 0;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "all";
  if (GOAL_Init() != 0) return 1;
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  if (strcmp(how, "stuck") == 0) return stuck();
  if (strcmp(how, "missing") == 0) return missing();
  if (strcmp(how, "lost") == 0) return lost();
  if (strcmp(how, "differs") == 0) return differs();
  if (strcmp(how, "few") == 0) rounds_max = 200;
  mixed();
  alone();
  refused();
  return GOAL_Finalize() != 0 || failures != 0;
}
