/* Schedules that fail, each at another point. The program is linked with the wrappers and, instead of
 * libgoal, with functions that fail when they are told to. Each failure must call the error handler of
 * the communicator once and be the result of the call that completes the operation, and no call may
 * wait for ever. */
#include <goal.h>
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum point { NOWHERE, PROGRESS, LAUNCH, TEST, PREPARE, START };
static enum point fails_at;
static int handled, faults;
/* A valid address for handles. */
static char thing;

/* libgoal */
int GOAL_Init_among(int rank, int size, GOAL_Exchange exchange, void *context) {
  (void)rank, (void)size, (void)exchange, (void)context;
  return GOAL_SUCCESS;
}
int GOAL_Finalize(void) { return GOAL_SUCCESS; }
const char *GOAL_Last_error(void) { return "the test asked for it"; }
int GOAL_Set_progress(GOAL_Progress progress) { return (void)progress, fails_at == PROGRESS ? -1 : GOAL_SUCCESS; }
GOAL_Comm GOAL_Comm_create(GOAL_Comm parent, const int *ranks, int n) {
  (void)parent, (void)ranks, (void)n;
  return (GOAL_Comm)&thing;
}
int GOAL_Comm_free(GOAL_Comm comm) { return (void)comm, GOAL_SUCCESS; }
static void *unless(enum point point) { return fails_at == point ? NULL : &thing; }
GOAL_Handle GOAL_Run(GOAL_Schedule schedule) { return (void)schedule, unless(START); }
int GOAL_FreeSchedule(GOAL_Schedule schedule) { return (void)schedule, GOAL_SUCCESS; }
int GOAL_Test(GOAL_Handle handle) { return (void)handle, fails_at == TEST ? -1 : 1; }
#define MOVES(f, i, P)                              \
  GOAL_Handle GOAL_##i P { return unless(LAUNCH); } \
  GOAL_Schedule GOAL_##f##_init P { return unless(PREPARE); }
#pragma GCC diagnostic ignored "-Wunused-parameter"
MOVES(Barrier, Ibarrier, (GOAL_Comm comm))
MOVES(Bcast, Ibcast, (void *buf, int64_t count, GOAL_Type type, int root, GOAL_Comm comm))
MOVES(Gather, Igather, (const void *in, void *out, int64_t count, GOAL_Type type, int root, GOAL_Comm comm))
MOVES(Allgather, Iallgather, (const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Comm comm))
MOVES(Alltoall, Ialltoall, (const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Comm comm))
MOVES(Allreduce, Iallreduce, (const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Op op, GOAL_Comm comm))
MOVES(Reduce, Ireduce,
      (const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Op op, int root, GOAL_Comm comm))

static void count_errors(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
}

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  faults++;
  printf("%s is %d, and not %d\n", what, got, wanted);
}

/* Runs a broadcast of scattered elements in its forms. */
static void broadcast(const char *what, enum point point, MPI_Comm comm, MPI_Datatype type) {
  static int buffer[16];
  MPI_Request request = MPI_REQUEST_NULL;
  int rc, has_failed;
  fails_at = point;
  handled = 0;
  rc = MPI_Bcast(buffer, 4, type, 0, comm);
  expect(what, rc != MPI_SUCCESS, point == LAUNCH || point == TEST);
  expect(what, handled, point == LAUNCH || point == TEST);
  handled = 0;
  rc = MPI_Ibcast(buffer, 4, type, 0, comm, &request);
  expect(what, rc != MPI_SUCCESS, point == LAUNCH || point == PROGRESS);
  has_failed = rc != MPI_SUCCESS;
  if (rc == MPI_SUCCESS) has_failed = MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  expect(what, has_failed, point == LAUNCH || point == TEST || point == PROGRESS);
  expect(what, handled, has_failed);
#ifdef HAS_PERSISTENT
  handled = 0;
  rc = MPI_Bcast_init(buffer, 4, type, 0, comm, MPI_INFO_NULL, &request);
  expect(what, rc != MPI_SUCCESS, point == PREPARE);
  has_failed = rc != MPI_SUCCESS;
  if (!has_failed) {
    has_failed = MPI_Start(&request) != MPI_SUCCESS;
    expect(what, has_failed, point == START || point == PROGRESS);
    has_failed |= MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_Request_free(&request);
  }
  expect(what, has_failed, point != NOWHERE && point != LAUNCH);
  expect(what, handled, has_failed);
#endif
}

int main(int argc, char **argv) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  /* The call that completes a generalized request tells one of these of its result. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  broadcast("a failure of the thread of progress", PROGRESS, comm, type);
  broadcast("no failure", NOWHERE, comm, type);
  broadcast("a failure of a launch", LAUNCH, comm, type);
  broadcast("a failure of a run", TEST, comm, type);
  broadcast("a failure of a preparation", PREPARE, comm, type);
  broadcast("a failure of a start", START, comm, type);
  fails_at = NOWHERE;
  MPI_Type_free(&type);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return faults != 0;
}
