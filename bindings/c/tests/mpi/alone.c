/* A program without MPI that mpirun starts: its processes are ranks. With the argument `fail`,
   rank 1 ends before its time; with `kill`, by a signal. With `stuck`, rank 0 waits for ever. With
   `late`, it waits for a thread of rank 1 that has never called the library before; with `joins`,
   in a thread, for ever. */
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static GOAL_Comm side;

static void *barrier(void *late) {
  if (late) sleep(1);
  if (GOAL_Barrier(side)) fprintf(stderr, "GOAL_Barrier: %s\n", GOAL_Last_error());
  return NULL;
}

static int sides(const char *how, int rank, int size) {
  int all[16];
  pthread_t thread;
  for (int i = 0; i < size; i++) all[i] = i;
  side = GOAL_Comm_create(GOAL_COMM_WORLD, all, size);
  if (!strcmp(how, "late")) {
    if (rank == 1) pthread_create(&thread, NULL, barrier, &side);
    else barrier(NULL);
    if (GOAL_Barrier(GOAL_COMM_WORLD)) return 1;
    if (rank == 1) pthread_join(thread, NULL);
  } else if (!strcmp(how, "joins") && rank == 0) {
    pthread_create(&thread, NULL, barrier, NULL);
    pthread_join(thread, NULL);
  } else if (!strcmp(how, "stuck") && rank == 0) {
    barrier(NULL);
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (GOAL_Init()) {
    fprintf(stderr, "GOAL_Init: %s\n", GOAL_Last_error());
    return 1;
  }
  int rank = GOAL_Comm_rank(GOAL_COMM_WORLD), size = GOAL_Comm_size(GOAL_COMM_WORLD);
  if (rank == 1 && !strcmp(how, "fail")) return 3;
  if (rank == 1 && !strcmp(how, "kill")) raise(SIGKILL);
  if (*how && sides(how, rank, size)) return 1;
  int mine = rank + 1, sum = 0;
  if (GOAL_Allreduce(&mine, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD)) {
    fprintf(stderr, "GOAL_Allreduce: %s\n", GOAL_Last_error());
    return 1;
  }
  printf("rank %d of %d: %s\n", rank, size, sum == size * (size + 1) / 2 ? "right" : "WRONG");
  return GOAL_Finalize() != GOAL_SUCCESS;
}
