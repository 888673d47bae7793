/* The beginning and the end of the program.
 *
 * The library is on from the end of MPI_Init to the beginning of MPI_Finalize, on all ranks of
 * MPI_COMM_WORLD or on none. */
#include "goalmpi.h"
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int goalmpi_is_on, goalmpi_is_crowded;
__thread int goalmpi_is_inside;
MPI_Comm goalmpi_self = MPI_COMM_NULL, goalmpi_world = MPI_COMM_NULL;

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

/* Returns 1 if ranks have the same settings, and no thread may call while another one does. */
static int agree(int rank) {
  uint64_t digests[2];
  int level = MPI_THREAD_SINGLE, is_right = goalmpi_settings(rank == 0);
  PMPI_Query_thread(&level);
  digests[0] = is_right ? goalmpi_digest() : 0;
  digests[1] = ~digests[0];
  PMPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (digests[0] == 0) return 0;
  if (digests[0] != ~digests[1]) {
    tell(rank, "the ranks' settings differ or are wrong: set the same GOALMPI_ variables on all ranks");
    return 0;
  }
  if (!all_say(level != MPI_THREAD_MULTIPLE)) {
    if (goalmpi_reports()) tell(rank, "the program has MPI_THREAD_MULTIPLE");
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
    PMPI_Comm_free(&node);
  }
  if (here != size) goalmpi_use_thread();
  goalmpi_is_crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
}

static void start(void) {
  int rank, size, has_joined;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1 || !agree(rank)) return;
  has_joined = GOAL_Init_among(rank, size, exchange, NULL) == GOAL_SUCCESS;
  if (!has_joined) fprintf(stderr, "libgoal-mpi: rank %d: %s.\n", rank, GOAL_Last_error());
  if (!all_say(has_joined)) {
    tell(rank, "a rank could not join the group");
    return;
  }
  look_at_nodes(size);
  goalmpi_types();
  PMPI_Comm_dup(MPI_COMM_SELF, &goalmpi_self);
  /* A persistent collective that fails tells the error handler of its own communicator. */
  PMPI_Comm_set_errhandler(goalmpi_self, MPI_ERRORS_RETURN);
  PMPI_Comm_dup(MPI_COMM_WORLD, &goalmpi_world);
  goalmpi_is_on = all_say(goalmpi_communicators_begin());
}

int MPI_Init(int *argc, char ***argv) {
  int rc = PMPI_Init(argc, argv);
  if (rc == MPI_SUCCESS && !goalmpi_is_on) start();
  return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int rc = PMPI_Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS && !goalmpi_is_on) start();
  return rc;
}

int MPI_Finalize(void) {
  if (goalmpi_is_on) {
    int rank = 0;
    unsigned rounds = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned round = 0; goalmpi_pending && round < 1000000; round++) {
      goalmpi_poll();
      goalmpi_pause(&rounds);
    }
    /* No rank needs messages of MPI from this one any more. */
    PMPI_Barrier(MPI_COMM_WORLD);
    goalmpi_is_on = 0;
    goalmpi_communicators_end();
    if (!goalmpi_pending) {
      PMPI_Comm_free(&goalmpi_self);
      PMPI_Comm_free(&goalmpi_world);
      GOAL_Finalize();
    }
    if (rank == 0 && goalmpi_reports()) goalmpi_report();
  }
  return PMPI_Finalize();
}
