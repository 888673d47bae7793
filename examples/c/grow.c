// A sum whose ranks become more while it goes on: grow [-j RANKS] [-s STEPS]
// RUN: build %s
// RUN: ./grow && goal-run -n 2 ./grow && goal-run -n 3 ./grow -s 40
// RUN: goal-run -n 2 ./grow-cpp
//
// In each step all ranks add up the numbers from 1 to COUNT, each of them its share. After a quarter
// of the steps rank 0 starts one more process of this program. -j RANKS waits at the half until
// RANKS ranks have joined that `goal-run grow` starts:
//
//     goal-run -n 2 --grow-to 8 ./grow -j 4 & goal-run grow $! -n 4
//
// In the last step the ranks that came later leave, and those of the start have the sum alone.
#include <goal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000000 };

/* What rank 0 tells all ranks to do next. A new rank hears it first of all. */
typedef enum { ADD_UP, SPAWN, ACCEPT, END } Order;

static int check(int status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", GOAL_Last_error());
    exit(1);
  }
  return status;
}

/* Returns the sum, to which each rank of the communicator adds its share. */
static int64_t sum_of(GOAL_Comm comm) {
  int64_t rank = check(GOAL_Comm_rank(comm)), size = check(GOAL_Comm_size(comm)), sum = 0;
  for (int64_t i = COUNT * rank / size; i < COUNT * (rank + 1) / size; i++) {
    sum += i + 1;
  }
  check(GOAL_Allreduce(GOAL_IN_PLACE, &sum, 1, GOAL_INT64, GOAL_ADD, comm));
  return sum;
}

/* Returns the larger communicator, in which this rank has the same number. */
static GOAL_Comm larger(GOAL_Comm comm, GOAL_Comm next) {
  check(next != NULL ? 0 : -1);
  if (comm != GOAL_COMM_WORLD) {
    check(GOAL_Comm_free(comm));
  }
  return next;
}

int main(int argc, char **argv) {
  int steps = 20, joins = 0, step = 0, has_spawned = 0, wrong = 0;
  int64_t right = (int64_t)COUNT * (COUNT + 1) / 2;
  for (int at = 1; at + 1 < argc; at += 2) {
    *(strcmp(argv[at], "-j") == 0 ? &joins : &steps) = atoi(argv[at + 1]);
  }
  check(GOAL_Init());
  GOAL_Comm comm = GOAL_COMM_WORLD;
  int start = GOAL_GroupSize(), has_joined = check(GOAL_Has_joined());
  for (;;) {
    int32_t order = ADD_UP;
    if (GOAL_Comm_rank(comm) == 0) {
      if (check(GOAL_Joining()) > 0) {
        order = ACCEPT;
      } else if (step >= steps) {
        order = END;
      } else if (step == steps / 4 && start > 1 && !has_spawned) {
        /* A process alone has no launcher that could start others. */
        order = SPAWN;
        has_spawned = 1;
      } else if (step != steps / 2 || GOAL_Comm_size(comm) >= start + has_spawned + joins) {
        step++; /* The step at the half is repeated until enough ranks have joined. */
      }
    }
    check(GOAL_Bcast(&order, 1, GOAL_INT32, 0, comm));
    if (order == END) {
      break;
    } else if (order == SPAWN) {
      comm = larger(comm, GOAL_Spawn(NULL, NULL, 1, 0, comm));
    } else if (order == ACCEPT) {
      comm = larger(comm, GOAL_Accept(comm));
    } else {
      wrong += sum_of(comm) != right;
    }
  }
  check(GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, comm));
  if (has_joined) {
    return GOAL_Leave() != GOAL_SUCCESS;
  }
  wrong += sum_of(GOAL_COMM_WORLD) != right;
  if (GOAL_MyRank() == 0) {
    int ranks = GOAL_Comm_size(comm);
    printf("%d ranks at first, %d in the end: %d wrong sums\n", start, ranks, wrong);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrong != 0;
}
