// A run on other buffers needs those that the rank uses: none for a barrier, no output of a reduce
// on a rank that is not the root.
// RUN: build %s
// RUN: goal-run -n 4 --timeout 60 ./runon
// RUN: goal-run -n 3 --timeout 60 ./runon-cpp
#include <goal.h>
#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      failures++;                                                                        \
      printf("line %d: %s; %s\n", __LINE__, #condition, GOAL_Last_error());              \
    }                                                                                    \
  } while (0)

int main(void) {
  int mine = 1, other = 2, sum = 0, in = 0, me, size, root = 1;
  void *both[2], *one[1];
  GOAL_Schedule barrier, reduce, scatter;
  int all[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  if (GOAL_Init() != 0) {
    return 1;
  }
  me = GOAL_MyRank();
  size = GOAL_GroupSize();
  barrier = GOAL_Barrier_init(GOAL_COMM_WORLD);
  CHECK(GOAL_Wait(GOAL_RunOn(barrier, NULL, 0)) == 0);
  both[0] = &other;
  both[1] = &sum;
  CHECK(GOAL_Wait(GOAL_RunOn(barrier, both, 1)) == 0);
  reduce = GOAL_Reduce_init(&mine, me == root ? &sum : NULL, 1, GOAL_INT32, GOAL_ADD, root,
                            GOAL_COMM_WORLD);
  CHECK(GOAL_Wait(GOAL_RunOn(reduce, both, me == root ? 2 : 1)) == 0);
  CHECK(me != root || sum == 2 * size);
  /* All buffers may be given as well. */
  sum = 0;
  both[1] = me == root ? &sum : NULL;
  CHECK(GOAL_Wait(GOAL_RunOn(reduce, both, 2)) == 0);
  CHECK(me != root || sum == 2 * size);
  CHECK(me != root || GOAL_RunOn(reduce, both, 1) == GOAL_HANDLE_NULL);
  scatter = GOAL_Scatter_init(me == root ? all : NULL, &mine, 1, GOAL_INT32, root, GOAL_COMM_WORLD);
  both[0] = all;
  both[1] = &in;
  one[0] = &in;
  CHECK(GOAL_Wait(GOAL_RunOn(scatter, me == root ? both : one, me == root ? 2 : 1)) == 0);
  CHECK(in == me + 1);
  CHECK(GOAL_Finalize() == 0);
  return failures;
}
