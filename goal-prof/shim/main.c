/* The beginning and the end of the program. */
#include "shim.h"
#include <stdio.h>

int shim_is_on;
size_t shim_words;
__thread int shim_is_inside;

/* A program that another one has spawned is none of its ranks, and the files of both may have the same
 * names. All processes of a world see that alike. */
static int is_spawned(int rank) {
  static const char text[] =
      "goal-prof: this program was spawned by another one of MPI, and is not recorded; it goes on.\n";
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL && rank == 0) fwrite(text, 1, sizeof text - 1, stderr);
  return parent != MPI_COMM_NULL;
}

static void start(void) {
  int rank, ranks, level = MPI_THREAD_SINGLE;
  uint64_t digests[2];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is_spawned(rank)) return;
  /* The largest of all numbers and of all complements: they belong together if all are equal. */
  digests[0] = goalprof_digest((uint32_t)rank);
  digests[1] = ~digests[0];
  PMPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (digests[0] == 0) return;
  if (digests[0] != ~digests[1]) {
    if (rank == 0) {
      static const char text[] =
          "goal-prof: the ranks' settings differ or are wrong: set the same GOALPROF_ variables on all ranks. "
          "Nothing is recorded; the program goes on.\n";
      fwrite(text, 1, sizeof text - 1, stderr);
    }
    return;
  }
  PMPI_Query_thread(&level);
  shim_words = goalprof_begin((uint32_t)rank, (uint32_t)ranks, of_comm(MPI_COMM_WORLD),
                              of_comm(MPI_COMM_SELF), level == MPI_THREAD_MULTIPLE);
  shim_is_on = 1;
}

int MPI_Init(int *argc, char ***argv) {
  int rc = PMPI_Init(argc, argv);
  if (rc == MPI_SUCCESS && !shim_is_on) start();
  return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int rc = PMPI_Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS && !shim_is_on) start();
  return rc;
}

int MPI_Finalize(void) {
  if (begin()) {
    end(0);
    shim_is_on = 0;
    goalprof_finish();
  }
  return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code) {
  shim_is_on = 0;
  goalprof_abandon();
  return PMPI_Abort(comm, code);
}

int MPI_Pcontrol(const int level, ...) {
  if (shim_is_on) goalprof_control(level);
  return MPI_SUCCESS;
}

/* The program ends without MPI_Finalize. */
__attribute__((destructor)) static void leave(void) {
  if (shim_is_on) goalprof_abandon();
  shim_is_on = 0;
}
