/* Requests of schedules that have not ended, and the calls that complete requests.
 *
 * The request of a non-blocking collective is a generalized request of MPI, that of a persistent one
 * a receive of an empty message from the process itself. So MPI's own functions complete arrays that
 * mix them with requests of MPI, and this file only tells MPI when a schedule has ended. While one
 * runs, a call that waits becomes a loop that tests.
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
  MPI_Request request;
  /* The tag of the message that completes a persistent request; -1 for a generalized one. */
  int tag;
  /* How the call ended. */
  int rc;
};

struct pending *goalmpi_pending;
static struct pending *spare;

static struct pending *take(const struct call *call, int tag) {
  struct pending *made = spare ? spare : malloc(sizeof *made);
  if (!made) return NULL;
  if (spare) spare = spare->next;
  made->call = *call;
  made->tag = tag;
  made->rc = MPI_SUCCESS;
  return made;
}

static void give_back(struct pending *of) {
  of->next = spare;
  spare = of;
}

static void add(struct pending *of) {
  of->next = goalmpi_pending;
  goalmpi_pending = of;
}

int goalmpi_use_thread(void) {
  static int is_used;
  if (!is_used) is_used = GOAL_Set_progress(GOAL_PROGRESS_THREAD) == GOAL_SUCCESS;
  return is_used;
}

/* The result of a generalized request that failed, from its query to the end of that call. Intel MPI
 * does not return it by itself. */
static int failure = MPI_SUCCESS;

static int result(int rc) {
  int failed = failure;
  failure = MPI_SUCCESS;
  return rc == MPI_SUCCESS ? failed : rc;
}

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

static int release(void *extra) {
  give_back(extra);
  return MPI_SUCCESS;
}

/* MPI forbids to cancel a collective. */
static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

/* Tells MPI that a persistent request has ended. One that failed gets more bytes than its receive has
 * room for, so that the call which completes it returns MPI_ERR_TRUNCATE. */
static void tell_persistent(int tag, int rc) {
  char bytes[ROOM + 1] = "";
  PMPI_Send(bytes, rc == MPI_SUCCESS ? 0 : ROOM + 1, MPI_BYTE, 0, tag, goalmpi_self);
}

static void complete(struct pending *of, int has_ended) {
  of->rc = has_ended < 0 ? goalmpi_fail(of->call.mpi, of->call.kind, NULL) : goalmpi_after(&of->call);
  if (of->tag < 0) {
    goalmpi_drop(&of->call);
    PMPI_Grequest_complete(of->request);
  } else {
    tell_persistent(of->tag, of->rc);
    give_back(of);
  }
}

static int fail_to_start(const struct call *call, const char *why) {
  return goalmpi_fail(call->mpi, call->kind, why);
}

/* Starts a non-blocking collective. */
int goalmpi_start(const struct call *given, MPI_Request *request) {
  struct pending *of = take(given, -1);
  int rc = of ? goalmpi_before(&of->call) : fail_to_start(given, "there is no memory");
  if (!of) return rc;
  if (rc == MPI_SUCCESS) rc = goalmpi_keep_types(&of->call);
  if (rc == MPI_SUCCESS && !goalmpi_use_thread()) rc = fail_to_start(given, NULL);
  if (rc == MPI_SUCCESS) rc = PMPI_Grequest_start(query, release, cancel, of, &of->request);
  if (rc != MPI_SUCCESS) {
    goalmpi_drop(&of->call);
    give_back(of);
    return rc;
  }
  of->run = goalmpi_launch(&of->call);
  if (of->run == GOAL_HANDLE_NULL) {
    MPI_Request unused = of->request;
    rc = fail_to_start(given, NULL);
    goalmpi_drop(&of->call);
    PMPI_Grequest_complete(unused);
    PMPI_Wait(&unused, MPI_STATUS_IGNORE);
    return rc;
  }
  *request = of->request;
  add(of);
  return MPI_SUCCESS;
}

