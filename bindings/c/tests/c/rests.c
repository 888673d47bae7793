// A linked run ends while its rank waits in the engine for a message that never comes. The rank
// rests all the same, so the job is told as stuck.
// RUN: build %s
// RUN: for wait in adaptive block; do
// RUN:   goal-run -n 2 --timeout 60 --wait $wait ./rests 2>err || echo $?
// RUN:   cat err
// RUN: done
#define _DEFAULT_SOURCE
#include <goal.h>
#include <unistd.h>

int main(void) {
  static char bytes[8];
  GOAL_Handle run;
  GOAL_Graph one, other;
  GOAL_Schedule linked, alone;
  int me;
  GOAL_Init();
  me = GOAL_MyRank();
  one = GOAL_CreateGraph();
  other = GOAL_CreateGraph();
  if (me == 1) {
    GOAL_Send(one, bytes, 8, 0, 5, GOAL_USERSPACE);
  } else {
    GOAL_Recv(one, bytes, 8, 1, 5, GOAL_USERSPACE);
    GOAL_Recv(other, bytes, 8, 1, 1, GOAL_USERSPACE);
  }
  linked = GOAL_Compile(one);
  alone = GOAL_Compile(other);
  GOAL_Link(linked, GOAL_COMM_WORLD);
  if (me == 1) {
    usleep(50000);
  }
  run = GOAL_Run(linked);
  GOAL_Sched_run(alone);
  GOAL_Wait(run);
  GOAL_Finalize();
  return 0;
}
