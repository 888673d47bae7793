// A matrix that is stored by rows becomes one by columns on the way, and scattered operands.
// RUN: build %s
// RUN: ./vectors
// RUN: goal-run -n 4 ./vectors | sort
// RUN: goal-run -n 2 ./vectors-cpp | sort
// RUN: memcheck ./vectors
#include <goal.h>
#include <stdio.h>

#define US GOAL_USERSPACE

int main(void) {
  int rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, columns[3][2] = {{0}}, sums[6] = {0}, even[3] = {0};
  void *from[1], *to[6], *halves[2], *evens[3];
  int whole[1] = {sizeof rows}, cells[6], half[2] = {12, 12}, third[3] = {4, 4, 4};
  int rank, size, failed = 0;
  GOAL_Graph graph;
  GOAL_Vertex recv, copy, add;
  GOAL_Schedule schedule;
  if (GOAL_Init() != 0) {
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  from[0] = rows;
  for (int i = 0; i < 6; i++) {
    to[i] = &columns[i % 3][i / 3];
    cells[i] = sizeof(int);
  }
  graph = GOAL_CreateGraph();
  GOAL_SendVec(graph, from, whole, 1, (rank + 1) % size, 3, US);
  recv = GOAL_RecvVec(graph, to, cells, 6, (rank + size - 1) % size, 3, US);
  /* Adds the first three numbers to the last three, by pieces that don't lie in order. */
  halves[0] = sums + 3;
  halves[1] = sums;
  from[0] = columns;
  add = GOAL_LocalOpVec(graph, from, whole, 1, from, whole, 1, halves, half, 2, GOAL_SINT, 32, GOAL_ADD,
                        US, US, US);
  for (int i = 0; i < 3; i++) {
    evens[i] = &sums[2 * i];
  }
  from[0] = even;
  half[0] = 12;
  copy = GOAL_LocalOpVec(graph, evens, third, 3, NULL, NULL, 0, from, half, 1, GOAL_UINT, 8, GOAL_COPY,
                         US, US, US);
  failed += GOAL_Requires(graph, recv, add) | GOAL_Requires(graph, add, copy);
  schedule = GOAL_Compile(graph);
  failed += GOAL_Sched_run(schedule);
  printf("rank %d: %d %d %d %d %d %d, sums %d %d %d %d %d %d, even %d %d %d\n", rank, columns[0][0],
         columns[0][1], columns[1][0], columns[1][1], columns[2][0], columns[2][1], sums[0], sums[1],
         sums[2], sums[3], sums[4], sums[5], even[0], even[1], even[2]);
  if (failed != 0) {
    puts(GOAL_Last_error());
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
