/* Collectives, in three forms, with counts of type int and, since MPI 4, MPI_Count. */
#include "shim.h"

/* A call of a collective: its form and, if it is not blocking, its request. */
struct call {
  int form;
  uint64_t request;
  const char *name;
  MPI_Comm comm;
};

static int is_inter(MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  return inter;
}

static int commutes(MPI_Op op) {
  int does = 0;
  return PMPI_Op_commutative(op, &does) == MPI_SUCCESS && does;
}

static int is_root(MPI_Comm comm, int root) {
  int me = -1;
  PMPI_Comm_rank(comm, &me);
  return me == root;
}

/* The core does not follow communicators between groups, and says so: blocks are not looked at. */
static size_t ranks_of(MPI_Comm comm) {
  int size = 0;
  if (!is_inter(comm)) PMPI_Comm_size(comm, &size);
  return (size_t)size;
}

static void record(struct call call, uint32_t kind, int root, uint32_t shape, int commutes, uint64_t width,
                   const uint64_t *send, const uint64_t *recv, size_t ranks) {
  struct goalprof_collective of = {call.name, of_comm(call.comm), kind, root < 0 ? 0 : (uint32_t)root, shape,
                                   commutes != 0, width, send, recv, ranks};
  goalprof_collective(call.form, call.request, &of);
}

/* Blocks of the same size in bytes. */
static void moves(struct call call, uint32_t kind, int root, uint64_t bytes) {
  record(call, kind, root, EQUAL, 1, 1, &bytes, NULL, 0);
}

/* Blocks of elements that are combined. */
static void combines(struct call call, uint32_t kind, int root, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  uint64_t elements = count > 0 ? (uint64_t)count : 0;
  record(call, kind, root, EQUAL, commutes(op), width_of(type), &elements, NULL, 0);
}

/* Returns NULL if there is no memory. Then recording ends. */
static uint64_t *numbers(size_t count) {
  uint64_t *all = malloc((count ? count : 1) * sizeof *all);
  if (!all) goalprof_no_memory();
  return all;
}

#define COUNT int
#define DISPLACEMENT int
#define LARGE(f) f
#define MPI(f) MPI_##f
#define PMPI(f) PMPI_##f
#include "collectives.inc"

#ifdef HAS_LARGE_COUNTS
#undef COUNT
#undef DISPLACEMENT
#undef LARGE
#undef MPI
#undef PMPI
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define LARGE(f) f##_large
#define MPI(f) MPI_##f##_c
#define PMPI(f) PMPI_##f##_c
#include "collectives.inc"
#endif

/* A barrier has no counts. */
int MPI_Barrier(MPI_Comm comm) {
  struct call call = {BLOCKING, 0, "MPI_Barrier", comm};
  int rc;
  if (!begin()) return PMPI_Barrier(comm);
  rc = PMPI_Barrier(comm);
  if (rc == MPI_SUCCESS) moves(call, BARRIER, 0, 0);
  return end(rc);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
  struct call call = {NONBLOCKING, 0, "MPI_Ibarrier", comm};
  int rc;
  if (!begin()) return PMPI_Ibarrier(comm, request);
  rc = PMPI_Ibarrier(comm, request);
  call.request = of_request(*request);
  if (rc == MPI_SUCCESS) moves(call, BARRIER, 0, 0);
  return end(rc);
}

#ifdef HAS_PERSISTENT
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
  struct call call = {PERSISTENT, 0, "MPI_Barrier_init", comm};
  int rc;
  if (!begin()) return PMPI_Barrier_init(comm, info, request);
  rc = PMPI_Barrier_init(comm, info, request);
  call.request = of_request(*request);
  if (rc == MPI_SUCCESS) moves(call, BARRIER, 0, 0);
  return end(rc);
}
#endif
