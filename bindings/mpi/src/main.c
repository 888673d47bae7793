/* The beginning and the end of the program.
 *
 * The library is on from the end of MPI_Init to the beginning of MPI_Finalize, on all ranks of
 * MPI_COMM_WORLD or on none. In a process that a rank has forked it is off. */
#include "goalmpi.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int goalmpi_is_on, goalmpi_is_crowded, goalmpi_is_threaded;
MPI_Comm goalmpi_self = MPI_COMM_NULL, goalmpi_world = MPI_COMM_NULL;
static int has_begun;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void goalmpi_lock(void) {
  if (goalmpi_is_threaded) pthread_mutex_lock(&mutex);
}

void goalmpi_unlock(void) {
  if (goalmpi_is_threaded) pthread_mutex_unlock(&mutex);
}

static int exchange(void *context, const void *own, size_t bytes, void *all) {
  (void)context;
  if (bytes > INT_MAX) return 1;
  return PMPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
}

/* Returns 1 if all ranks say yes. */
static int all_say(int yes) {
  PMPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return yes;
}

static void tell(int rank, const char *text) {
  if (rank == 0) fprintf(stderr, "libgoal-mpi: %s. All calls are left to MPI.\n", text);
}

/* Returns 1 if ranks have the same settings. */
static int agree(int rank) {
  uint64_t digests[2];
  int is_right = goalmpi_settings(rank == 0);
  digests[0] = is_right ? goalmpi_digest() : 0;
  digests[1] = ~digests[0];
  PMPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (digests[0] == 0) return 0;
  if (digests[0] != ~digests[1]) {
    tell(rank, "the ranks' settings differ or are wrong: set the same GOALMPI_ variables on all ranks");
    return 0;
  }
  return 1;
}

/* Looks at the nodes of the job. One on several nodes needs progress also after a call has returned. */
static void look_at_nodes(int size) {
  MPI_Comm node;
  int here = 0;
  if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
    PMPI_Comm_size(node, &here);
    goalmpi_choices_begin(node);
    PMPI_Comm_free(&node);
  }
  if (here != size) goalmpi_use_thread();
  goalmpi_is_crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
}

/* Called in a process that a rank has forked. It is no rank, and another thread of the rank may have
 * held the lock. */
static void be_a_fork(void) {
  goalmpi_is_on = 0;
  goalmpi_is_threaded = 0;
  goalmpi_step_aside();
  goalmpi_unlearn();
  goalmpi_forget_waiting();
  goalmpi_behind = 0;
  goalmpi_forget_pending();
  goalmpi_forget_persistent();
}

static void start(void) {
  int rank, size, has_joined, level = MPI_THREAD_SINGLE;
  has_begun = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1 || !agree(rank)) return;
  has_joined = GOAL_Init_among(rank, size, exchange, NULL) == GOAL_SUCCESS;
  if (!has_joined) fprintf(stderr, "libgoal-mpi: rank %d: %s.\n", rank, GOAL_Last_error());
  else has_joined = pthread_atfork(NULL, NULL, be_a_fork) == 0;
  if (!all_say(has_joined)) {
    tell(rank, "a rank could not join the group");
    return;
  }
  look_at_nodes(size);
  goalmpi_types();
  /* Errors of these are the library's own. */
  PMPI_Comm_dup(MPI_COMM_SELF, &goalmpi_self);
  PMPI_Comm_set_errhandler(goalmpi_self, MPI_ERRORS_RETURN);
  PMPI_Comm_dup(MPI_COMM_WORLD, &goalmpi_world);
  PMPI_Comm_set_errhandler(goalmpi_world, MPI_ERRORS_RETURN);
  PMPI_Query_thread(&level);
  /* All ranks make communicators in the same way, whatever the level of each is. */
  goalmpi_is_threaded = !all_say(level != MPI_THREAD_MULTIPLE);
  goalmpi_is_on = all_say(goalmpi_communicators_begin() && GOAL_Set_idle(goalmpi_idle) == GOAL_SUCCESS);
}

/* Follows a call that began MPI. */
static int begun(int rc) {
  if (*goalmpi_other)
    fprintf(stderr,
            "libgoal-mpi: %s. All calls are left to MPI: build libgoal-mpi.so with the mpicc of the program.\n",
            goalmpi_other);
  if (rc == MPI_SUCCESS && !goalmpi_is_aside && !has_begun) start();
  return rc;
}

WRAPPER(Init)(int *argc, char ***argv) { return begun(PMPI_Init(argc, argv)); }

WRAPPER(Init_thread)(int *argc, char ***argv, int required, int *provided) {
  return begun(PMPI_Init_thread(argc, argv, required, provided));
}

WRAPPER(Finalize)(void) {
  if (goalmpi_is_on) {
    int rank = 0;
    unsigned rounds = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned round = 0; goalmpi_has_pending() && round < 1000000; round++) {
      goalmpi_poll();
      goalmpi_pause(&rounds);
    }
    /* No rank needs messages of MPI from this one any more. */
    PMPI_Barrier(MPI_COMM_WORLD);
    goalmpi_is_on = 0;
    goalmpi_unlearn();
    GOAL_Set_idle(NULL);
    goalmpi_choices_end();
    goalmpi_communicators_end();
    if (!goalmpi_has_pending()) {
      PMPI_Comm_free(&goalmpi_self);
      PMPI_Comm_free(&goalmpi_world);
      GOAL_Finalize();
    }
    if (rank == 0 && goalmpi_reports()) goalmpi_report();
  }
  return PMPI_Finalize();
}
