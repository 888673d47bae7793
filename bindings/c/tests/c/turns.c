// Threads that wait and threads that test, each in a communicator of its own. The ranks share
// processors. A thread whose collective has ended gets the engine lock first, before one that
// sleeps.
// RUN: build %s
// RUN: goal-run -n 3 ./turns
// RUN: goal-run -n 2 --progress thread ./turns
#include <goal.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, TIMES = 60 };

static int failed[THREADS];
static GOAL_Comm comms[THREADS];

static void *work(void *arg) {
  int number = *(int *)arg;
  GOAL_Comm comm = comms[number];
  int in = 1, out = 0;
  for (int time = 0; time < TIMES; time++) {
    if (number % 2 == 0) {
      failed[number] += GOAL_Allreduce(&in, &out, 1, GOAL_INT32, GOAL_ADD, comm) != 0;
    } else {
      GOAL_Handle run = GOAL_Iallreduce(&in, &out, 1, GOAL_INT32, GOAL_ADD, comm);
      while (GOAL_Test(run) == 0) {
      }
    }
    failed[number] += out != GOAL_Comm_size(comm);
    out = 0;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS], ranks[16], all = 0;
  if (GOAL_Init() != 0) {
    return 1;
  }
  for (int rank = 0; rank < GOAL_GroupSize(); rank++) {
    ranks[rank] = rank;
  }
  for (int i = 0; i < THREADS; i++) {
    comms[i] = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, GOAL_GroupSize());
    numbers[i] = i;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    all += failed[i];
  }
  if (GOAL_MyRank() == 0 || all != 0) {
    printf("%d failed\n", all);
  }
  return GOAL_Finalize() != 0 || all != 0;
}
