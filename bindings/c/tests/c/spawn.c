// A job grows from 2 ranks to 8, one by one: each new rank takes part in the start of the next one,
// and is its root. Schedules of the first two ranks are in flight all the while.
// RUN: build %s
// RUN: goal-run -n 2 ./spawn
// RUN: goal-run -n 2 --progress thread ./spawn-cpp
// RUN: goal-run -n 2 --grow-to 8 --progress node ./spawn
// RUN: goal-run -n 1 ./spawn
// RUN: goal-run -n 2 --transport ^cma ./spawn
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 8, ROUNDS = 20, MANY = 100000 };

static int failed = 0;

static void check(int is_right, const char *what) {
  if (!is_right) {
    printf("rank %d: %s (%s)\n", GOAL_MyRank(), what, GOAL_Last_error());
    failed++;
  }
}

/* Exchanges numbers and large blocks with all ranks of a communicator. */
static void exchange(GOAL_Comm comm) {
  int rank = GOAL_Comm_rank(comm), size = GOAL_Comm_size(comm), sum = 0;
  int *in = (int *)malloc(sizeof(int) * MANY * size);
  int *out = (int *)malloc(sizeof(int) * MANY * size);
  check(GOAL_Allreduce(&rank, &sum, 1, GOAL_INT32, GOAL_ADD, comm) == 0, "allreduce");
  check(sum == size * (size - 1) / 2, "the sum of ranks");
  for (int i = 0; i < MANY * size; i++) {
    in[i] = rank * size + i / MANY;
  }
  check(GOAL_Alltoall(in, out, MANY, GOAL_INT32, comm) == 0, "alltoall");
  for (int i = 0; i < MANY * size; i++) {
    if (out[i] != i / MANY * size + rank) {
      check(0, "a block of the alltoall");
      break;
    }
  }
  free(in);
  free(out);
}

int main(void) {
  GOAL_Comm comm = GOAL_COMM_WORLD;
  GOAL_Handle inflight[2 * ROUNDS];
  GOAL_Schedule pingpong = 0;
  static double in[ROUNDS][MANY], out[ROUNDS][MANY];
  int number = 41, got = 0, first = 0, runs = 0;
  if (GOAL_Init() != 0) {
    printf("%s\n", GOAL_Last_error());
    return 1;
  }
  first = GOAL_GroupSize();
  if (!GOAL_Has_joined() && first == 2) {
    GOAL_Graph graph = GOAL_CreateGraph();
    int other = 1 - GOAL_MyRank();
    GOAL_Vertex r = GOAL_Recv(graph, &got, sizeof got, other, 7, GOAL_USERSPACE);
    GOAL_Vertex s = GOAL_Send(graph, &number, sizeof number, other, 7, GOAL_USERSPACE);
    if (GOAL_MyRank() == 1) {
      check(GOAL_Requires(graph, r, s) == 0, "requires");
    }
    pingpong = GOAL_Compile(graph);
    check(pingpong != 0, "compile");
  }
  exchange(comm);
  while (GOAL_Comm_size(comm) < RANKS) {
    if (pingpong != 0 && runs + 2 <= 2 * ROUNDS) {
      int round = runs / 2;
      for (int i = 0; i < MANY; i++) {
        in[round][i] = i + GOAL_MyRank();
      }
      inflight[runs++] = GOAL_Iallreduce(in[round], out[round], MANY, GOAL_FLOAT64, GOAL_ADD,
                                         GOAL_COMM_WORLD);
      inflight[runs++] = GOAL_Run(pingpong);
    }
    int size = GOAL_Comm_size(comm);
    GOAL_Comm larger = GOAL_Spawn(NULL, NULL, 1, size - 1, comm);
    check(larger != 0, "spawn");
    if (larger == 0) {
      return 1;
    }
    check(GOAL_Comm_size(larger) == size + 1, "the size");
    check(GOAL_Comm_rank(larger) == GOAL_Comm_rank(comm), "the rank");
    comm = larger;
    exchange(comm);
  }
  check(GOAL_GroupSize() == first, "the size of the group stays");
  if (runs > 0) {
    check(GOAL_Waitall(runs, inflight) == 0, "the schedules in flight");
    for (int round = 0; round < runs / 2; round++) {
      for (int i = 0; i < MANY; i++) {
        if (out[round][i] != 2 * i + 1) {
          check(0, "an allreduce in flight");
          break;
        }
      }
    }
    check(got == number, "a ping-pong in flight");
  }
  int sum = 0;
  check(GOAL_Allreduce(&failed, &sum, 1, GOAL_INT32, GOAL_ADD, comm) == 0, "the last");
  if (GOAL_Comm_rank(comm) == 0) {
    printf("%d ranks, %d failed\n", GOAL_Comm_size(comm), sum);
  }
  return GOAL_Finalize() != 0;
}
