// A numerical code: Jacobi's method for u'' = -2 in one dimension, with u = 0 at both ends.
// RUN: build %s
// RUN: ./jacobi && goal-run -n 4 ./jacobi
// RUN: goal-run -n 3 --progress thread ./jacobi-cpp
//
// The exchange of the ends with the neighbours is a schedule for each of the two arrays, prepared
// once. It goes on while the inner points are computed. The sum of the squared changes of a step is
// an allreduce that goes on during the next step.
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 48 };

static void check(int is_good) {
  if (!is_good) {
    fprintf(stderr, "rank %d: %s\n", GOAL_MyRank(), GOAL_Last_error());
    exit(1);
  }
}

/* Sends u[1] and u[n] to the neighbours, and receives u[0] and u[n + 1] from them. */
static GOAL_Schedule prepare_exchange(double *u, int n) {
  GOAL_Graph graph = GOAL_CreateGraph();
  for (int side = 0; side < 2; side++) {
    int neighbour = GOAL_MyRank() + (side == 0 ? -1 : 1);
    double *inner = side == 0 ? &u[1] : &u[n], *outer = side == 0 ? &u[0] : &u[n + 1];
    /* No rank stands for none: the outermost ranks add no message there. */
    if (neighbour >= 0 && neighbour < GOAL_GroupSize()) {
      check(GOAL_Send(graph, inner, sizeof *u, neighbour, 0, GOAL_USERSPACE) >= 0);
      check(GOAL_Recv(graph, outer, sizeof *u, neighbour, 0, GOAL_USERSPACE) >= 0);
    }
  }
  GOAL_Schedule exchange = GOAL_Compile(graph);
  check(exchange != NULL);
  GOAL_FreeGraph(graph);
  return exchange;
}

int main(void) {
  check(GOAL_Init() == GOAL_SUCCESS);
  int rank = GOAL_MyRank(), size = GOAL_GroupSize();
  int first = rank * POINTS / size, n = (rank + 1) * POINTS / size - first, step = 0;
  double h = 1.0 / (POINTS + 1), change[2], total[2] = {1, 1}, wrong = 0, wrongest = 0;
  double *u[2];
  GOAL_Schedule exchange[2], sum[2];
  for (int i = 0; i < 2; i++) {
    u[i] = (double *)calloc(n + 2, sizeof **u);
    exchange[i] = prepare_exchange(u[i], n);
    sum[i] = GOAL_Allreduce_init(&change[i], &total[i], 1, GOAL_FLOAT64, GOAL_ADD, GOAL_COMM_WORLD);
    check(sum[i] != NULL);
  }

  GOAL_Handle summed = GOAL_HANDLE_NULL; /* The sum of the step before. */
  for (;; step++) {
    int now = step % 2, before = 1 - now;
    const double *from = u[now];
    double *to = u[before];
    GOAL_Handle ends = GOAL_Run(exchange[now]);
    check(ends != GOAL_HANDLE_NULL);
    for (int i = 2; i < n; i++) {
      to[i] = (from[i - 1] + from[i + 1]) / 2 + h * h;
    }
    check(GOAL_Wait(ends) == GOAL_SUCCESS);
    to[1] = (from[0] + from[2]) / 2 + h * h;
    to[n] = (from[n - 1] + from[n + 1]) / 2 + h * h;
    change[now] = 0;
    for (int i = 1; i <= n; i++) {
      change[now] += (to[i] - from[i]) * (to[i] - from[i]);
    }
    /* All ranks see the same sum, and stop at the same step. */
    if (summed != GOAL_HANDLE_NULL) {
      check(GOAL_Wait(summed) == GOAL_SUCCESS);
      if (total[before] < 1e-20) {
        break;
      }
    }
    summed = GOAL_Run(sum[now]);
    check(summed != GOAL_HANDLE_NULL);
  }

  for (int i = 1; i <= n; i++) {
    double x = (first + i) * h, difference = u[step % 2][i] - x * (1 - x);
    wrong = difference * difference > wrong ? difference * difference : wrong;
  }
  check(GOAL_Allreduce(&wrong, &wrongest, 1, GOAL_FLOAT64, GOAL_MAX, GOAL_COMM_WORLD) == GOAL_SUCCESS);
  if (rank == 0) {
    printf("%d ranks: %s\n", size, wrongest < 1e-14 ? "the parabola" : "something else");
  }
  for (int i = 0; i < 2; i++) {
    GOAL_FreeSchedule(exchange[i]);
    GOAL_FreeSchedule(sum[i]);
    free(u[i]);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrongest >= 1e-14;
}
