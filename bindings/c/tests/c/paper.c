// Example 3 of the 2009 paper, by its names, with predefined and with registered functions.
// Differences: the addresses 501 to 504 are bytes of an array, and sumInt8 is a number.
// RUN: build %s
// RUN: goal-run -n 3 ./paper
// RUN: goal-run -n 3 ./paper-cpp
#include <goal.h>
#include <stdio.h>

#define US GOAL_USERSPACE

static void sum(void *buf1, size_t s1, void *buf2, size_t s2) {
  for (size_t i = 0; i < s1 && i < s2; i++) {
    ((signed char *)buf2)[i] = (signed char)(((signed char *)buf2)[i] + ((signed char *)buf1)[i]);
  }
}

int main(void) {
  int rank, failed = 0;
  if (GOAL_Init() != 0) {
    return 1;
  }
  rank = GOAL_MyRank();
  for (int own = 0; own < 2; own++) {
    signed char m[505] = {0};
    GOAL_Graph g = GOAL_Create();
    GOAL_Schedule sched;
    int sumInt8 = own ? GOAL_Reg_func(g, sum) : GOAL_PREDEFINED(GOAL_ADD, GOAL_INT8);
    if (own) {
      failed += sumInt8 < 0 || GOAL_Reg_func(NULL, sum) != sumInt8;
    }
    m[501] = (signed char)(10 + rank);
    m[502] = 20;
    if (rank == 0) {
      GOAL_Vertex r1 = GOAL_Rcv(g, m + 503, 1, 1, 0, US);
      GOAL_Vertex r2 = GOAL_Rcv(g, m + 504, 1, 2, 0, US);
      GOAL_Vertex e1 = GOAL_Exec(g, sumInt8, m + 501, 1, m + 503, 1, US, US);
      GOAL_Vertex e2 = GOAL_Exec(g, sumInt8, m + 502, 1, m + 504, 1, US, US);
      GOAL_Requ(g, e1, r1);
      GOAL_Requ(g, e2, r2);
    } else {
      GOAL_Send(g, m + 501, 1, 0, 0, US);
    }
    sched = GOAL_Compile(g);
    failed += GOAL_Sched_run(sched) != 0;
    if (rank == 0) {
      printf("%d %d\n", m[503], m[504]);
    }
    GOAL_FreeSchedule(sched);
    GOAL_FreeGraph(g);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
