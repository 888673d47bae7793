// Ranks that goal-run grow starts wait until the program accepts them, in two groups: first with its
// own program and then with another one. A job that has ended can not grow.
// RUN: build %s
// RUN: cp accept other
// RUN: goal-run -n 2 --grow-to 8 ./accept 3 2>errors & job=$!
// RUN: while ! goal-run grow $job 2>/dev/null; do sleep 0.1; done
// RUN: goal-run grow $job -n 2 -- ./other 3 >grown
// RUN: wait $job
// RUN: cat grown errors
// RUN: goal-run grow $job 2>&1 | sed "s/$job/JOB/"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int more = argc > 1 ? atoi(argv[1]) : 0, sum, one = 1;
  GOAL_Comm comm = GOAL_COMM_WORLD;
  if (GOAL_Init() != 0) {
    printf("%s\n", GOAL_Last_error());
    return 1;
  }
  while (GOAL_Comm_size(comm) < 2 + more) {
    int waiting = GOAL_Joining();
    if (GOAL_Bcast(&waiting, 1, GOAL_INT32, 0, comm) != 0) {
      return 1;
    }
    if (waiting > 0) {
      GOAL_Comm larger = GOAL_Accept(comm);
      if (larger == 0) {
        printf("%s\n", GOAL_Last_error());
        return 1;
      }
      comm = larger;
    } else {
      usleep(1000);
    }
  }
  if (GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, comm) != 0) {
    return 1;
  }
  if (GOAL_Comm_rank(comm) == 0) {
    printf("%d ranks\n", sum);
  }
  return GOAL_Finalize() != 0;
}
