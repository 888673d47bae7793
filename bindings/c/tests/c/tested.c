// Tests of runs that have ended, and of no runs, make progress: another run ends in them.
// RUN: build %s
// RUN: goal-run -n 2 --timeout 60 ./tested
// RUN: goal-run -n 3 --timeout 60 ./tested-cpp
// RUN: goal-run -n 2 --timeout 60 --progress thread ./tested
#include <goal.h>
#include <stdio.h>

enum { TEST, TESTALL, TESTALL_NULL, TESTALL_NONE, TESTANY_NULL, TESTANY_NONE, TESTANY, WAYS };

static volatile int done;

static void end(GOAL_Handle handle, void *arg) {
  (void)handle, (void)arg;
  done = 1;
}

int main(void) {
  int failed = 0;
  if (GOAL_Init() != 0) {
    return 1;
  }
  for (int way = 0; way < WAYS; way++) {
    GOAL_Handle first = GOAL_Ibarrier(GOAL_COMM_WORLD), second;
    failed += GOAL_Wait(first) != 0;
    second = GOAL_Ibarrier(GOAL_COMM_WORLD);
    done = 0;
    failed += GOAL_On_end(second, end, NULL) != 0;
    while (!done) {
      GOAL_Handle null = GOAL_HANDLE_NULL, ended = first;
      int at = 7, result = -1;
      switch (way) {
      case TEST:
        result = GOAL_Test(first);
        break;
      case TESTALL:
        result = GOAL_Testall(1, &first);
        break;
      case TESTALL_NULL:
        result = GOAL_Testall(1, &null);
        break;
      case TESTALL_NONE:
        result = GOAL_Testall(0, NULL);
        break;
      case TESTANY_NULL:
        result = GOAL_Testany(1, &null, &at);
        failed += at != GOAL_UNDEFINED;
        break;
      case TESTANY_NONE:
        result = GOAL_Testany(0, NULL, &at);
        failed += at != GOAL_UNDEFINED;
        break;
      case TESTANY:
        result = GOAL_Testany(1, &ended, &at);
        failed += at != 0 || ended != GOAL_HANDLE_NULL;
        break;
      }
      failed += result != 1;
    }
    failed += GOAL_Wait(second) != 0;
  }
  if (GOAL_MyRank() == 0 || failed != 0) {
    printf("%d failed\n", failed);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
