// A program whose ranks all wait is ended, with what each waits for.
// RUN: build %s
// RUN: goal-run -n 2 ./stuck 2>&1 | sed 's/process [0-9]*/process N/' | sort
#include <goal.h>
#include <stdio.h>

int main(void) {
  int number = 0, index, code;
  GOAL_Graph graph;
  GOAL_Handle runs[2];
  GOAL_Init();
  graph = GOAL_CreateGraph();
  GOAL_Recv(graph, &number, sizeof number, 1 - GOAL_MyRank(), 3, GOAL_USERSPACE);
  runs[0] = GOAL_Run(GOAL_Compile(graph));
  runs[1] = GOAL_HANDLE_NULL;
  /* The thread that looks at the run for the descriptor does not keep the job from being stuck. */
  GOAL_Eventfd(runs[0]);
  code = GOAL_MyRank() == 0 ? GOAL_Wait(runs[0]) : GOAL_Waitany(2, runs, &index);
  return code == GOAL_ERR_STUCK ? 0 : 1;
}
