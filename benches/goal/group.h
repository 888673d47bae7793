/* The ranks of a program of libgoal, and the memory that the library offers them: as benches/mpi/group.h. */
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* goal-run ends the other ranks when this one ends. */
static void group_abort(int status) { exit(status); }

/* Ends the program if a call has failed. */
static inline void group_expect(int succeeded) {
  if (succeeded) return;
  fprintf(stderr, "rank %d: %s\n", rank, GOAL_Last_error());
  group_abort(3);
}

typedef GOAL_Comm group_comm;
#define GROUP_WORLD GOAL_COMM_WORLD

/* All threads may call the library in any case. */
static void group_begin_with(int *argc, char ***argv, int threads) {
  (void)argc, (void)argv, (void)threads;
  group_expect(GOAL_Init() == GOAL_SUCCESS);
  rank = GOAL_MyRank();
  ranks = GOAL_GroupSize();
}

static void group_begin(int *argc, char ***argv) { group_begin_with(argc, argv, 0); }

static void group_end(void) { group_expect(GOAL_Finalize() == GOAL_SUCCESS); }

/* goal-run binds ranks itself. */
static int group_number(void) { return -1; }

static void group_barrier(void) { group_expect(GOAL_Barrier(GOAL_COMM_WORLD) == GOAL_SUCCESS); }

static void group_sums(double *mine, double *sums, int n) {
  group_expect(GOAL_Reduce(mine, sums, n, GOAL_FLOAT64, GOAL_ADD, 0, GOAL_COMM_WORLD) == GOAL_SUCCESS);
}

static void group_largest(double *mine, double *largest, int n) {
  group_expect(GOAL_Allreduce(mine, largest, n, GOAL_FLOAT64, GOAL_MAX, GOAL_COMM_WORLD) == GOAL_SUCCESS);
}

static void group_more(group_comm *more) {
  int *order = malloc(ranks * sizeof *order);
  for (int which = 0; which < 2; ++which) {
    for (int of = 0; of < ranks; ++of) order[of] = which ? ranks - 1 - of : of;
    more[which] = GOAL_Comm_create(GOAL_COMM_WORLD, order, ranks);
    group_expect(more[which] != NULL);
  }
  free(order);
}

static int group_rank(group_comm of) { return GOAL_Comm_rank(of); }

static void group_free(group_comm of) { group_expect(GOAL_Comm_free(of) == GOAL_SUCCESS); }

static int group_most(int mine) {
  int most;
  group_expect(GOAL_Allreduce(&mine, &most, 1, GOAL_INT32, GOAL_MAX, GOAL_COMM_WORLD) == GOAL_SUCCESS);
  return most;
}

/* Memory of a kind, or NULL: "malloc" is aligned_alloc's, "alloc" GOAL_Alloc's. */
static char *group_memory(const char *kind, size_t bytes, int which) {
  (void)which;
  if (!strcmp(kind, "malloc")) return aligned_alloc(4096, bytes);
  if (!strcmp(kind, "alloc")) return GOAL_Alloc(bytes);
  return NULL;
}

static void group_release(const char *kind, char *at, int which) {
  (void)which;
  if (!strcmp(kind, "malloc")) free(at);
  else group_expect(GOAL_Free(at) == GOAL_SUCCESS);
}

typedef GOAL_Handle group_request;

static group_request group_allreduce(int *in, int *out, long count) {
  GOAL_Handle run = GOAL_Iallreduce(in, out, count, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  group_expect(run != GOAL_HANDLE_NULL);
  return run;
}

static group_request group_ibarrier(group_comm of) {
  GOAL_Handle run = GOAL_Ibarrier(of);
  group_expect(run != GOAL_HANDLE_NULL);
  return run;
}

static void group_test(group_request *run) { group_expect(GOAL_Test(*run) >= 0); }

static void group_wait(group_request *run) { group_expect(GOAL_Wait(*run) == GOAL_SUCCESS); }
