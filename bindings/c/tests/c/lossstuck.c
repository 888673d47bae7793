// The ranks that are left after a loss wait for each other: the job is stuck.
// RUN: build %s
// RUN: goal-run --survive -n 4 --timeout 60 ./lossstuck 1 0 2>/dev/null || echo $?
// RUN: goal-run --survive -n 4 --timeout 60 --progress thread ./lossstuck 3 0 2>/dev/null || echo $?
#define _POSIX_C_SOURCE 200809L
#include <goal.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* lossstuck LEAVER KILLED...: some are killed while LEAVER computes, which then ends. */
int main(int argc, char **argv) {
  const struct timespec time = {0, 1000000};
  GOAL_Comm comm = GOAL_COMM_WORLD;
  int lost[64], i, rank, value = 0;
  if (argc < 3 || GOAL_Init() != 0) {
    return 10;
  }
  /* All have begun, and some may know of a loss. */
  GOAL_Barrier(comm);
  rank = GOAL_MyRank();
  for (i = 2; i < argc; i++) {
    if (rank == atoi(argv[i])) {
      raise(SIGKILL);
    }
  }
  if (rank == atoi(argv[1])) {
    while (GOAL_Comm_lost(GOAL_COMM_WORLD, lost, 64) != argc - 2) {
      nanosleep(&time, NULL);
    }
    return GOAL_Finalize();
  }
  do {
    if (GOAL_Barrier(comm) != GOAL_ERR_RANK_LOST) {
      return 11;
    }
    comm = GOAL_Comm_shrink(comm);
    if (comm == NULL) {
      return 12;
    }
  } while (GOAL_Comm_size(comm) != GOAL_GroupSize() - (argc - 1));
  /* Each waits for a message of another one, which waits too. */
  rank = (GOAL_Comm_rank(comm) + 1) % GOAL_Comm_size(comm);
  return GOAL_Bcast(&value, 1, GOAL_INT32, rank, comm) == GOAL_ERR_STUCK ? 0 : 13;
}
