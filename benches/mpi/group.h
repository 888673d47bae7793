/* The ranks of an MPI program, and the memory that MPI offers them. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

typedef MPI_Comm group_comm;
#define GROUP_WORLD MPI_COMM_WORLD

static void group_begin_with(int *argc, char ***argv, int threads) {
  int provided;
  if (!threads) MPI_Init(argc, argv);
  else if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS || provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void group_begin(int *argc, char ***argv) { group_begin_with(argc, argv, 0); }

static void group_end(void) { MPI_Finalize(); }

static void group_abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  exit(status);
}

/* The number of this rank as the launcher tells it, before the group begins; or -1. */
static int group_number(void) {
  const char *text = getenv("OMPI_COMM_WORLD_RANK");
  if (!text) text = getenv("PMI_RANK");
  return text ? atoi(text) : -1;
}

static void group_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* The sums of the numbers of all ranks, at rank 0. */
static void group_sums(double *mine, double *sums, int n) { MPI_Reduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }

/* For each number the largest of all ranks. */
static void group_largest(double *mine, double *largest, int n) { MPI_Allreduce(mine, largest, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); }

/* Two more communicators of all ranks: the second one has them in the opposite order. */
static void group_more(group_comm *more) {
  MPI_Comm_dup(MPI_COMM_WORLD, &more[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &more[1]);
}

static int group_rank(group_comm of) {
  int number;
  MPI_Comm_rank(of, &number);
  return number;
}

static void group_free(group_comm of) { MPI_Comm_free(&of); }

/* The largest of the numbers of all ranks. */
static int group_most(int mine) {
  int most;
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static MPI_Win group_windows[2];

/* Memory of a kind, or NULL: "malloc" is aligned_alloc's, "alloc" MPI_Alloc_mem's, "window" a window of memory that the ranks share. */
static char *group_memory(const char *kind, size_t bytes, int which) {
  char *at = NULL;
  if (!strcmp(kind, "malloc")) at = aligned_alloc(4096, bytes);
  else if (!strcmp(kind, "alloc")) MPI_Alloc_mem(bytes, MPI_INFO_NULL, &at);
  else if (!strcmp(kind, "window")) MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &group_windows[which]);
  return at;
}

static void group_release(const char *kind, char *at, int which) {
  if (!strcmp(kind, "malloc")) free(at);
  else if (!strcmp(kind, "alloc")) MPI_Free_mem(at);
  else MPI_Win_free(&group_windows[which]);
}

/* A non-blocking allreduce of 32-bit integers. */
typedef MPI_Request group_request;

static group_request group_allreduce(int *in, int *out, long count) {
  MPI_Request request;
  MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  return request;
}

static group_request group_ibarrier(group_comm of) {
  MPI_Request request;
  MPI_Ibarrier(of, &request);
  return request;
}

static void group_test(group_request *request) {
  int done;
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void group_wait(group_request *request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
