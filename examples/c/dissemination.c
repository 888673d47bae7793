// Listing 3 of the 2009 paper: an n-way dissemination with a reduction.
// RUN: build %s
// RUN: ./dissemination && goal-run -n 2 ./dissemination && goal-run -n 4 ./dissemination
// RUN: goal-run -n 3 ./dissemination-cpp && goal-run -n 9 ./dissemination-cpp
//
// Differences from the print:
// - The last round's data is combined after the loop; the print ends without that.
// - The reduction into localbuf waits for the chain of reductions before it, where the print says
//   rcv[0], and for the sends of the round before, which read localbuf.
// - A receive waits for the reduction that reads its buffer.
// - The operation is the maximum. With a sum, the number of ranks would have to be a power of n + 1,
//   as other numbers meet some inputs twice.
#include <goal.h>
#include <stdio.h>

#define US GOAL_USERSPACE
enum { WAYS_MAX = 3, VALUES = 64 };

static int localbuf[VALUES], buf[WAYS_MAX][VALUES];

/* Combines what a round has brought, after the messages of the round. Returns the last action. */
static GOAL_Vertex combine(GOAL_Graph g, int op, int n, const GOAL_Vertex *send,
                           const GOAL_Vertex *rcv) {
  const int size = sizeof localbuf;
  GOAL_Vertex prev = rcv[0], red;
  for (int w = 1; w <= n - 1; w++) {
    red = GOAL_Exec(g, op, buf[w - 1], size, buf[w], size, US, US);
    GOAL_Requ(g, red, rcv[w]);
    GOAL_Requ(g, red, prev);
    prev = red;
  }
  red = GOAL_Exec(g, op, buf[n - 1], size, localbuf, size, US, US);
  GOAL_Requ(g, red, prev);
  for (int w = 1; w <= n; w++) {
    GOAL_Requ(g, red, send[w - 1]);
  }
  return red;
}

static GOAL_Schedule dissemination(int i, int p, int n) {
  const int size = sizeof localbuf, op = GOAL_PREDEFINED(GOAL_MAX, GOAL_INT32);
  GOAL_Vertex send[WAYS_MAX], rcv[WAYS_MAX], red = GOAL_INVALID_VERTEX;
  GOAL_Graph g = GOAL_Create();
  GOAL_Schedule sched;
  int rounds = 0;
  /* step is (n + 1)^r */
  for (int step = 1; step < p; step *= n + 1, rounds++) {
    if (rounds > 0) {
      red = combine(g, op, n, send, rcv);
    }
    for (int w = 1; w <= n; w++) {
      send[w - 1] = GOAL_Send(g, localbuf, size, (i + w * step) % p, 0, US);
      if (rounds > 0) {
        GOAL_Requ(g, send[w - 1], red);
      }
    }
    for (int w = 1; w <= n; w++) {
      rcv[w - 1] = GOAL_Rcv(g, buf[w - 1], size, ((i - w * step) % p + p) % p, 0, US);
      if (rounds > 0) {
        GOAL_Requ(g, rcv[w - 1], red);
      }
    }
  }
  if (rounds > 0) {
    combine(g, op, n, send, rcv);
  }
  sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

int main(void) {
  int i, p, wrong = 0;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  i = GOAL_MyRank();
  p = GOAL_GroupSize();
  for (int n = 1; n <= WAYS_MAX; n++) {
    GOAL_Schedule sched = dissemination(i, p, n);
    for (int at = 0; at < VALUES; at++) {
      localbuf[at] = 1000 * ((i + at) % p) + at;
    }
    if (GOAL_Sched_run(sched) != GOAL_SUCCESS) {
      puts(GOAL_Last_error());
      return 1;
    }
    for (int at = 0; at < VALUES; at++) {
      wrong += localbuf[at] != 1000 * (p - 1) + at;
    }
    GOAL_FreeSchedule(sched);
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (i == 0) {
    printf("%d ranks: %d wrong numbers\n", p, wrong);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrong != 0;
}
