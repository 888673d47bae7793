// A rank that can't do its part ends the job. The calls of the others return an error.
// RUN: build %s
// RUN: goal-run -n 3 ./abort 2>&1 | sort
#include <goal.h>
#include <stdio.h>

int main(void) {
  int code, number = 0;
  if (GOAL_Abort("too early") != GOAL_ERR_INIT) return 2;
  GOAL_Init();
  if (GOAL_MyRank() == 1) {
    code = GOAL_Abort("there is no memory");
    return code != 0 || GOAL_Barrier(GOAL_COMM_WORLD) != GOAL_ERR_FAILED;
  }
  code = GOAL_Bcast(&number, 1, GOAL_INT32, 1, GOAL_COMM_WORLD);
  return code != GOAL_ERR_STOPPED;
}
