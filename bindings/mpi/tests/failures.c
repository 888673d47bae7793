/* Schedules that fail, each at another point. The program is linked with the wrappers and, instead of
 * libgoal, with functions that fail when they are told to. Each failure must call the error handler of
 * the communicator once. The call that completes the operation must return it. No call may wait for
 * ever. The handler may call MPI, and may leave by longjmp. A process that a rank has forked calls
 * no function of libgoal. */
#include <goal.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum point { NOWHERE, PROGRESS, LAUNCH, TEST, PREPARE, START, NEVER };
static enum point fails_at;
static int handled, faults, tests, freed, aborted;
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
int GOAL_FreeSchedule(GOAL_Schedule schedule) { return (void)schedule, freed++, GOAL_SUCCESS; }
/* A run that fails ends the job. */
int GOAL_Last_error_code(void) { return fails_at == TEST ? GOAL_ERR_FAILED : GOAL_ERR_MEMORY; }
int GOAL_Set_idle(GOAL_Idle idle) { return (void)idle, GOAL_SUCCESS; }
int GOAL_Abort(const char *why) { return (void)why, aborted++, GOAL_SUCCESS; }
int GOAL_Test(GOAL_Handle handle) {
  (void)handle, tests++;
  return fails_at == NEVER ? 0 : fails_at == TEST ? -1 : 1;
}
static int run(void) {
  tests++;
  return fails_at == LAUNCH || fails_at == TEST ? GOAL_Last_error_code() : GOAL_SUCCESS;
}
#define MOVES(f, i, P)                              \
  int GOAL_##f P { return run(); }                  \
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
  handled = aborted = 0;
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
  /* The others wait for a rank that has not begun. */
#ifndef HAS_PERSISTENT
  if (point == PREPARE || point == START) return;
#endif
  expect(what, aborted > 0, point != NOWHERE && point != TEST);
}

static jmp_buf out;
static void leave(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
  longjmp(out, 1);
}

static void call_again(MPI_Comm *comm, int *code, ...) {
  int flag;
  MPI_Request none = MPI_REQUEST_NULL;
  (void)comm, (void)code;
  handled++;
  MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
}

static void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function *function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}

/* Three requests fail in one look at them, whose handler makes the next look. */
static void handlers(MPI_Comm comm) {
  static int buffer[16], word;
  int flag, has_left;
  MPI_Request requests[3];
  MPI_Comm copy;
  fails_at = NEVER;
  for (int at = 0; at < 3; at++) MPI_Ibcast(buffer + at, 1, MPI_INT, 0, comm, &requests[at]);
  fails_at = TEST;
  handled = 0;
  set_handler(comm, call_again);
  for (int at = 0; at < 3; at++) expect("a request that failed", MPI_Wait(&requests[at], MPI_STATUS_IGNORE) != MPI_SUCCESS, 1);
  expect("handlers that call MPI", handled, 3);
  fails_at = NEVER;
  for (int at = 0; at < 3; at++) MPI_Ibcast(buffer + at, 1, MPI_INT, 0, comm, &requests[at]);
  fails_at = TEST;
  handled = 0;
  set_handler(comm, leave);
  for (int at = 0; at < 3; at++) {
    MPI_Request none = MPI_REQUEST_NULL;
    has_left = setjmp(out);
    if (!has_left) MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
  }
  for (int at = 0; at < 3; at++) {
    /* The call that completes it may call the handler of another communicator only. */
    expect("a request whose handler has left", MPI_Wait(&requests[at], MPI_STATUS_IGNORE) != MPI_SUCCESS, 1);
  }
  expect("handlers that leave", handled, 3);
  /* Another schedule and another communicator go on. */
  has_left = setjmp(out);
  if (!has_left) MPI_Bcast(&word, 1, MPI_INT, 0, comm);
  expect("handlers of a blocking call", handled, 4);
  has_left = setjmp(out);
  if (!has_left) MPI_Comm_split(comm, -7, 0, &copy);
  fails_at = NOWHERE;
  MPI_Comm_dup(comm, &copy);
  tests = 0;
  expect("a bcast behind handlers that left", MPI_Bcast(&word, 1, MPI_INT, 0, copy), MPI_SUCCESS);
  expect("tests of a schedule", tests > 0, 1);
  MPI_Comm_free(&copy);
  set_handler(comm, count_errors);
}

/* A persistent collective that is freed while it runs stays until it has ended. */
static void freed_early(MPI_Comm comm, MPI_Datatype type) {
#ifdef HAS_PERSISTENT
  static int buffer[16];
  int flag;
  MPI_Request request, other, none = MPI_REQUEST_NULL;
  fails_at = NOWHERE;
  MPI_Bcast_init(buffer, 4, type, 0, comm, MPI_INFO_NULL, &request);
  fails_at = NEVER;
  MPI_Start(&request);
  freed = 0;
  MPI_Request_free(&request);
  expect("schedules that are freed while they run", freed, 0);
  MPI_Bcast_init(buffer, 4, type, 0, comm, MPI_INFO_NULL, &other);
  MPI_Start(&other);
  MPI_Test(&other, &flag, MPI_STATUS_IGNORE);
  expect("the end of another request", flag, 0);
  fails_at = NOWHERE;
  MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
  expect("schedules that are freed at their end", freed, 1);
  MPI_Wait(&other, MPI_STATUS_IGNORE);
  MPI_Request_free(&other);
  expect("schedules that are freed", freed, 2);
#else
  (void)comm, (void)type;
#endif
}

/* MPI forbids to free the request of a non-blocking collective. Nothing else may break by it. */
static void freed_request(MPI_Comm comm) {
  static int buffer[16];
  MPI_Request request, other;
  fails_at = NEVER;
  MPI_Ibcast(buffer, 4, MPI_INT, 0, comm, &request);
  MPI_Request_free(&request);
  MPI_Ibcast(buffer, 4, MPI_INT, 0, comm, &request);
  MPI_Ibcast(buffer + 8, 4, MPI_INT, 0, comm, &other);
  fails_at = NOWHERE;
  expect("a request behind one that was freed", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect("another one", MPI_Wait(&other, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* The forked process only asks for a request that is none, which needs no other process. */
static void forked(MPI_Comm comm) {
  int word = 0, flag, status = -1;
  pid_t child;
  MPI_Request request, none = MPI_REQUEST_NULL;
  fails_at = NEVER;
  MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &request);
  tests = 0;
  child = fork();
  if (child == 0) {
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
    _exit(tests);
  }
  waitpid(child, &status, 0);
  expect("calls of a forked process that reach libgoal", status, 0);
  fails_at = NOWHERE;
  expect("a request of the parent", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
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
  handlers(comm);
  freed_early(comm, type);
  freed_request(comm);
  forked(comm);
  fails_at = NOWHERE;
  MPI_Type_free(&type);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return faults != 0;
}
