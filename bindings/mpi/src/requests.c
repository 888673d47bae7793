/* Requests of schedules that have not ended, and the calls that complete requests.
 *
 * The request of a non-blocking collective is a generalized request of MPI. The request of a
 * persistent one is a receive of an empty message from the process itself. So MPI's own functions
 * complete arrays that mix them with requests of MPI, and this file only tells MPI when a schedule
 * has ended. While a schedule runs, a call that waits becomes a loop that tests.
 *
 * A thread of libgoal makes progress of schedules from the first non-blocking one on, since other
 * ranks may need it while this one waits in a call of MPI or computes. */
#include "goalmpi.h"
#include <sched.h>
#include <stdio.h>

struct pending {
  struct pending *next;
  GOAL_Handle run;
  struct call call;
  /* A generalized request, or none if the request is a persistent one. */
  MPI_Request request;
  struct persistent *persistent;
  /* The result of the call. */
  int rc;
  /* Its run has ended, and MPI has released its generalized request, in either order. */
  int has_ended, is_released;
};

static struct pending *pending, *spare;

int goalmpi_has_pending(void) { return __atomic_load_n(&pending, __ATOMIC_RELAXED) != NULL; }

void goalmpi_forget_pending(void) { pending = NULL; }

static struct pending *take(const struct call *call, struct persistent *persistent) {
  struct pending *made;
  goalmpi_lock();
  made = spare;
  if (made) spare = made->next;
  goalmpi_unlock();
  if (!made) made = malloc(sizeof *made);
  if (made) *made = (struct pending){NULL, GOAL_HANDLE_NULL, *call, MPI_REQUEST_NULL, persistent, MPI_SUCCESS, 0, 0};
  return made;
}

static void give_back(struct pending *of) {
  goalmpi_lock();
  of->next = spare;
  spare = of;
  goalmpi_unlock();
}

static void add(struct pending *of) {
  goalmpi_lock();
  of->next = pending;
  __atomic_store_n(&pending, of, __ATOMIC_RELAXED);
  goalmpi_unlock();
}

int goalmpi_use_thread(void) {
  static int is_used;
  if (!__atomic_load_n(&is_used, __ATOMIC_RELAXED) && GOAL_Set_progress(GOAL_PROGRESS_THREAD) == GOAL_SUCCESS)
    __atomic_store_n(&is_used, 1, __ATOMIC_RELAXED);
  return is_used;
}

/* The result of a generalized request that failed, from its query to the end of that call, in the
 * thread of both. Intel MPI does not return it by itself. */
static __thread int failure = MPI_SUCCESS;

static int result(int rc) { return rc == MPI_SUCCESS ? failure : rc; }

/* The result of a call that may complete requests. An error handler may have left one before. */
#define RESULT(call) (failure = MPI_SUCCESS, result(call))

/* The functions of a generalized request. */
static int query(void *extra, MPI_Status *status) {
  const struct pending *of = extra;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  if (of->rc != MPI_SUCCESS) failure = of->rc;
  return of->rc;
}

/* Some MPI libraries release a request at once that the program frees, though MPI forbids it. */
static int release(void *extra) {
  struct pending *of = extra;
  int has_ended;
  goalmpi_lock();
  of->is_released = 1;
  has_ended = of->has_ended;
  goalmpi_unlock();
  if (has_ended) give_back(of);
  return MPI_SUCCESS;
}

/* MPI forbids to cancel a collective. */
static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

/* Tells MPI that the run of a request has ended. */
static void complete(struct pending *of) {
  MPI_Comm comm = of->call.mpi;
  MPI_Request request;
  int is_released, rc = of->rc;
  if (rc == MPI_SUCCESS) rc = goalmpi_after(&of->call);
  goalmpi_keep_error(comm, rc);
  if (of->persistent) {
    goalmpi_persistent_ended(of->persistent, rc);
    give_back(of);
    return;
  }
  of->rc = rc;
  goalmpi_drop(&of->call);
  goalmpi_lock();
  of->has_ended = 1;
  is_released = of->is_released;
  request = of->request;
  goalmpi_unlock();
  /* MPI may release it from now on. */
  PMPI_Grequest_complete(request);
  if (is_released) give_back(of);
}

void goalmpi_complete_ended(void) {
  struct pending *ended = NULL;
  struct call late;
  int is_late = 0;
  goalmpi_lock();
  for (struct pending **at = &pending; *at;) {
    struct pending *of = *at;
    int has_ended = GOAL_Test(of->run);
    if (has_ended == 0) {
      if (goalmpi_is_late(&of->call)) {
        late = of->call;
        is_late = 1;
      }
      at = &of->next;
      continue;
    }
    __atomic_store_n(at, of->next, __ATOMIC_RELAXED);
    of->next = ended;
    ended = of;
    of->rc = has_ended < 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
  }
  goalmpi_unlock();
  if (is_late) goalmpi_compare(&late);
  while (ended) {
    struct pending *of = ended;
    ended = of->next;
    if (of->rc != MPI_SUCCESS) goalmpi_failed(&of->call);
    complete(of);
  }
}

void goalmpi_look_at_pending(void) {
  struct call late;
  int is_late = 0;
  goalmpi_lock();
  for (struct pending *of = pending; of; of = of->next) {
    if (!goalmpi_is_late(&of->call)) continue;
    late = of->call;
    is_late = 1;
  }
  goalmpi_unlock();
  if (is_late) goalmpi_compare(&late);
}

void goalmpi_poll(void) {
  goalmpi_catch_up();
  if (goalmpi_has_pending()) goalmpi_complete_ended();
  goalmpi_tell_errors();
}

