// A function of the program that is called while a call waits. It may take locks under which other
// threads call the library, and may end the job. The ranks do not sleep, and are found stuck still.
// RUN: build %s
// RUN: for mode in caller thread; do
// RUN:   goal-run -n 2 --timeout 60 --progress $mode ./idle
// RUN: done
// RUN: goal-run -n 2 --timeout 60 --wait block ./idle
// RUN: goal-run -n 2 --timeout 60 ./idle-cpp
// RUN: goal-run -n 2 --timeout 60 ./idle abort 2>&1 | grep -o 'rank 0: from an idle function'
// RUN: goal-run -n 2 --timeout 60 --stuck end,0.2 ./idle stuck 2>err || echo $?
// RUN: sed 's/number [0-9]*/number N/' err
#define _DEFAULT_SOURCE
#include <goal.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The file that tells rank 1 that rank 0 was idle. */
static const char *const told = "idle.told";
static int failures, calls, refused;
static pthread_t caller;
/* A collective that can run, and the handle of its run that has ended. */
static GOAL_Schedule ready;
static GOAL_Handle ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      __atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST);                                \
      printf("line %d: %s; %s\n", __LINE__, #condition, GOAL_Last_error());              \
    }                                                                                    \
  } while (0)

static int count(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }

static void idle(void) {
  /* The other thread holds it while it calls the library. */
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  if (failures == 0) {
    CHECK(GOAL_Test(ended) == GOAL_ERR_UNSUPPORTED);
    CHECK(GOAL_Run(ready) == GOAL_HANDLE_NULL);
    CHECK(GOAL_Last_error_code() == GOAL_ERR_UNSUPPORTED);
    CHECK(GOAL_Wait(ended) == GOAL_ERR_UNSUPPORTED);
  }
  if (refused == 0) {
    CHECK(pthread_equal(pthread_self(), caller));
    CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == GOAL_ERR_UNSUPPORTED);
    CHECK(GOAL_Set_idle(NULL) == GOAL_ERR_UNSUPPORTED);
    refused = 1;
  }
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

/* Calls the library under the lock while the first thread waits. */
static void *call(void *arg) {
  FILE *file;
  int before;
  pthread_mutex_lock(&lock);
  for (int at = 0; at < 50; at++) {
    CHECK(GOAL_Testall(0, NULL) == 1);
    usleep(200);
  }
  before = count();
  pthread_mutex_unlock(&lock);
  while (count() == before) {
    usleep(100);
  }
  file = fopen(told, "w");
  CHECK(file != NULL && fclose(file) == 0);
  return arg;
}

static void aborts(void) { GOAL_Abort("from an idle function"); }

/* Waits for a message that never comes. */
static int wait_for_ever(void) {
  static char bytes[8];
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Recv(graph, bytes, 8, 1 - GOAL_MyRank(), 5, GOAL_USERSPACE);
  return GOAL_Wait(GOAL_Run(GOAL_Compile(graph)));
}

int main(int argc, char **argv) {
  pthread_t other;
  int me, before, word = 0, sum = 0, in = 0, out = 0;
  GOAL_Schedule prepared;
  CHECK(GOAL_Set_idle(idle) == GOAL_ERR_INIT);
  if (GOAL_Init() != 0) {
    return 9;
  }
  me = GOAL_MyRank();
  caller = pthread_self();
  ready = GOAL_Allreduce_init(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  for (int twice = 0; twice < 2; twice++) {
    ended = GOAL_Run(ready);
    CHECK(GOAL_Wait(ended) == 0);
  }
  if (argc > 1) {
    GOAL_Set_idle(me == 0 && strcmp(argv[1], "abort") == 0 ? aborts : idle);
    return wait_for_ever() != 0 ? 3 : 0;
  }
  CHECK(GOAL_IsExtensionAvailable(GOAL_EXT_IDLE) == 1);
  CHECK(GOAL_Set_idle(idle) == 0);
  /* Rank 0 waits in each way until its other thread has called the library. */
  prepared = GOAL_Allreduce_init(&word, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  for (int way = 0; way < 4; way++) {
    GOAL_Handle run = GOAL_HANDLE_NULL;
    if (me == 0) {
      pthread_create(&other, NULL, call, NULL);
    } else {
      while (access(told, F_OK) != 0) {
        usleep(100);
      }
      CHECK(unlink(told) == 0);
    }
    word = me + way;
    switch (way) {
    case 0: CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == 0); break;
    case 1: CHECK(GOAL_Sched_run(prepared) == 0); break;
    case 2:
      run = GOAL_Run(prepared);
      CHECK(GOAL_Wait(run) == 0);
      break;
    case 3:
      run = GOAL_Ibarrier(GOAL_COMM_WORLD);
      CHECK(GOAL_Waitall(1, &run) == 0);
      break;
    }
    CHECK(way == 0 || way == 3 || sum == 2 * way + 1);
    if (me == 0) {
      pthread_join(other, NULL);
    }
  }
  CHECK(GOAL_FreeSchedule(prepared) == 0);
  CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == 0);
  CHECK(GOAL_Set_idle(NULL) == 0);
  before = count();
  if (me == 1) {
    usleep(20000);
  }
  CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == 0);
  CHECK(count() == before);
  if (me == 0) {
    printf("%d failures\n", failures);
  }
  return GOAL_Finalize() != 0 || failures != 0;
}
