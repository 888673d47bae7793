// A root runs ahead of a rank that first waits for its message. Up to a bound the program ends. Beyond
// it both ranks wait, and the job is told as stuck. In the engine a root may run ahead without end.
// RUN: build %s
// RUN: for mode in caller thread; do
// RUN:   goal-run -n 2 --timeout 60 --progress $mode ./ahead 49
// RUN:   goal-run -n 2 --timeout 60 --progress $mode ./ahead 80 2>err || echo $?
// RUN:   cat err
// RUN: done
// RUN: goal-run -n 2 --timeout 60 --wait spin ./ahead 80 2>/dev/null || echo $?
// RUN: goal-run -n 2 --timeout 60 --wait block ./ahead 80 2>/dev/null || echo $?
// RUN: goal-run -n 2 --timeout 60 --no-links ./ahead 80
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int ahead = argc > 1 ? atoi(argv[1]) : 0, me, at, number, status = 0;
  const int both[2] = {0, 1};
  char bytes[8] = "";
  GOAL_Graph graph;
  GOAL_Schedule message;
  GOAL_Init();
  me = GOAL_MyRank();
  /* The ranks start the schedules of a communicator in one order, so the message has its own. */
  graph = GOAL_CreateGraphOn(GOAL_Comm_create(GOAL_COMM_WORLD, both, 2));
  if (me == 0) {
    GOAL_Send(graph, bytes, 8, 1, 5, GOAL_USERSPACE);
  } else {
    GOAL_Recv(graph, bytes, 8, 0, 5, GOAL_USERSPACE);
  }
  message = GOAL_Compile(graph);
  if (me == 1) {
    status = GOAL_Sched_run(message);
  }
  for (at = 0; at < ahead && status == 0; at++) {
    number = me == 0 ? at : -1;
    status = GOAL_Bcast(&number, 1, GOAL_INT32, 0, GOAL_COMM_WORLD);
    if (status == 0 && number != at) {
      return 1;
    }
  }
  if (me == 0 && status == 0) {
    status = GOAL_Sched_run(message);
  }
  if (status != 0) {
    return status == GOAL_ERR_STUCK ? 0 : 2;
  }
  if (me == 0) {
    printf("%d ahead\n", ahead);
  }
  return GOAL_Finalize() != 0;
}
