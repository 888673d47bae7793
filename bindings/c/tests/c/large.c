// Messages of a program's own memory, shorter and longer than a ring. The receiver waits, computes,
// or has not posted the receive yet.
// RUN: build %s
// RUN: goal-run -n 2 ./large
// RUN: goal-run -n 3 --progress thread ./large
// RUN: goal-run -n 2 --eager-limit 0 ./large
// RUN: goal-run -n 2 --ring 4K ./large
// RUN: goal-run -n 3 --unexpected-limit 1M ./large
// RUN: goal-run -n 2 --transport ^cma ./large
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LONGEST = 5000001, ELEMENTS = 700001 };

static unsigned char byte_of(int rank, int round, int at) {
  return (unsigned char)(rank * 31 + round * 7 + at % 251);
}

static void compute(void) {
  struct timespec pause = {0, 3000000};
  nanosleep(&pause, NULL);
}

// Every rank sends to the next one. In every third round rank 0 starts late, in every third it
// computes before it waits.
static int exchange(unsigned char *out, unsigned char *in, int bytes, int round) {
  int rank = GOAL_MyRank(), size = GOAL_GroupSize(), wrong = 0;
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  GOAL_Handle run;
  for (int at = 0; at < bytes; at++) {
    out[at] = byte_of(rank, round, at);
    in[at] = 0;
  }
  GOAL_Send(graph, out, bytes, (rank + 1) % size, 1, GOAL_USERSPACE);
  GOAL_Recv(graph, in, bytes, (rank + size - 1) % size, 1, GOAL_USERSPACE);
  schedule = GOAL_Compile(graph);
  if (round % 3 == 1 && rank == 0) {
    compute();
  }
  run = GOAL_Run(schedule);
  if (round % 3 == 2 && rank == 0) {
    compute();
  }
  wrong += GOAL_Wait(run) != 0;
  for (int at = 0; at < bytes; at++) {
    wrong += in[at] != byte_of((rank + size - 1) % size, round, at);
  }
  return wrong + (GOAL_FreeSchedule(schedule) != 0) + (GOAL_FreeGraph(graph) != 0);
}

int main(void) {
  const int lengths[] = {16384, 16385, 65536, 1048576, 1048577, 1048584, 3000000, LONGEST};
  unsigned char *out = (unsigned char *)malloc(LONGEST), *in = (unsigned char *)malloc(LONGEST);
  int *sums = (int *)malloc(ELEMENTS * sizeof *sums);
  int wrong = 0, round = 0;
  if (GOAL_Init() != 0 || out == NULL || in == NULL || sums == NULL) {
    return 1;
  }
  for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
    for (int turn = 0; turn < 6; turn++) {
      wrong += exchange(out, in, lengths[i], round++) != 0;
    }
  }
  for (int turn = 0; turn < 3; turn++) {
    for (int at = 0; at < ELEMENTS; at++) {
      sums[at] = at + turn * GOAL_MyRank();
    }
    wrong += GOAL_Allreduce(GOAL_IN_PLACE, sums, ELEMENTS, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) != 0;
    for (int at = 0; at < ELEMENTS; at++) {
      int size = GOAL_GroupSize();
      wrong += sums[at] != at * size + turn * size * (size - 1) / 2;
    }
  }
  if (wrong != 0 || GOAL_MyRank() == 0) {
    printf("%d wrong\n", wrong);
  }
  free(out);
  free(in);
  free(sums);
  return GOAL_Finalize() != 0 || wrong != 0;
}
