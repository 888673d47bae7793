// The program of section 6.6 of the ESPGOAL thesis: a collective beside a computation. While one
// buffer is computed on, the other one is combined over all ranks.
// RUN: build %s
// RUN: ./overlap && goal-run -n 2 ./overlap
// RUN: goal-run -n 4 ./overlap-cpp explicit
// RUN: goal-run -n 2 --progress thread ./overlap
//
// The print is pseudocode. Here the communication is GOAL_Iallreduce, the computation a product of
// matrices in blocks, and an argument asks for explicit progress: a GOAL_Test after each block.
#include <goal.h>
#include <stdio.h>
#include <string.h>

enum { N = 96, K = 32, VALUES = 4096, STEPS = 6 };

static float a[N][N], b[N][N], c[N][N];

/* A part of the computation: the product of two blocks. */
static void multiply(int i0, int j0, int k0) {
  for (int i = i0; i < i0 + K; i++) {
    for (int k = k0; k < k0 + K; k++) {
      for (int j = j0; j < j0 + K; j++) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}

static void do_computations(double *active, GOAL_Handle coll, int is_explicit) {
  for (int i = 0; i < N; i += K) {
    for (int j = 0; j < N; j += K) {
      for (int k = 0; k < N; k += K) {
        multiply(i, j, k);
        if (is_explicit) {
          GOAL_Test(coll);
        }
      }
    }
  }
  for (int i = 0; i < VALUES; i++) {
    active[i] = active[i] / GOAL_GroupSize() + 1;
  }
}

int main(int argc, char **argv) {
  static double one[VALUES], other[VALUES];
  double *active = one, *inactive = other;
  int is_explicit = argc > 1 && strcmp(argv[1], "explicit") == 0, failed = 0;
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  for (int step = 0; step < STEPS; step++) {
    double *exchanged = active;
    GOAL_Handle coll =
        GOAL_Iallreduce(GOAL_IN_PLACE, inactive, VALUES, GOAL_FLOAT64, GOAL_ADD, GOAL_COMM_WORLD);
    do_computations(active, coll, is_explicit);
    failed |= GOAL_Wait(coll);
    active = inactive;
    inactive = exchanged;
  }
  for (int i = 0; i < VALUES; i++) {
    failed |= active[i] != active[0];
  }
  if (GOAL_MyRank() == 0) {
    printf("%d ranks: %g\n", GOAL_GroupSize(), active[0] / GOAL_GroupSize());
  }
  return GOAL_Finalize() != GOAL_SUCCESS || failed != 0;
}
