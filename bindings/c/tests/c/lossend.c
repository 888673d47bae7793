// After a loss, ranks may end instead of going on; without --survive it ends the job.
// RUN: build %s
// RUN: goal-run --survive -n 3 ./lossend 2>&1 || echo $?
// RUN: goal-run --survive -n 4 ./lossend part 2>&1 || echo $?
// RUN: goal-run --survive -n 1 ./lossend 2>&1 || echo $?
// RUN: goal-run -n 3 ./lossend 2>&1 || echo $?
// RUN: goal-run --survive -n 2 --progress node ./lossend 2>&1 || echo $?
#include <goal.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int status;
  (void)argv;
  GOAL_Init();
  if (GOAL_MyRank() == 0) {
    raise(SIGKILL);
  }
  status = GOAL_Barrier(GOAL_COMM_WORLD);
  if (status != GOAL_ERR_RANK_LOST) {
    printf("%d: %s\n", status, GOAL_Last_error());
  }
  /* Rank 1 has no part in what the others do. */
  if (argc > 1 && GOAL_MyRank() > 1) {
    GOAL_Comm left = GOAL_Comm_shrink(GOAL_COMM_WORLD);
    status = GOAL_Comm_size(left) == GOAL_GroupSize() - 1 ? GOAL_Barrier(left) : 0;
    if (GOAL_Comm_size(left) == GOAL_GroupSize() - 2) {
      status = GOAL_Barrier(left);
    }
    if (status != 0) {
      printf("left %d: %d: %s\n", GOAL_Comm_size(left), status, GOAL_Last_error());
    }
  }
  return GOAL_Finalize() != 0;
}
