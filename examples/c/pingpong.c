// The ping-pong of section 6.3 of the ESPGOAL thesis: one schedule of 100 rounds between two ranks,
// which begins and ends with a GOAL_WTIME.
// RUN: build %s
// RUN: goal-run -n 2 ./pingpong | sed 's/[0-9.]* us/N us/'
// RUN: goal-run -n 2 ./pingpong-cpp | sed 's/[0-9.]* us/N us/'
//
// The thesis has no listing. Rank 0 measures; rank 1 answers, and each of its sends waits for the
// receive of the round.
#include <goal.h>
#include <stdio.h>

enum { ROUNDS = 100, BYTES = 8 };

int main(void) {
  static char ping[BYTES], pong[BYTES];
  double start = 0, end = 0;
  int rank, failed;
  GOAL_Graph g;
  GOAL_Vertex before = GOAL_INVALID_VERTEX, send, recv;
  GOAL_Schedule sched;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  rank = GOAL_MyRank();
  g = GOAL_CreateGraph();
  if (rank == 0) {
    before = GOAL_LocalOp(g, NULL, NULL, &start, GOAL_WTIME, GOAL_FLOAT, 64, 1, GOAL_USERSPACE,
                          GOAL_USERSPACE, GOAL_USERSPACE);
  }
  for (int round = 0; round < ROUNDS && rank < 2; round++) {
    if (rank == 0) {
      send = GOAL_Send(g, ping, BYTES, 1, 0, GOAL_USERSPACE);
      recv = GOAL_Recv(g, pong, BYTES, 1, 0, GOAL_USERSPACE);
      GOAL_Requires(g, before, send);
      GOAL_Requires(g, before, recv);
      before = recv;
    } else {
      recv = GOAL_Recv(g, pong, BYTES, 0, 0, GOAL_USERSPACE);
      send = GOAL_Send(g, ping, BYTES, 0, 0, GOAL_USERSPACE);
      GOAL_Requires(g, recv, send);
      if (before != GOAL_INVALID_VERTEX) {
        GOAL_Requires(g, before, recv);
      }
      before = send;
    }
  }
  if (rank == 0) {
    GOAL_Vertex last = GOAL_LocalOp(g, NULL, NULL, &end, GOAL_WTIME, GOAL_FLOAT, 64, 1,
                                    GOAL_USERSPACE, GOAL_USERSPACE, GOAL_USERSPACE);
    GOAL_Requires(g, before, last);
  }
  sched = GOAL_Compile(g);
  GOAL_MakeScheduleReusable(sched);
  GOAL_FreeGraph(g);
  failed = GOAL_Wait(GOAL_Run(sched)) != GOAL_SUCCESS;
  if (rank == 0 && !failed) {
    printf("%d rounds of %d bytes: %.3f us a message\n", ROUNDS, BYTES,
           1e6 * (end - start) / (2 * ROUNDS));
  }
  GOAL_FreeSchedule(sched);
  return GOAL_Finalize() != GOAL_SUCCESS || failed || end < start;
}
