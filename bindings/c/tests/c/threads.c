// Threads of a rank, each with a communicator of its own, start, wait and free at once.
// RUN: build %s
// RUN: ./threads
// RUN: goal-run -n 2 ./threads
// RUN: goal-run -n 2 ./threads-cpp
// RUN: memcheck ./threads
#include <goal.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, TIMES = 50 };

static int failed[THREADS];
static GOAL_Comm comms[THREADS];

static void *work(void *arg) {
  int number = *(int *)arg;
  GOAL_Comm comm = comms[number];
  for (int time = 0; time < TIMES; time++) {
    int rank = GOAL_Comm_rank(comm), size = GOAL_Comm_size(comm);
    int out = 1000 * number + time, in = -1, sum = 1;
    GOAL_Graph graph = GOAL_CreateGraphOn(comm);
    GOAL_Schedule schedule;
    GOAL_Send(graph, &out, sizeof out, (rank + 1) % size, 0, GOAL_USERSPACE);
    GOAL_Recv(graph, &in, sizeof in, (rank + size - 1) % size, 0, GOAL_USERSPACE);
    schedule = GOAL_Compile(graph);
    failed[number] += GOAL_FreeGraph(graph) != 0;
    failed[number] += GOAL_Wait(GOAL_Run(schedule)) != 0;
    failed[number] += GOAL_FreeSchedule(schedule) != 0;
    failed[number] += in != out;
    failed[number] += GOAL_Allreduce(GOAL_IN_PLACE, &sum, 1, GOAL_INT32, GOAL_ADD, comm) != 0;
    failed[number] += sum != size;
    /* Errors are each thread's own. */
    GOAL_FreeGraph(graph);
    failed[number] += GOAL_Last_error_code() != GOAL_ERR_HANDLE;
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
  if (GOAL_MyRank() == 0) {
    printf("%d threads, %d failures\n", THREADS, all);
  }
  return GOAL_Finalize() != 0 || all != 0;
}
