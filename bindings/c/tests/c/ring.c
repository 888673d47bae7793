// A token goes around all ranks, and each adds its number to it.
// RUN: build %s
// RUN: ./ring
// RUN: goal-run -n 4 ./ring
// RUN: goal-run -n 3 ./ring-cpp
// RUN: memcheck ./ring
// RUN: static %s && ./static && goal-run -n 2 ./static
// RUN: ./static-libc && goal-run -n 2 ./static-libc
#include <goal.h>
#include <stdio.h>

int main(void) {
  int rank, size, own, sum = 0, ended;
  GOAL_Graph graph;
  GOAL_Vertex add, send, recv = GOAL_INVALID_VERTEX;
  GOAL_Schedule schedule;
  GOAL_Handle run;

  if (GOAL_Init() != GOAL_SUCCESS) {
    fprintf(stderr, "%s\n", GOAL_Last_error());
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  own = rank + 1;
  graph = GOAL_CreateGraph();
  GOAL_AllocateScratchpad(graph, sizeof own);
  if (rank == 0) {
    add = GOAL_LocalOp(graph, &own, NULL, &sum, GOAL_COPY, GOAL_SINT, 32, 1, GOAL_USERSPACE,
                       GOAL_USERSPACE, GOAL_USERSPACE);
  } else {
    recv = GOAL_Recv(graph, GOAL_OFFSET(0), sizeof own, rank - 1, 0, GOAL_SCRATCHPAD);
    add = GOAL_LocalOp(graph, GOAL_OFFSET(0), &own, &sum, GOAL_ADD, GOAL_SINT, 32, 1,
                       GOAL_SCRATCHPAD, GOAL_USERSPACE, GOAL_USERSPACE);
    GOAL_Requires(graph, recv, add);
  }
  if (rank + 1 < size) {
    send = GOAL_Send(graph, &sum, sizeof sum, rank + 1, 0, GOAL_USERSPACE);
    GOAL_Requires(graph, add, send);
  }
  schedule = GOAL_Compile(graph);
  GOAL_FreeGraph(graph);
  for (int times = 0; times < 3; times++) {
    sum = 0;
    run = GOAL_Run(schedule);
    while ((ended = GOAL_Test(run)) == 0) {
    }
    if (ended < 0 || GOAL_Wait(run) != GOAL_SUCCESS) {
      fprintf(stderr, "%s\n", GOAL_Last_error());
      return 1;
    }
    if (sum != (rank + 1) * (rank + 2) / 2) {
      fprintf(stderr, "rank %d: %d\n", rank, sum);
      return 1;
    }
  }
  if (GOAL_FreeSchedule(schedule) != GOAL_SUCCESS || GOAL_Finalize() != GOAL_SUCCESS) {
    fprintf(stderr, "%s\n", GOAL_Last_error());
    return 1;
  }
  if (rank == size - 1) {
    printf("%d ranks: %d\n", size, sum);
  }
  return 0;
}
