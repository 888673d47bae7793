// Ranks go on after the loss of others: by a signal, by an early exit, and once more.
// RUN: build %s
// RUN: goal-run --survive -n 5 ./loss 2>&1 | sort
// RUN: goal-run --survive -n 5 --progress thread ./loss-cpp 2>&1 | sort
#define _POSIX_C_SOURCE 200809L
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 60, NUMBERS = 3000 };

static void check(int holds, const char *what) {
  if (!holds) {
    printf("%s: ", GOAL_Last_error());
    printf("rank %d: %s\n", GOAL_MyRank(), what);
    fflush(stdout);
    exit(1);
  }
}

static void least(void *a, size_t bytes, void *b, size_t bytes_b) {
  long mine, other;
  (void)bytes_b;
  memcpy(&mine, a, bytes);
  memcpy(&other, b, bytes);
  memcpy(b, mine < other ? &mine : &other, bytes);
}

static GOAL_Handle lost_run;

/* A thread that waits for a message which never comes. */
static void *waits(void *unused) {
  (void)unused;
  check(GOAL_Wait(lost_run) == GOAL_ERR_RANK_LOST, "the wait of a thread");
  return NULL;
}

int main(int argc, char **argv) {
  static long in[NUMBERS], out[NUMBERS];
  GOAL_Comm comm = GOAL_COMM_WORLD, pair = NULL;
  GOAL_Schedule sum, from_lost;
  GOAL_Graph graph;
  GOAL_Op op;
  pthread_t thread;
  GOAL_Handle small = NULL;
  long step, at, other, generation = 0;
  int rank, size, number, i, status, lost[5];

  (void)argv;
  check(GOAL_Init() == 0, "GOAL_Init");
  rank = GOAL_MyRank();
  op = GOAL_USER_OP(GOAL_Reg_func(NULL, least));
  /* Of two ranks that stay until the end. */
  if (rank == 0 || rank == 4) {
    int both[2] = {4, 0};
    pair = GOAL_Comm_create(GOAL_COMM_WORLD, both, 2);
    check(pair != NULL, "GOAL_Comm_create");
  }
  check(GOAL_Comm_shrink(comm) == NULL && GOAL_Last_error_code() == GOAL_ERR_ARG,
        "shrinks without a loss");
  graph = GOAL_CreateGraph();
  GOAL_Recv(graph, &number, sizeof number, rank == 2 ? 1 : 2, 7, GOAL_USERSPACE);
  from_lost = GOAL_Compile(graph);
  lost_run = GOAL_Run(from_lost);
  check(lost_run != NULL, "GOAL_Run");
  pthread_create(&thread, NULL, waits, NULL);

  sum = GOAL_Allreduce_init(in, out, NUMBERS, GOAL_INT64, GOAL_ADD, comm);
  for (step = 0; step < STEPS;) {
    GOAL_Handle run;
    if (step == 20 && rank == 2) {
      raise(SIGKILL);
    }
    if (step == 40 && rank == 1) {
      _exit(7);
    }
    for (i = 0; i < NUMBERS; i++) {
      in[i] = step + i + rank;
    }
    if (step == 20 || step == 40) {
      small = GOAL_Iallreduce(&generation, &other, 1, GOAL_INT64, GOAL_ADD, comm);
    }
    run = GOAL_Run(sum);
    status = run ? GOAL_Wait(run) : GOAL_Last_error_code();
    if (status == 0) {
      check(small == NULL || GOAL_Wait(small) == 0, "the wait for a small run");
      small = NULL;
      size = GOAL_Comm_size(comm);
      for (i = 0; i < NUMBERS; i++) {
        long ranks = size == 5 ? 10 : size == 4 ? 8 : 7;
        check(out[i] == (step + i) * size + ranks, "a wrong sum");
      }
      step++;
      continue;
    }
    check(status == GOAL_ERR_RANK_LOST, "another error than the loss");
    check(strstr(GOAL_Last_error(), generation ? "rank 1" : "rank 2") != NULL, "another text");
    check(GOAL_FreeSchedule(sum) == 0 || GOAL_Last_error_code() == GOAL_ERR_RANK_LOST, "frees");
    if (argc > 1 && rank == 3) {
      sleep(2); /* The others wait for it, and lose none. */
    }
    comm = GOAL_Comm_shrink(comm);
    check(comm != NULL, "GOAL_Comm_shrink");
    generation++;
    check(GOAL_Comm_lost(GOAL_COMM_WORLD, lost, 5) == generation, "the number of lost ranks");
    check(lost[generation - 1] == 2, "the rank that was lost first");
    check(run == NULL || GOAL_Test(run) == GOAL_ERR_RANK_LOST, "the lost run");
    check(GOAL_Barrier(GOAL_COMM_WORLD) == GOAL_ERR_RANK_LOST, "a communicator with the lost rank");
    check(GOAL_Run(from_lost) == NULL, "a schedule with the lost rank");
    if (pair) {
      int sent = 5, received = 0;
      check(GOAL_Allreduce(&sent, &received, 1, GOAL_INT32, GOAL_ADD, pair) == 0, "the pair");
      check(received == 10, "the sum of the pair");
    }
    /* Some ranks may have ended a step that others lost. */
    check(GOAL_Allreduce(&step, &at, 1, GOAL_INT64, op, comm) == 0, "agrees on the step");
    step = at;
    check(small == NULL || GOAL_Wait(small) == GOAL_ERR_RANK_LOST, "the wait for a small lost run");
    small = NULL;
    sum = GOAL_Allreduce_init(in, out, NUMBERS, GOAL_INT64, GOAL_ADD, comm);
    check(sum != NULL, "GOAL_Allreduce_init");
  }
  pthread_join(thread, NULL);
  printf("rank %d of %d goes on as %d of %d\n", rank, GOAL_GroupSize(), GOAL_Comm_rank(comm),
         GOAL_Comm_size(comm));
  fflush(stdout);
  return GOAL_Finalize();
}
