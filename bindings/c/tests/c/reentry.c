// Calls from unusual places: from functions of ends, from a fork, and exits in the middle of a wait.
// RUN: build %s
// RUN: ./reentry
// RUN: goal-run -n 2 ./reentry
// RUN: goal-run -n 2 --progress thread ./reentry
// RUN: ./reentry exit || echo "exit: $?"
// RUN: goal-run -n 2 ./reentry exit 2>/dev/null || echo "exit: $?"
// RUN: ./reentry function || echo "exit: $?"
// RUN: ./reentry-cpp
#define _DEFAULT_SOURCE
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      failures++;                                                                        \
      printf("line %d: %s; %s\n", __LINE__, #condition, GOAL_Last_error());              \
    }                                                                                    \
  } while (0)

static void nothing(void *buf1, size_t s1, void *buf2, size_t s2) {
  (void)buf1;
  (void)s1;
  (void)buf2;
  (void)s2;
}

static void other(void *buf1, size_t s1, void *buf2, size_t s2) {
  nothing(buf2, s2, buf1, s1);
}

static int ends;

/* Registers a function and asks for the one that is being registered. */
static void at_end(GOAL_Handle handle, void *arg) {
  GOAL_Graph graph = GOAL_CreateGraph();
  int number = GOAL_Reg_func(graph, other);
  CHECK(GOAL_Test(handle) == 1);
  CHECK(number >= 0);
  CHECK(GOAL_Exec(graph, number, arg, 4, arg, 4, GOAL_USERSPACE, GOAL_USERSPACE) >= 0);
  CHECK(GOAL_FreeGraph(graph) == 0);
  __atomic_fetch_add(&ends, 1, __ATOMIC_SEQ_CST);
}

/* A run of this process alone that ends after some time. */
static GOAL_Handle slow(GOAL_Schedule *schedule) {
  static char from[8], to[8];
  int self = GOAL_MyRank();
  GOAL_Comm comm = GOAL_Comm_create(GOAL_COMM_WORLD, &self, 1);
  GOAL_Graph graph = GOAL_CreateGraphOn(comm);
  GOAL_Send(graph, from, 8, 0, 0, GOAL_USERSPACE);
  GOAL_Recv(graph, to, 8, 0, 0, GOAL_USERSPACE);
  *schedule = GOAL_Compile(graph);
  GOAL_FreeGraph(graph);
  GOAL_Comm_free(comm);
  return GOAL_Run(*schedule);
}

/* A wait for a message that never comes. */
static void *waits(void *arg) {
  int buf, size = GOAL_GroupSize();
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Recv(graph, &buf, 4, (GOAL_MyRank() + 1) % size, 7, GOAL_USERSPACE);
  GOAL_Wait(GOAL_Run(GOAL_Compile(graph)));
  return arg;
}

/* The child of a process whose other thread waits: it is no rank, and can exit. */
static void forks(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    int is_refused = GOAL_Barrier(GOAL_COMM_WORLD) == GOAL_ERR_INIT &&
                     GOAL_Finalize() == GOAL_ERR_INIT && GOAL_Init() == GOAL_ERR_INIT;
    exit(is_refused ? 3 : 4);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void *computes(void *arg) {
  forks();
  __atomic_store_n((int *)arg, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* Runs for ever, so the rank is not stuck. */
static void *spins(void *arg) {
  while (__atomic_load_n((int *)arg, __ATOMIC_SEQ_CST) == 0) {
  }
  return NULL;
}

static void leave(int signal) {
  exit(signal == SIGALRM ? 5 : 6);
}

static void leaves(void *buf1, size_t s1, void *buf2, size_t s2) {
  nothing(buf1, s1, buf2, s2);
  exit(7);
}

int main(int argc, char **argv) {
  pthread_t thread;
  int word = 0, is_done = 0, number;
  void *pair[2];
  char bytes[16] = {0};
  GOAL_Handle run;
  GOAL_Graph graph;
  GOAL_Schedule schedule;
  if (GOAL_Init() != 0) {
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "exit") == 0) {
    signal(SIGALRM, leave);
    ualarm(200000, 0);
    pthread_create(&thread, NULL, spins, &is_done);
    waits(NULL);
    return 2;
  }
  graph = GOAL_CreateGraph();
  if (argc > 1) {
    number = GOAL_Reg_func(graph, leaves);
    GOAL_Exec(graph, number, bytes, 4, bytes + 4, 4, GOAL_USERSPACE, GOAL_USERSPACE);
    GOAL_Run(GOAL_Compile(graph));
    return 2;
  }

  run = slow(&schedule);
  CHECK(GOAL_On_end(run, at_end, &word) == 0);
  CHECK(GOAL_Reg_func(graph, nothing) >= 0);
  CHECK(GOAL_Wait(run) == 0);
  while (__atomic_load_n(&ends, __ATOMIC_SEQ_CST) == 0) {
    CHECK(GOAL_Test(run) == 1);
  }
  CHECK(GOAL_FreeSchedule(schedule) == 0);

  /* Buffers of a start that overlap. */
  GOAL_Declare(graph, bytes, 8);
  GOAL_Declare(graph, bytes + 8, 8);
  GOAL_LocalOp(graph, bytes, bytes, bytes + 8, GOAL_ADD, GOAL_SINT, 32, 2, GOAL_USERSPACE,
               GOAL_USERSPACE, GOAL_USERSPACE);
  schedule = GOAL_Compile(graph);
  pair[0] = bytes;
  pair[1] = bytes + 4;
  CHECK(GOAL_RunOn(schedule, pair, 2) == GOAL_HANDLE_NULL);
  CHECK(GOAL_Last_error_code() == GOAL_ERR_BUFFER);
  pair[1] = bytes;
  CHECK(GOAL_Wait(GOAL_RunOn(schedule, pair, 2)) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0);
  CHECK(GOAL_FreeGraph(graph) == 0);
  CHECK(GOAL_Allreduce(bytes, bytes + 4, 2, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) ==
        GOAL_ERR_BUFFER);

  pthread_create(&thread, NULL, computes, &is_done);
  CHECK(GOAL_Barrier(GOAL_COMM_WORLD) == 0);
  pthread_join(thread, NULL);
  CHECK(is_done == 1);
  if (GOAL_MyRank() == 0) {
    printf("%d failures\n", failures);
  }
  return GOAL_Finalize() != 0 || failures != 0;
}
