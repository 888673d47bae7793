// The listings of sections 2.2.4 and 2.2.5 of the thesis as they are printed, with four ranks.
// Differences: ranks 1, 2 and 3 have graphs of their own, which the thesis leaves out. In 2.2.4 the
// text says "send to rank 2 and 3" and the listing sends to 1 and 2; this is the listing.
// RUN: build %s
// RUN: goal-run -n 4 ./thesis-cpp | sort
#include <goal.h>
#include <cstdio>
#include <cstring>

static void run(GOAL_Graph g) {
  GOAL_Schedule sched = GOAL_Compile(g);
  GOAL_MakeScheduleReusable(sched);
  if (GOAL_Wait(GOAL_Run(sched)) != GOAL_SUCCESS) {
    std::puts(GOAL_Last_error());
  }
  GOAL_FreeSchedule(sched);
  GOAL_FreeGraph(g);
}

int main() {
  GOAL_Init();
  int rank = GOAL_MyRank();
  short buf = 0, number = 4711;

  // 2.2.4: rank 3 receives from rank 0 and sends to 1 and 2.
  GOAL_Graph g = GOAL_CreateGraph();
  if (rank == 0) {
    GOAL_Send(g, &number, 2, 3);
  } else if (rank == 3) {
    GOAL_Vertex recv, send1, send2;
    recv = GOAL_Recv(g, &buf, 2, 0, GOAL_USERSPACE);
    send1 = GOAL_Send(g, &buf, 2, 1, GOAL_USERSPACE);
    send2 = GOAL_Send(g, &buf, 2, 2, GOAL_USERSPACE);
    GOAL_Requires(g, recv, send1);
    GOAL_Requires(g, recv, send2);
  } else {
    GOAL_Recv(g, &buf, 2, 3);
  }
  run(g);
  std::printf("rank %d: %d\n", rank, buf);

  // 2.2.5: rank 0 scatters what it receives from rank 1 to ranks 2 and 3, through the scratchpad.
  char half[32] = "";
  char both[64] = "first";
  std::strcpy(both + 32, "second");
  g = GOAL_CreateGraph();
  if (rank == 0) {
    GOAL_Vertex recv, send1, send2;
    GOAL_AllocateScratchpad(g, 64);
    recv = GOAL_Recv(g, 0, 64, 1, GOAL_SCRATCHPAD);
    send1 = GOAL_Send(g, 0, 32, 2, GOAL_SCRATCHPAD);
    send2 = GOAL_Send(g, 32, 32, 3, GOAL_SCRATCHPAD);
    GOAL_Requires(g, recv, send1);
    GOAL_Requires(g, recv, send2);
  } else if (rank == 1) {
    GOAL_Send(g, both, 64, 0);
  } else {
    GOAL_Recv(g, half, 32, 0);
  }
  run(g);
  if (rank > 1) {
    std::printf("rank %d: %s\n", rank, half);
  }
  return GOAL_Finalize();
}
