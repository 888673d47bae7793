/* The start, completion and end of requests. A call that completes a request may set it to
 * MPI_REQUEST_NULL, so the handles are kept before it. */
#include "shim.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

/* The handles and statuses of a call. Small calls need no memory of the heap. */
#define FEW 32
struct kept {
  uint64_t few[2 * FEW], *handles, *tokens;
  MPI_Status few_statuses[FEW], *statuses;
};

/* Returns 0 if there is no memory. Then recording ends. */
static int keep(struct kept *kept, int count, const MPI_Request requests[], MPI_Status *statuses) {
  int at;
  size_t many = count > 0 ? (size_t)count : 0;
  kept->handles = many > FEW ? malloc(2 * many * sizeof *kept->handles) : kept->few;
  kept->tokens = kept->handles + many;
  kept->statuses = statuses;
  if (statuses == MPI_STATUSES_IGNORE)
    kept->statuses = many > FEW ? malloc(many * sizeof *kept->statuses) : kept->few_statuses;
  if (!kept->handles || !kept->statuses) {
    goalprof_no_memory();
    return 0;
  }
  for (at = 0; at < count; at++) kept->handles[at] = of_request(requests[at]);
  memset(kept->tokens, 0, many * sizeof *kept->tokens);
  goalprof_claim(kept->handles, kept->tokens, many);
  return 1;
}

static void drop(struct kept *kept, MPI_Status *statuses) {
  if (kept->handles != kept->few) free(kept->handles);
  if (kept->statuses != kept->few_statuses && statuses == MPI_STATUSES_IGNORE) free(kept->statuses);
}

static void complete(const struct kept *kept, int at, const MPI_Status *status, int error) {
  struct goalprof_status nothing = {0, -1, 0, 1};
  if (kept->tokens[at] == 0) return;
  if (error != MPI_SUCCESS) failed(error);
  goalprof_complete(kept->handles[at], kept->tokens[at], error == MPI_SUCCESS ? of_status(status) : nothing);
}

/* The errors of a call with many statuses stand in these only if it says so. */
static int error_of(int rc, const MPI_Status *status) {
  return rc == MPI_ERR_IN_STATUS ? status->MPI_ERROR : MPI_SUCCESS;
}

