// The rank's thread tells the ends of small collectives while the program makes no call. Their
// messages come one by one, the mode has changed before, or the runs wait for room.
// RUN: build %s
// RUN: goal-run -n 3 --timeout 60 --progress thread ./told one-by-one
// RUN: goal-run -n 3 --timeout 60 ./told changed
// RUN: goal-run -n 3 --timeout 60 --progress thread ./told room
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <goal.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 30, AHEAD = 100 };

static sem_t ended;
static int me;

static void check(int holds, const char *what) {
  if (!holds) {
    printf("rank %d: %s: %s\n", me, what, GOAL_Last_error());
    exit(1);
  }
}

static void post(GOAL_Handle run, void *arg) {
  check(run != NULL && arg == &ended, "the arguments");
  sem_post(&ended);
}

/* Tells the next rank that this one has come here, and waits for that without a call. */
static void tell(int round) {
  char name[32];
  snprintf(name, sizeof name, "told.%d.%d", me, round);
  check(close(open(name, O_CREAT | O_WRONLY, 0600)) == 0, name);
}

static void await(int rank, int round) {
  char name[32];
  snprintf(name, sizeof name, "told.%d.%d", rank, round);
  while (access(name, F_OK) != 0) {
    usleep(100);
  }
  check(unlink(name) == 0, name);
  /* The thread of rank 0 has time to notice what came before. */
  usleep(1000);
}

/* Ranks add one after the other: rank 0, then in turn rank 1 or rank 2 before the other one. */
static void sums(int changes) {
  for (int round = 0; round < ROUNDS; round++) {
    int in = me + round, out = 0;
    GOAL_Handle run;
    const int first = 1 + round % 2;
    if (me > 0) {
      await(me == first ? 0 : first, round);
    }
    run = GOAL_Iallreduce(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
    if (me == 0) {
      check(GOAL_On_end(run, post, &ended) == 0, "GOAL_On_end");
      check(!changes || GOAL_Set_progress(GOAL_PROGRESS_THREAD) == 0, "GOAL_Set_progress");
    }
    if (me == 0 || me == first) {
      tell(round);
    }
    if (me == 0) {
      sem_wait(&ended);
      check(out == 3 + 3 * round, "a sum");
      check(!changes || GOAL_Set_progress(GOAL_PROGRESS_CALLER) == 0, "GOAL_Set_progress");
    }
    check(GOAL_Wait(run) == 0, "GOAL_Wait");
  }
}

/* The root starts more runs than its board has room for. */
static void room(void) {
  static int numbers[AHEAD];
  static GOAL_Handle runs[AHEAD];
  for (int at = 0; at < AHEAD; at++) {
    if (me > 0 && at == 0) {
      await(me - 1, 0);
    }
    numbers[at] = me == 0 ? at : -1;
    runs[at] = GOAL_Ibcast(&numbers[at], 1, GOAL_INT32, 0, GOAL_COMM_WORLD);
    if (me > 0) {
      check(GOAL_Wait(runs[at]) == 0 && numbers[at] == at, "GOAL_Ibcast");
    }
    if (me == 1 && at == 0) {
      tell(0);
    }
  }
  if (me == 0) {
    check(GOAL_On_end(runs[AHEAD - 1], post, &ended) == 0, "GOAL_On_end");
    tell(0);
    sem_wait(&ended);
    check(GOAL_Waitall(AHEAD, runs) == 0, "GOAL_Waitall");
  }
}

int main(int argc, char **argv) {
  if (argc != 2 || GOAL_Init() != 0 || sem_init(&ended, 0, 0) != 0) {
    return 9;
  }
  me = GOAL_MyRank();
  if (strcmp(argv[1], "room") == 0) {
    room();
  } else {
    sums(strcmp(argv[1], "changed") == 0);
  }
  if (me == 0) {
    printf("%s: ended\n", argv[1]);
  }
  return GOAL_Finalize() != 0;
}
