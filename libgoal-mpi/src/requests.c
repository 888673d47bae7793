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
};

struct pending *goalmpi_pending;
static struct pending *spare;

void goalmpi_use_thread(void) {
  static int is_used;
  if (!is_used) GOAL_Set_progress(GOAL_PROGRESS_THREAD);
  is_used = 1;
}

static int query(void *extra, MPI_Status *status) {
  (void)extra;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int release(void *extra) {
  (void)extra;
  return MPI_SUCCESS;
}

/* MPI forbids to cancel a collective. */
static int cancel(void *extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

int goalmpi_add(GOAL_Handle run, struct call *call, int tag) {
  struct pending *made = spare ? spare : malloc(sizeof *made);
  if (!made) return 0;
  if (spare) spare = spare->next;
  made->next = goalmpi_pending;
  made->run = run;
  made->call = *call;
  made->tag = tag;
  goalmpi_pending = made;
  return 1;
}

/* Starts a non-blocking collective. */
int goalmpi_start(const struct call *given, MPI_Request *request) {
  struct call call = *given;
  GOAL_Handle run;
  int rc = goalmpi_before(&call);
  if (rc != MPI_SUCCESS) return rc;
  goalmpi_use_thread();
  run = goalmpi_launch(&call);
  if (run == GOAL_HANDLE_NULL) return goalmpi_fail(call.mpi, goalmpi_names[call.kind]);
  if (!goalmpi_add(run, &call, -1)) return goalmpi_fail(call.mpi, "memory");
  rc = PMPI_Grequest_start(query, release, cancel, NULL, request);
  goalmpi_pending->request = *request;
  return rc;
}

static void complete(struct pending *of, int has_ended) {
  if (has_ended < 0) goalmpi_fail(of->call.mpi, goalmpi_names[of->call.kind]);
  else goalmpi_after(&of->call);
  if (of->tag < 0) {
    free(of->call.in.packed);
    free(of->call.out.packed);
    PMPI_Grequest_complete(of->request);
  } else {
    PMPI_Send(NULL, 0, MPI_BYTE, 0, of->tag, goalmpi_self);
  }
  of->next = spare;
  spare = of;
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
      rc = test;                              \
      if (rc != MPI_SUCCESS || (outcome)) return rc; \
      goalmpi_pause(&rounds);                 \
    }                                         \
    return wait;                              \
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
  return PMPI_Test(request, flag, status);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  poll();
  return PMPI_Testall(count, requests, flag, statuses);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  poll();
  return PMPI_Testany(count, requests, index, flag, status);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  poll();
  return PMPI_Testsome(count, requests, done, indices, statuses);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  poll();
  return PMPI_Request_get_status(request, flag, status);
}