static int has_statuses(int rc) { return rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS; }

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  struct kept kept;
  MPI_Status own;
  int rc;
  if (!begin()) return PMPI_Wait(request, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  keep(&kept, 1, request, status);
  rc = PMPI_Wait(request, status);
  complete(&kept, 0, status, rc);
  return end(rc);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  struct kept kept;
  MPI_Status own;
  int rc;
  if (!begin()) return PMPI_Test(request, flag, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  keep(&kept, 1, request, status);
  rc = PMPI_Test(request, flag, status);
  if (rc != MPI_SUCCESS || *flag) complete(&kept, 0, status, rc);
  return end(rc);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  struct kept kept;
  int rc, at;
  if (!begin()) return PMPI_Waitall(count, requests, statuses);
  if (!keep(&kept, count, requests, statuses)) {
    drop(&kept, statuses);
    return end(PMPI_Waitall(count, requests, statuses));
  }
  rc = PMPI_Waitall(count, requests, kept.statuses);
  for (at = 0; has_statuses(rc) && at < count; at++) {
    int error = error_of(rc, &kept.statuses[at]);
    if (error != MPI_ERR_PENDING) complete(&kept, at, &kept.statuses[at], error);
  }
  drop(&kept, statuses);
  return end(rc);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  struct kept kept;
  int rc, at;
  if (!begin()) return PMPI_Testall(count, requests, flag, statuses);
  if (!keep(&kept, count, requests, statuses)) {
    drop(&kept, statuses);
    return end(PMPI_Testall(count, requests, flag, statuses));
  }
  rc = PMPI_Testall(count, requests, flag, kept.statuses);
  for (at = 0; has_statuses(rc) && (rc != MPI_SUCCESS || *flag) && at < count; at++) {
    int error = error_of(rc, &kept.statuses[at]);
    if (error != MPI_ERR_PENDING) complete(&kept, at, &kept.statuses[at], error);
  }
  drop(&kept, statuses);
  return end(rc);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  struct kept kept;
  MPI_Status own, *one = status == MPI_STATUS_IGNORE ? &own : status;
  int rc;
  if (!begin()) return PMPI_Waitany(count, requests, index, status);
  if (!keep(&kept, count, requests, &own)) {
    drop(&kept, &own);
    return end(PMPI_Waitany(count, requests, index, status));
  }
  rc = PMPI_Waitany(count, requests, index, one);
  if (*index != MPI_UNDEFINED && *index >= 0 && *index < count) complete(&kept, *index, one, rc);
  drop(&kept, &own);
  return end(rc);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  struct kept kept;
  MPI_Status own, *one = status == MPI_STATUS_IGNORE ? &own : status;
  int rc;
  if (!begin()) return PMPI_Testany(count, requests, index, flag, status);
  if (!keep(&kept, count, requests, &own)) {
    drop(&kept, &own);
    return end(PMPI_Testany(count, requests, index, flag, status));
  }
  rc = PMPI_Testany(count, requests, index, flag, one);
  if (*flag && *index != MPI_UNDEFINED && *index >= 0 && *index < count) complete(&kept, *index, one, rc);
  drop(&kept, &own);
  return end(rc);
}

typedef int some(int, MPI_Request *, int *, int *, MPI_Status *);

static int complete_some(some *call, int count, MPI_Request requests[], int *done, int indices[],
                         MPI_Status statuses[]) {
  struct kept kept;
  int rc, at;
  if (!keep(&kept, count, requests, statuses)) {
    drop(&kept, statuses);
    return end(call(count, requests, done, indices, statuses));
  }
  rc = call(count, requests, done, indices, kept.statuses);
  for (at = 0; has_statuses(rc) && *done != MPI_UNDEFINED && at < *done; at++)
    complete(&kept, indices[at], &kept.statuses[at], error_of(rc, &kept.statuses[at]));
  drop(&kept, statuses);
  return end(rc);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  if (!begin()) return PMPI_Waitsome(count, requests, done, indices, statuses);
  return complete_some(PMPI_Waitsome, count, requests, done, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  if (!begin()) return PMPI_Testsome(count, requests, done, indices, statuses);
  return complete_some(PMPI_Testsome, count, requests, done, indices, statuses);
}

int MPI_Start(MPI_Request *request) {
  int rc;
  if (!begin()) return PMPI_Start(request);
  begin_start();
  rc = PMPI_Start(request);
  if (rc == MPI_SUCCESS) goalprof_start(of_request(*request));
  end_start();
  return end(rc);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  int rc, at;
  if (!begin()) return PMPI_Startall(count, requests);
  begin_start();
  rc = PMPI_Startall(count, requests);
  for (at = 0; rc == MPI_SUCCESS && at < count; at++) goalprof_start(of_request(requests[at]));
  end_start();
  return end(rc);
}

/* Receives that the program has freed while they were active. MPI completes them all the same, and tells
 * their messages only to calls that complete them. So the profiler keeps their requests. */
struct freed {
  struct freed *next;
  MPI_Request request;
  uint64_t handle, token;
};
#define FREED_MIN 64
static struct freed *freed;
/* They are tested when their number reaches the limit. */
static size_t freed_count, freed_limit = FREED_MIN;
static pthread_mutex_t freed_lock = PTHREAD_MUTEX_INITIALIZER;

static void put_freed(struct freed *of) {
  pthread_mutex_lock(&freed_lock);
  of->next = freed;
  freed = of;
  freed_count++;
  pthread_mutex_unlock(&freed_lock);
}

/* Records the freed receives that have ended. No lock is held in MPI, which a handler may leave. */
static void test_freed(void) {
  struct freed *all, *of;
  pthread_mutex_lock(&freed_lock);
  all = freed;
  freed = NULL;
  freed_count = 0;
  pthread_mutex_unlock(&freed_lock);
  while ((of = all)) {
    struct goalprof_status nothing = {0, -1, 0, 1};
    MPI_Status status;
    int is_done = 0, rc = PMPI_Test(&of->request, &is_done, &status);
    all = of->next;
    if (rc == MPI_SUCCESS && !is_done) {
      put_freed(of);
      continue;
    }
    if (rc != MPI_SUCCESS) failed(rc);
    goalprof_detached(of->handle, of->token, rc == MPI_SUCCESS ? of_status(&status) : nothing);
    /* A persistent request is still there. */
    if (of->request != MPI_REQUEST_NULL) PMPI_Request_free(&of->request);
    free(of);
  }
}

/* Returns 0 if there is no memory. */
static int keep_freed(MPI_Request request, uint64_t token) {
  struct freed *of = malloc(sizeof *of);
  int is_full;
  if (!of) {
    goalprof_no_memory();
    return 0;
  }
  *of = (struct freed){NULL, request, of_request(request), token};
  put_freed(of);
  pthread_mutex_lock(&freed_lock);
  is_full = freed_count >= freed_limit;
  pthread_mutex_unlock(&freed_lock);
  if (!is_full) return 1;
  test_freed();
  pthread_mutex_lock(&freed_lock);
  freed_limit = 2 * freed_count > FREED_MIN ? 2 * freed_count : FREED_MIN;
  pthread_mutex_unlock(&freed_lock);
  return 1;
}

/* A correct program knows that they have ended. One second is for messages of others. */
void shim_end_freed(void) {
  struct timespec start, now;
  struct freed *of;
  int was_inside = shim_is_inside;
  shim_is_inside = 1;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    test_freed();
    if (freed) sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (freed && now.tv_sec - start.tv_sec < 2);
  while ((of = freed)) {
    freed = of->next;
    PMPI_Request_free(&of->request);
    free(of);
  }
  freed_count = 0;
  shim_is_inside = was_inside;
}

int MPI_Request_free(MPI_Request *request) {
  uint64_t token;
  if (!begin()) return PMPI_Request_free(request);
  /* Another thread may get the handle at once. */
  token = goalprof_free(of_request(*request));
  if (token == 0 || !keep_freed(*request, token)) return end(PMPI_Request_free(request));
  *request = MPI_REQUEST_NULL;
  return end(MPI_SUCCESS);
}
