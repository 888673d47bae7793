// A rank is lost while it waits in GOAL_Finalize for the others, which learn of it as of any loss. A
// rank that has come to its end after that is no loss.
// RUN: build %s
// RUN: goal-run --survive -n 4 --timeout 60 ./finalized 1 2 2>&1 | sort
// RUN: goal-run --survive -n 4 --timeout 60 --progress thread ./finalized 3 0 2>&1 | sort
#define _POSIX_C_SOURCE 200809L
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int holds, const char *what) {
  if (!holds) {
    printf("%s: ", GOAL_Last_error());
    printf("rank %d: %s\n", GOAL_MyRank(), what);
    fflush(stdout);
    exit(1);
  }
}

static void pause_ms(long ms) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = ms * 1000000;
  nanosleep(&time, NULL);
}

static void *kills(void *unused) {
  (void)unused;
  pause_ms(300);
  raise(SIGKILL);
  return NULL;
}

static int finalize_and_die(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, kills, NULL);
  return GOAL_Finalize();
}

/* finalized VICTIM SECOND: VICTIM is lost in GOAL_Finalize, and later SECOND, which has not gone on. */
int main(int argc, char **argv) {
  int victim, second, rank, i, n, status, one = 1, sum = 0;
  int others[64];
  GOAL_Comm comm;
  if (argc != 3 || GOAL_Init() != 0) {
    return 1;
  }
  victim = atoi(argv[1]);
  second = atoi(argv[2]);
  rank = GOAL_MyRank();
  if (rank == victim) {
    return finalize_and_die();
  }
  for (i = n = 0; i < GOAL_GroupSize() && n < 64; i++) {
    if (i != victim) {
      others[n++] = i;
    }
  }
  comm = GOAL_Comm_create(GOAL_COMM_WORLD, others, n);
  check(comm != NULL, "GOAL_Comm_create");
  do {
    status = GOAL_Barrier(comm);
  } while (status == 0);
  check(status == GOAL_ERR_RANK_LOST, "another error than the loss");
  if (rank == second) {
    return finalize_and_die();
  }
  comm = GOAL_Comm_shrink(comm);
  check(comm != NULL, "GOAL_Comm_shrink");
  for (i = 0; i < 60; i++) {
    check(GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, comm) == 0, "GOAL_Allreduce");
    check(sum == GOAL_GroupSize() - 2, "a wrong sum");
    pause_ms(10);
  }
  printf("rank %d is one of %d\n", rank, sum);
  fflush(stdout);
  return GOAL_Finalize();
}