/* Starts the schedule of a persistent request whose receive is posted. If that fails, the request
 * ends with an error. */
int goalmpi_start_persistent(GOAL_Schedule schedule, struct call *call, int tag) {
  struct pending *of = NULL;
  int rc = goalmpi_before(call);
  if (rc == MPI_SUCCESS) {
    of = take(call, tag);
    if (!of) rc = fail_to_start(call, "there is no memory");
  }
  if (rc == MPI_SUCCESS && !goalmpi_use_thread()) rc = fail_to_start(call, NULL);
  if (rc == MPI_SUCCESS) {
    of->run = GOAL_Run(schedule);
    if (of->run == GOAL_HANDLE_NULL) rc = fail_to_start(call, NULL);
  }
  if (rc == MPI_SUCCESS) {
    add(of);
    return rc;
  }
  if (of) give_back(of);
  tell_persistent(tag, rc);
  return rc;
}

/* Completes the requests of schedules that have ended. */
void goalmpi_poll(void) {
  for (struct pending **at = &goalmpi_pending; *at;) {
    struct pending *of = *at;
    int has_ended = GOAL_Test(of->run);
    if (has_ended == 0) {
      at = &of->next;
      continue;
    }
    *at = of->next;
    complete(of, has_ended);
  }
}

/* Offers the processor to others if a loop has gone on for a while. */
void goalmpi_pause(unsigned *rounds) {
  if (++*rounds > 256 || goalmpi_is_crowded) sched_yield();
}

/* Repeats a test until it has an outcome, or until no schedule runs and MPI can wait by itself. */
#define UNTIL(outcome, test, wait)            \
  do {                                        \
    unsigned rounds = 0;                      \
    while (goalmpi_pending) {                 \
      int rc;                                 \
      goalmpi_poll();                         \
      rc = result(test);                      \
      if (rc != MPI_SUCCESS || (outcome)) return rc; \
      goalmpi_pause(&rounds);                 \
    }                                         \
    return result(wait);                      \
  } while (0)

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  int flag = 0;
  UNTIL(flag, PMPI_Test(request, &flag, status), PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int flag = 0;
  UNTIL(flag, PMPI_Testall(count, requests, &flag, statuses), PMPI_Waitall(count, requests, statuses));
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  int flag = 0;
  UNTIL(flag, PMPI_Testany(count, requests, index, &flag, status), PMPI_Waitany(count, requests, index, status));
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  *done = 0;
  UNTIL(*done, PMPI_Testsome(count, requests, done, indices, statuses),
        PMPI_Waitsome(count, requests, done, indices, statuses));
}

static inline void poll(void) {
  if (goalmpi_pending) goalmpi_poll();
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  poll();
  return result(PMPI_Test(request, flag, status));
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  poll();
  return result(PMPI_Testall(count, requests, flag, statuses));
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  poll();
  return result(PMPI_Testany(count, requests, index, flag, status));
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  poll();
  return result(PMPI_Testsome(count, requests, done, indices, statuses));
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  poll();
  return result(PMPI_Request_get_status(request, flag, status));
}

#ifdef HAS_STATUS_OF_ARRAYS
/* Intel MPI declares these arrays without the `const` of the standard. */
#ifdef I_MPI_VERSION
#define LOOKED_AT MPI_Request
#else
#define LOOKED_AT const MPI_Request
#endif

int MPI_Request_get_status_all(int count, LOOKED_AT requests[], int *flag, MPI_Status statuses[]) {
  poll();
  return result(PMPI_Request_get_status_all(count, requests, flag, statuses));
}

int MPI_Request_get_status_any(int count, LOOKED_AT requests[], int *index, int *flag, MPI_Status *status) {
  poll();
  return result(PMPI_Request_get_status_any(count, requests, index, flag, status));
}

int MPI_Request_get_status_some(int count, LOOKED_AT requests[], int *done, int indices[],
                                MPI_Status statuses[]) {
  poll();
  return result(PMPI_Request_get_status_some(count, requests, done, indices, statuses));
}
#endif
