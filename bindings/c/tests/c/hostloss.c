// Ranks of other hosts go on after the loss of a whole host. On one host this is a job without a
// loss; the test of jobs over TCP kills a launcher. With an argument, each rank says that it runs.
// RUN: build %s
// RUN: goal-run --survive -n 2 ./hostloss
#include <goal.h>
#include <stdio.h>

int main(int argc, char **argv) {
  GOAL_Comm comm = GOAL_COMM_WORLD;
  long step = 0, steps = argc > 1 ? -1 : 100, at;
  int status;
  (void)argv;
  if (GOAL_Init() != 0) {
    return 1;
  }
  while (step != steps) {
    long out, one = 1;
    status = GOAL_Allreduce(&one, &out, 1, GOAL_INT64, GOAL_ADD, comm);
    if (status == GOAL_ERR_RANK_LOST) {
      printf("rank %d: %s\n", GOAL_MyRank(), GOAL_Last_error());
      comm = GOAL_Comm_shrink(comm);
      status = GOAL_Allreduce(&step, &at, 1, GOAL_INT64, GOAL_MAX, comm);
      step = at;
      steps = at + 100;
    } else if (out != GOAL_Comm_size(comm)) {
      status = 1;
    } else if (++step == 1 && argc > 1) {
      printf("running\n");
      fflush(stdout);
    }
    if (status != 0) {
      printf("rank %d: %d: %s\n", GOAL_MyRank(), status, GOAL_Last_error());
      return 1;
    }
  }
  printf("%d left\n", GOAL_Comm_size(comm));
  fflush(stdout);
  return GOAL_Finalize();
}
