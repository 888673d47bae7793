// Ranks are killed at any moment, in messages of all kinds and while others regroup. The ones that
// are left always agree, and every sum is right.
// RUN: build %s
// RUN: for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do goal-run --survive -n 6 --timeout 60 ./killed $seed 2>/dev/null || echo seed $seed: $?; done
// RUN: for seed in 21 22 23 24 25 26; do goal-run --survive -n 6 --timeout 60 --progress thread ./killed $seed 2>/dev/null || echo seed $seed: $?; done
#define _POSIX_C_SOURCE 200809L
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 400, MOST = 40000 };

static void check(int holds, const char *what) {
  if (!holds) {
    printf("%s: ", GOAL_Last_error());
    printf("rank %d: %s\n", GOAL_MyRank(), what);
    fflush(stdout);
    exit(1);
  }
}

static unsigned next(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void *kills(void *after_us) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = (long)(intptr_t)after_us * 1000;
  nanosleep(&time, NULL);
  raise(SIGKILL);
  return NULL;
}

/* A step: an allreduce of some length, in memory of some kind. */
static int run(int64_t *in, int64_t *out, long step, GOAL_Comm comm) {
  static const int lengths[] = {1, 100, 4000, MOST};
  int i, n = lengths[step % 4], status;
  int64_t ranks, own = GOAL_MyRank();
  status = GOAL_Allreduce(&own, &ranks, 1, GOAL_INT64, GOAL_ADD, comm);
  if (status != 0) {
    return status;
  }
  for (i = 0; i < n; i++) {
    in[i] = step * i + GOAL_MyRank();
    out[i] = -1;
  }
  status = GOAL_Allreduce(in, out, n, GOAL_INT64, GOAL_ADD, comm);
  for (i = 0; status == 0 && i < n; i++) {
    check(out[i] == step * i * GOAL_Comm_size(comm) + ranks, "a wrong sum");
  }
  return status;
}

int main(int argc, char **argv) {
  GOAL_Comm comm = GOAL_COMM_WORLD;
  unsigned state = argc > 1 ? (unsigned)atoi(argv[1]) * 7919u : 1;
  int64_t *shared[2], *own[2];
  int64_t step = 0, at, total, size;
  int i, status;
  check(GOAL_Init() == 0, "GOAL_Init");
  for (i = 0; i < 2; i++) {
    shared[i] = (int64_t *)GOAL_Alloc(MOST * sizeof(int64_t));
    own[i] = (int64_t *)malloc(MOST * sizeof(int64_t));
  }
  for (i = 0; i <= GOAL_MyRank(); i++) {
    next(&state);
  }
  /* Rank 3 stays, and three of five others are killed on the average. */
  if (GOAL_MyRank() != 3 && next(&state) % 5 < 3) {
    pthread_t thread;
    pthread_create(&thread, NULL, kills, (void *)(intptr_t)(next(&state) % 60000));
    pthread_detach(thread);
  }
  while (step < STEPS) {
    int64_t **memory = step % 8 < 4 ? shared : own;
    status = run(memory[0], memory[1], (long)step, comm);
    while (status == GOAL_ERR_RANK_LOST) {
      /* Memory of lost runs is free after that. */
      comm = GOAL_Comm_shrink(comm);
      check(comm != NULL, "GOAL_Comm_shrink");
      for (i = 0; i < 2; i++) {
        free(own[i]);
        own[i] = (int64_t *)malloc(MOST * sizeof(int64_t));
      }
      status = GOAL_Allreduce(&step, &at, 1, GOAL_INT64, GOAL_MIN, comm);
      if (status == 0) {
        step = at - 1;
      }
    }
    check(status == 0, "another error");
    step++;
  }
  /* All that are left are in the communicator. */
  do {
    int64_t one = 1;
    status = GOAL_Allreduce(&one, &total, 1, GOAL_INT64, GOAL_ADD, comm);
    if (status == GOAL_ERR_RANK_LOST) {
      comm = GOAL_Comm_shrink(comm);
    }
  } while (status == GOAL_ERR_RANK_LOST);
  size = GOAL_Comm_size(comm);
  check(status == 0 && total == size, "the size at the end");
  return GOAL_Finalize();
}
