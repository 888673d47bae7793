/* A program without MPI that mpirun starts: its processes are ranks. With the argument `fail`,
   rank 1 ends before its time; with `kill`, by a signal. */
#include <goal.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (GOAL_Init()) {
    fprintf(stderr, "GOAL_Init: %s\n", GOAL_Last_error());
    return 1;
  }
  int rank = GOAL_Comm_rank(GOAL_COMM_WORLD), size = GOAL_Comm_size(GOAL_COMM_WORLD);
  if (rank == 1 && !strcmp(how, "fail")) return 3;
  if (rank == 1 && !strcmp(how, "kill")) raise(SIGKILL);
  int mine = rank + 1, sum = 0;
  if (GOAL_Allreduce(&mine, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD)) {
    fprintf(stderr, "GOAL_Allreduce: %s\n", GOAL_Last_error());
    return 1;
  }
  printf("rank %d of %d: %s\n", rank, size, sum == size * (size + 1) / 2 ? "right" : "WRONG");
  return GOAL_Finalize() != GOAL_SUCCESS;
}
