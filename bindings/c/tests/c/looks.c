// Loops of every kind of test count as tests in vain. A rank that looks at its run now and then, and
// computes in between, computes.
// RUN: build %s
// RUN: for test in one all any; do
// RUN:   goal-run -n 2 --timeout 60 --stuck end,0.2 ./looks $test 2>err || echo $?
// RUN:   sed 's/number [0-9]*/number N/' err
// RUN: done
// RUN: goal-run -n 2 --timeout 60 --stuck end,0.4 ./looks now-and-then
#define _DEFAULT_SOURCE
#include <goal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Starts a run of one action: a receive from the other rank, or a send to it. */
static GOAL_Handle run(int is_send, char *bytes) {
  GOAL_Graph graph = GOAL_CreateGraph();
  int other = 1 - GOAL_MyRank();
  if (is_send) {
    GOAL_Send(graph, bytes, 8, other, 5, GOAL_USERSPACE);
  } else {
    GOAL_Recv(graph, bytes, 8, other, 5, GOAL_USERSPACE);
  }
  return GOAL_Run(GOAL_Compile(graph));
}

int main(int argc, char **argv) {
  static char bytes[8];
  const char *part = argc > 1 ? argv[1] : "";
  int index, me, code = 0;
  if (GOAL_Init() != 0) {
    return 9;
  }
  me = GOAL_MyRank();
  if (strcmp(part, "now-and-then") == 0) {
    /* Rank 0 looks at what rank 1 sends after a computation. */
    if (me == 0) {
      GOAL_Handle got = run(0, bytes);
      for (int look = 0; look < 3; look++) {
        GOAL_Test(got);
      }
      for (double end = now() + 1.2; now() < end;) {
      }
      code = GOAL_Wait(got);
    } else {
      for (double end = now() + 1.2; now() < end;) {
      }
      code = GOAL_Wait(run(1, bytes));
    }
    return GOAL_Finalize() != 0 || code != 0;
  }
  GOAL_Handle never = run(0, bytes);
  while (code == 0) {
    code = strcmp(part, "all") == 0   ? GOAL_Testall(1, &never)
           : strcmp(part, "any") == 0 ? GOAL_Testany(1, &never, &index)
                                      : GOAL_Test(never);
  }
  return code == GOAL_ERR_STUCK ? 3 : 1;
}
