// A rank that has ended its sends computes without a call, and keeps back no part of a message.
// RUN: build %s
// RUN: goal-run -n 2 --timeout 60 ./away
// RUN: goal-run -n 2 --timeout 60 --progress thread ./away-cpp
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 12 << 20, ROUNDS = 6 };

/* Waits for a file without a call of the library. */
static void compute_until(const char *file) {
  while (access(file, F_OK) != 0) {
  }
  remove(file);
}

static void tell(const char *file) {
  FILE *made = fopen(file, "w");
  if (made) {
    fclose(made);
  }
}

int main(void) {
  char *bytes = (char *)malloc(BYTES);
  const char *files[2] = {"away-0", "away-1"};
  GOAL_Schedule sends, receives;
  GOAL_Graph graph;
  int me, round, i, failed = 0;
  if (GOAL_Init() != 0 || !bytes) {
    return 1;
  }
  me = GOAL_MyRank();
  graph = GOAL_CreateGraph();
  GOAL_Send(graph, bytes, BYTES, 1 - me, 1, GOAL_USERSPACE);
  sends = GOAL_Compile(graph);
  graph = GOAL_CreateGraph();
  GOAL_Recv(graph, bytes, BYTES, 1 - me, 1, GOAL_USERSPACE);
  receives = GOAL_Compile(graph);
  for (round = 0; round < ROUNDS; round++) {
    if (round % 2 == me) {
      GOAL_Handle run;
      memset(bytes, round + 1, BYTES);
      run = GOAL_Run(sends);
      if (round < 2) {
        GOAL_Wait(run);
      } else {
        while (!GOAL_Test(run)) {
        }
      }
      compute_until(files[1 - me]);
    } else {
      GOAL_Wait(GOAL_Run(receives));
      for (i = 0; i < BYTES; i++) {
        failed += bytes[i] != round + 1;
      }
      tell(files[me]);
    }
  }
  if (failed) {
    printf("rank %d: %d bytes are wrong\n", me, failed);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
