// The barriers of section 5.4 of the ESPGOAL thesis: recursive doubling, and Bruck's.
// RUN: build %s
// RUN: ./barrier && goal-run -n 2 ./barrier && goal-run -n 3 ./barrier && goal-run -n 4 ./barrier
// RUN: goal-run -n 5 ./barrier-cpp && goal-run -n 6 ./barrier-cpp && goal-run -n 7 ./barrier-cpp
//
// Differences from the print:
// - Messages have no bytes. As printed they send a byte of the scratchpad that nothing has
//   written, while a receive of the same round writes it.
// - In the first barrier, the part for other numbers than powers of two is not printed in full. The
//   extra rank's arrival is waited for by all rounds: if only the first send waits for it, the
//   second round may go ahead without it.
// - In Bruck's, the print declares `send` and uses `sendn`.
// - Ranks and masks are ints, so that no comparison mixes signs.
#include <goal.h>
#include <stdio.h>

#define GSP GOAL_SCRATCHPAD
#define MYMOD(a, b) ((a) % (b))

static GOAL_Schedule recursive_doubling(int myrank, int commsize) {
  GOAL_Graph g = GOAL_CreateGraph();
  GOAL_Schedule sched;
  GOAL_Vertex recv = INVALID_VERTEX;
  GOAL_Vertex sendf = INVALID_VERTEX;
  GOAL_Vertex recvf = INVALID_VERTEX;
  GOAL_Vertex sendn, recvn;
  /* Not pow(2, FLOORLOG(2, commsize)), which is a double. */
  int commsizepo2 = 1;
  while (2 * commsizepo2 <= commsize) {
    commsizepo2 *= 2;
  }
  if (myrank < commsizepo2) {
    int mask = 0x1;
    while (mask < commsizepo2) {
      int remote = myrank ^ mask;
      mask <<= 1;
      if (remote >= commsizepo2) continue;
      sendn = GOAL_Send(g, NULL, 0, remote, 0, GSP);
      recvn = GOAL_Recv(g, NULL, 0, remote, 0, GSP);
      if (recv != INVALID_VERTEX) {
        GOAL_Requires(g, recv, sendn);
        GOAL_requires(g, recv, recvn);
      }
      if (sendf == INVALID_VERTEX) {
        sendf = sendn;
        recvf = recvn;
      }
      recv = recvn;
    }
  }
  if (commsize != commsizepo2) {
    GOAL_Vertex sendx, recvx;
    if (myrank < (commsize - commsizepo2)) {
      int remote = myrank + commsizepo2;
      sendx = GOAL_Send(g, NULL, 0, remote, 1, GSP);
      recvx = GOAL_Recv(g, NULL, 0, remote, 1, GSP);
      GOAL_Requires(g, recvx, sendf);
      GOAL_Requires(g, recvx, recvf);
      GOAL_Requires(g, recv, sendx);
    }
    if (myrank >= commsizepo2) {
      int remote = myrank - commsizepo2;
      GOAL_Send(g, NULL, 0, remote, 1, GSP);
      GOAL_Recv(g, NULL, 0, remote, 1, GSP);
    }
  }
  sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

static GOAL_Schedule bruck(int myrank, int commsize) {
  GOAL_Graph g = GOAL_CreateGraph();
  GOAL_Schedule sched;
  GOAL_Vertex recvo = GOAL_INVALID_VERTEX;
  for (int distance = 1; distance < commsize; distance <<= 1) {
    int from = MYMOD(myrank - distance + commsize, commsize);
    int to = MYMOD(myrank + distance, commsize);
    GOAL_Vertex sendn = GOAL_Send(g, NULL, 0, to, 0, GOAL_SCRATCHPAD);
    GOAL_Vertex recvn = GOAL_Recv(g, NULL, 0, from, 0, GOAL_SCRATCHPAD);
    if (recvo != GOAL_INVALID_VERTEX) GOAL_Requires(g, recvo, sendn);
    if (recvo != GOAL_INVALID_VERTEX) GOAL_Requires(g, recvo, recvn);
    recvo = recvn;
  }
  sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

/* Returns a schedule that stores the time. */
static GOAL_Schedule clock_into(double *time) {
  GOAL_Graph g = GOAL_CreateGraph();
  GOAL_Schedule sched;
  GOAL_LocalOp(g, NULL, NULL, time, GOAL_WTIME, GOAL_FLOAT, 64, 1, GOAL_USERSPACE, GOAL_USERSPACE,
               GOAL_USERSPACE);
  sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

/* Returns 1 if no rank has left a barrier before every rank had entered it. */
static int holds(GOAL_Schedule barrier) {
  double entered, left;
  GOAL_Schedule enter = clock_into(&entered), leave = clock_into(&left);
  int is_right = 1;
  for (int i = 0; i < 10; i++) {
    GOAL_Sched_run(enter);
    if (GOAL_Wait(GOAL_Run(barrier)) != GOAL_SUCCESS) {
      puts(GOAL_Last_error());
      return 0;
    }
    GOAL_Sched_run(leave);
    GOAL_Allreduce(GOAL_IN_PLACE, &entered, 1, GOAL_FLOAT64, GOAL_MAX, GOAL_COMM_WORLD);
    GOAL_Allreduce(GOAL_IN_PLACE, &left, 1, GOAL_FLOAT64, GOAL_MIN, GOAL_COMM_WORLD);
    is_right &= entered <= left;
  }
  return is_right;
}

int main(void) {
  int myrank, commsize, both;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  myrank = GOAL_MyRank();
  commsize = GOAL_GroupSize();
  both = holds(recursive_doubling(myrank, commsize)) + holds(bruck(myrank, commsize));
  if (myrank == 0) {
    printf("%d ranks: %d of 2 barriers hold\n", commsize, both);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || both != 2;
}