/* Starts a non-blocking collective. */
int goalmpi_start(struct call *call, MPI_Request *request) {
  struct pending *of = NULL;
  int rc = call->refused ? call->refused : goalmpi_before(call);
  *request = MPI_REQUEST_NULL;
  if (rc == MPI_SUCCESS) rc = goalmpi_keep_types(call);
  if (rc == MPI_SUCCESS && !goalmpi_use_thread()) rc = goalmpi_give_up(call, NULL);
  if (rc == MPI_SUCCESS && !(of = take(call, NULL))) rc = goalmpi_give_up(call, "there is no memory");
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Grequest_start(query, release, cancel, of, &of->request);
    if (rc != MPI_SUCCESS) goalmpi_give_up(call, "MPI can't make a request");
  }
  if (rc == MPI_SUCCESS) {
    of->run = goalmpi_launch(&of->call, call->comm->nonblocking);
    if (of->run != GOAL_HANDLE_NULL) {
      *request = of->request;
      add(of);
      return MPI_SUCCESS;
    }
    rc = goalmpi_give_up(call, NULL);
    *request = of->request;
    of->has_ended = 1;
    PMPI_Grequest_complete(*request);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
  } else if (of) {
    give_back(of);
  }
  goalmpi_drop(call);
  return goalmpi_tell_error(call->mpi, rc);
}

/* Starts the schedule of a persistent request whose receive is posted. If that fails, the request
 * ends with an error. */
int goalmpi_start_persistent(struct persistent *persistent, GOAL_Schedule schedule, const struct call *given) {
  struct pending *of = take(given, persistent);
  int rc = of ? goalmpi_before(&of->call) : goalmpi_give_up(given, "there is no memory");
  if (rc == MPI_SUCCESS && !goalmpi_use_thread()) rc = goalmpi_give_up(given, NULL);
  if (rc == MPI_SUCCESS) {
    of->run = GOAL_Run(schedule);
    if (of->run == GOAL_HANDLE_NULL) rc = goalmpi_give_up(given, NULL);
  }
  if (rc == MPI_SUCCESS) {
    add(of);
    return rc;
  }
  if (of) give_back(of);
  goalmpi_keep_error(given->mpi, rc);
  goalmpi_persistent_ended(persistent, rc);
  return rc;
}

/* Offers the processor to others if a loop has gone on for a while. */
void goalmpi_pause(unsigned *rounds) {
  if (++*rounds > 256 || goalmpi_is_crowded) sched_yield();
}

/* Repeats a test until it has an outcome, or until no schedule runs and MPI can wait by itself. */
#define UNTIL(outcome, test, wait)            \
  do {                                        \
    unsigned rounds = 0;                      \
    while (goalmpi_has_pending()) {           \
      int rc;                                 \
      goalmpi_poll();                         \
      rc = RESULT(test);                      \
      if (rc != MPI_SUCCESS || (outcome)) return rc; \
      goalmpi_pause(&rounds);                 \
    }                                         \
    goalmpi_tell_errors();                    \
    return RESULT(wait);                      \
  } while (0)

WRAPPER(Wait)(MPI_Request *request, MPI_Status *status) {
  int flag = 0;
  UNTIL(flag, PMPI_Test(request, &flag, status), PMPI_Wait(request, status));
}

WRAPPER(Waitall)(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int flag = 0;
  UNTIL(flag, PMPI_Testall(count, requests, &flag, statuses), PMPI_Waitall(count, requests, statuses));
}

WRAPPER(Waitany)(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  int flag = 0;
  UNTIL(flag, PMPI_Testany(count, requests, index, &flag, status), PMPI_Waitany(count, requests, index, status));
}

WRAPPER(Waitsome)(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  *done = 0;
  UNTIL(*done, PMPI_Testsome(count, requests, done, indices, statuses),
        PMPI_Waitsome(count, requests, done, indices, statuses));
}

WRAPPER(Test)(MPI_Request *request, int *flag, MPI_Status *status) {
  goalmpi_poll();
  return RESULT(PMPI_Test(request, flag, status));
}

WRAPPER(Testall)(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  goalmpi_poll();
  return RESULT(PMPI_Testall(count, requests, flag, statuses));
}

WRAPPER(Testany)(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  goalmpi_poll();
  return RESULT(PMPI_Testany(count, requests, index, flag, status));
}

WRAPPER(Testsome)(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  goalmpi_poll();
  return RESULT(PMPI_Testsome(count, requests, done, indices, statuses));
}

WRAPPER(Request_get_status)(MPI_Request request, int *flag, MPI_Status *status) {
  goalmpi_poll();
  return RESULT(PMPI_Request_get_status(request, flag, status));
}

#ifdef HAS_STATUS_OF_ARRAYS
/* Intel MPI declares these arrays without the `const` of the standard. */
#ifdef I_MPI_VERSION
#define LOOKED_AT MPI_Request
#else
#define LOOKED_AT const MPI_Request
#endif

WRAPPER(Request_get_status_all)(int count, LOOKED_AT requests[], int *flag, MPI_Status statuses[]) {
  goalmpi_poll();
  return RESULT(PMPI_Request_get_status_all(count, requests, flag, statuses));
}

WRAPPER(Request_get_status_any)(int count, LOOKED_AT requests[], int *index, int *flag, MPI_Status *status) {
  goalmpi_poll();
  return RESULT(PMPI_Request_get_status_any(count, requests, index, flag, status));
}

WRAPPER(Request_get_status_some)(int count, LOOKED_AT requests[], int *done, int indices[],
                                MPI_Status statuses[]) {
  goalmpi_poll();
  return RESULT(PMPI_Request_get_status_some(count, requests, done, indices, statuses));
}
#endif
