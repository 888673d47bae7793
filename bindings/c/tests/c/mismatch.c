// Ranks that call different collectives at a time get an error that names both.
// RUN: build %s
// RUN: for how in kind count root late open; do
// RUN:   echo $how; goal-run -n 2 --timeout 60 ./mismatch $how 2>&1 | grep -o 'all ranks must call.*' | sort -u
// RUN: done
#define _DEFAULT_SOURCE
#include <goal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "kind";
  int in[4] = {1, 2, 3, 4}, out[4], rank, i, rc = 0;
  if (GOAL_Init() != 0) return 1;
  rank = GOAL_MyRank();
  for (i = 0; i < 3; i++) GOAL_Allreduce(in, out, 2, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (strcmp(how, "late") == 0 && rank == 1) usleep(300000);
  if (strcmp(how, "open") == 0) {
    /* A run that has met another count is open, and the rank waits for a later one. */
    for (i = 0; i < 3; i++) {
      int n = i == 0 && rank == 1 ? 4 : 2;
      if (!GOAL_Ibcast(in, n, GOAL_INT32, 0, GOAL_COMM_WORLD)) return 0;
    }
  } else if (rank == 0) {
    rc = GOAL_Allreduce(in, out, 2, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  } else if (strcmp(how, "count") == 0) {
    rc = GOAL_Allreduce(in, out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  } else if (strcmp(how, "root") == 0) {
    rc = GOAL_Bcast(in, 2, GOAL_INT32, 1, GOAL_COMM_WORLD);
  } else if (strcmp(how, "open") != 0) {
    rc = GOAL_Barrier(GOAL_COMM_WORLD);
  }
  /* The root of a broadcast need not wait in it. */
  if (rc == 0) rc = GOAL_Barrier(GOAL_COMM_WORLD);
  /* The root has its barrier: it ends with the job. */
  if (strcmp(how, "open") == 0) return GOAL_Finalize() != 0;
  return rc == 0;
}
