// A rank reads a long message slowly. The run that sent it ends all the same, and other runs of the
// sender don't wait for it.
// RUN: build %s
// RUN: goal-run -n 3 --timeout 60 ./apart
// RUN: goal-run -n 3 --timeout 60 --progress thread ./apart-cpp
#define _DEFAULT_SOURCE
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 12 << 20, LONG_BYTES = 64 << 20 };

static void tell(const char *file) {
  FILE *made = fopen(file, "w");
  if (made) {
    fclose(made);
  }
}

/* Waits for a file without a call of the library. */
static void compute_until(const char *file) {
  while (access(file, F_OK) != 0) {
    usleep(1000);
  }
}

/* All ranks run the message, so that their runs have the same numbers. */
static GOAL_Handle run(int me, void *bytes, int count, int from, int to) {
  GOAL_Graph graph = GOAL_CreateGraph();
  if (me == from) {
    GOAL_Send(graph, bytes, count, to, 1, GOAL_USERSPACE);
  } else if (me == to) {
    GOAL_Recv(graph, bytes, count, from, 1, GOAL_USERSPACE);
  }
  return GOAL_Run(GOAL_Compile(graph));
}

static int has_others(const char *bytes, int count, char expected) {
  int i, others = 0;
  for (i = 0; i < count; i++) {
    others += bytes[i] != expected;
  }
  return others;
}

/* Rank 1 calls seldom. Nothing follows the message that could wake rank 0. */
static int read_slowly(int me, char *bytes) {
  GOAL_Handle message;
  memset(bytes, me == 0, BYTES);
  message = run(me, bytes, BYTES, 0, 1);
  while (me == 1 && !GOAL_Test(message)) {
    usleep(30000);
  }
  return GOAL_Wait(message) != GOAL_SUCCESS || (me == 1 && has_others(bytes, BYTES, 1));
}

/* Rank 1 begins to read, and reads on when rank 0 has ended another run. */
static int stop_reading(int me, char *bytes) {
  GOAL_Handle message, other;
  int i, word = me == 2 ? 7 : 0, failed = 0;
  memset(bytes, me == 0 ? 2 : 0, LONG_BYTES);
  message = run(me, bytes, LONG_BYTES, 0, 1);
  if (me == 1) {
    for (i = 0; i < 5; i++) {
      GOAL_Test(message);
      usleep(10000);
    }
    tell("apart-reads");
  } else if (me == 2) {
    compute_until("apart-reads");
  }
  other = run(me, &word, sizeof word, 2, 0);
  if (me == 0) {
    failed += GOAL_Wait(other) != GOAL_SUCCESS || word != 7;
    tell("apart-ended");
  } else if (me == 1) {
    compute_until("apart-ended");
  }
  failed += GOAL_Wait(message) != GOAL_SUCCESS;
  if (me != 0) {
    failed += GOAL_Wait(other) != GOAL_SUCCESS;
  }
  return failed + (me == 1 && has_others(bytes, LONG_BYTES, 2));
}

int main(void) {
  char *bytes = (char *)malloc(LONG_BYTES);
  int me, failed;
  remove("apart-reads");
  remove("apart-ended");
  if (GOAL_Init() != 0 || !bytes) {
    return 1;
  }
  me = GOAL_MyRank();
  failed = read_slowly(me, bytes);
  GOAL_Barrier(GOAL_COMM_WORLD);
  failed += stop_reading(me, bytes);
  if (failed) {
    printf("rank %d: %d failures\n", me, failed);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
