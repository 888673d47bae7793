// Ranks leave one by one, also those of the start, and the rest goes on. A run on a communicator that
// has a rank which left gives an error with its number.
// RUN: build %s
// RUN: goal-run -n 4 ./leave
// RUN: goal-run -n 3 --progress thread ./leave-cpp
// RUN: goal-run -n 2 ./leave spawn
// RUN: ./leave
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <goal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what) {
  printf("rank %d: %s: %s\n", GOAL_MyRank(), what, GOAL_Last_error());
  return 1;
}

int main(int argc, char **argv) {
  GOAL_Comm comm = GOAL_COMM_WORLD;
  int ranks[16], size, left = 0;
  if (GOAL_Init() != 0) {
    return fail("init");
  }
  if (argc > 1 && strcmp(argv[1], "spawn") == 0 && !GOAL_Has_joined()) {
    comm = GOAL_Spawn(NULL, NULL, 3, 0, comm);
    if (comm == 0) {
      return fail("spawn");
    }
  }
  for (size = GOAL_Comm_size(comm); size > 1; size--) {
    int rank = GOAL_Comm_rank(comm), one = 1, sum = 0;
    if (GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, comm) != 0 || sum != size) {
      return fail("allreduce");
    }
    /* The first rank of the communicator leaves, which is rank 0 of the job at first. */
    for (int i = 0; i < size; i++) {
      ranks[i] = i;
    }
    GOAL_Comm aside = GOAL_Comm_create(comm, ranks, size);
    if (aside == 0) {
      return fail("create aside");
    }
    if (rank == 0) {
      GOAL_Graph graph = GOAL_CreateGraphOn(comm);
      GOAL_Recv(graph, &left, sizeof left, 1, 5, GOAL_USERSPACE);
      GOAL_Schedule sched = GOAL_Compile(graph);
      GOAL_Handle run = GOAL_Run(sched);
      if (GOAL_Leave() != GOAL_ERR_BUSY) {
        return fail("leave while a run goes on");
      }
      GOAL_Graph go = GOAL_CreateGraphOn(aside);
      GOAL_Send(go, &one, sizeof one, 1, 4, GOAL_USERSPACE);
      if (GOAL_Sched_run(GOAL_Compile(go)) != 0) {
        return fail("send");
      }
      if (GOAL_Wait(run) != 0 || left != size) {
        return fail("wait");
      }
      if (GOAL_Leave() != 0 || !GOAL_IsFinalized() || GOAL_MyRank() != GOAL_ERR_FINALIZED) {
        return fail("leave");
      }
      return 0;
    }
    GOAL_Comm rest = GOAL_Comm_create(comm, ranks + 1, size - 1);
    if (rest == 0) {
      return fail("create");
    }
    if (rank == 1) {
      int go = 0;
      GOAL_Graph wait = GOAL_CreateGraphOn(aside);
      GOAL_Recv(wait, &go, sizeof go, 0, 4, GOAL_USERSPACE);
      if (GOAL_Sched_run(GOAL_Compile(wait)) != 0 || go != 1) {
        return fail("receive");
      }
      GOAL_Graph graph = GOAL_CreateGraphOn(comm);
      GOAL_Send(graph, &size, sizeof size, 0, 5, GOAL_USERSPACE);
      if (GOAL_Sched_run(GOAL_Compile(graph)) != 0) {
        return fail("send");
      }
      /* The number of ranks that have left is known in the end. */
      int code;
      do {
        int number = 0;
        GOAL_Graph to = GOAL_CreateGraphOn(comm);
        GOAL_Send(to, &number, sizeof number, 0, 6, GOAL_USERSPACE);
        usleep(1000);
        code = GOAL_Sched_run(GOAL_Compile(to));
      } while (code == 0);
      if (code != GOAL_ERR_RANK || strstr(GOAL_Last_error(), "rank 0 of the communicator") == NULL) {
        return fail("the error of a rank that has left");
      }
    }
    comm = rest;
  }
  printf("the last rank: %s\n", GOAL_MyRank() < 0 ? GOAL_Last_error() : "it goes on");
  return GOAL_Finalize() != 0;
}
