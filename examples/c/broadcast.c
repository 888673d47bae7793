// Listing 2 of the 2009 paper: a broadcast by a binomial tree.
// RUN: build %s
// RUN: ./broadcast && goal-run -n 2 ./broadcast && goal-run -n 5 ./broadcast
// RUN: goal-run -n 4 ./broadcast-cpp
//
// Differences from the print: it is pseudocode, and C has no default arguments. 2^r is written as a
// shift.
#include <goal.h>
#include <stdio.h>

int main(void) {
  int buf[256] = {0}, size = sizeof buf, i, p, wrong = 0;
  GOAL_Graph g;
  GOAL_Vertex rcv, send;
  GOAL_Schedule sched;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  i = GOAL_MyRank();
  p = GOAL_GroupSize();
  for (int at = 0; i == 0 && at < 256; at++) {
    buf[at] = at + 1;
  }
  g = GOAL_Create();
  rcv = -1; /* valid identifiers are >= 0 */
  for (int r = 0; 1 << r < p; r++) {
    send = -1;
    if (i + (1 << r) < p && i < 1 << r) {
      send = GOAL_Send(g, buf, size, i + (1 << r), 0, GOAL_USERSPACE);
    }
    if (send >= 0 && rcv >= 0) {
      GOAL_Requ(g, send, rcv);
    }
    if (i >= 1 << r && i < 1 << (r + 1)) {
      rcv = GOAL_Rcv(g, buf, size, i - (1 << r), 0, GOAL_USERSPACE);
    }
  }
  sched = GOAL_Compile(g);
  if (GOAL_Sched_run(sched) != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  for (int at = 0; at < 256; at++) {
    wrong += buf[at] != at + 1;
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (i == 0) {
    printf("%d ranks: %d wrong numbers\n", p, wrong);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrong != 0;
}
