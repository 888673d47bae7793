// A rank that can't do its part ends the job. The calls of the others return an error.
// RUN: build %s
// RUN: goal-run -n 3 ./abort 2>&1 | sort
// RUN: goal-run -n 2 --timeout 60 ./abort handler 2>&1 | grep -o 'rank 0: from a handler'
// A handler may run amid a call of the library, which GOAL_Abort must not wait for.
#define _DEFAULT_SOURCE
#include <goal.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { NUMBERS = 200000 };

static void on_alarm(int signal) {
  GOAL_Abort("from a handler");
  (void)signal;
}

static int until_aborted(void) {
  static int in[NUMBERS], out[NUMBERS];
  struct itimerval soon = {{0, 0}, {0, 40000}};
  if (GOAL_MyRank() == 0) {
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  while (GOAL_Allreduce(in, out, NUMBERS, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) == 0) {
  }
  return 0;
}

int main(int argc, char **argv) {
  int code, number = 0;
  if (GOAL_Abort("too early") != GOAL_ERR_INIT) return 2;
  GOAL_Init();
  if (argc > 1 && argv[1]) {
    return until_aborted();
  }
  if (GOAL_MyRank() == 1) {
    code = GOAL_Abort("there is no memory");
    return code != 0 || GOAL_Barrier(GOAL_COMM_WORLD) != GOAL_ERR_FAILED;
  }
  code = GOAL_Bcast(&number, 1, GOAL_INT32, 1, GOAL_COMM_WORLD);
  return code != GOAL_ERR_STOPPED;
}
