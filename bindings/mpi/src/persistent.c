/* Persistent collectives. The request is a persistent receive of a message from the process itself,
 * with a tag of its own. The message leaves when the schedule has ended, and is empty if it went well.
 *
 * Ranks prepare them in the same order, but may start them in any order. So each has a communicator
 * of libgoal of its own. */
#include "goalmpi.h"

#ifdef HAS_PERSISTENT

/* The bytes that the receive of a persistent request has room for. Of messages from the process itself,
 * Intel MPI cuts off those for a receive of 0 bytes without an error, and Open MPI 5 the others. */
#ifdef I_MPI_VERSION
#define ROOM 1
#else
#define ROOM 0
#endif

struct persistent {
  /* MPI_REQUEST_NULL once the program has freed it. */
  MPI_Request request;
  GOAL_Schedule schedule;
  struct call call;
  int tag, is_running, is_freed;
};

/* By their tags, with NULL for a tag that is free. */
static struct persistent **kept;
static int places, used;
/* Receives put the message of a failure here. Nobody reads it. */
static char room[1];

static int has_any(void) { return __atomic_load_n(&used, __ATOMIC_RELAXED) > 0; }

/* Finds a tag that is free. Returns -1 if there is no memory. */
static int place(struct persistent *of) {
  int at = 0;
  goalmpi_lock();
  while (at < places && kept[at]) at++;
  if (at == places) {
    int more = places ? 2 * places : 16;
    struct persistent **grown = realloc(kept, (size_t)more * sizeof *kept);
    if (grown) {
      memset(grown + places, 0, (size_t)(more - places) * sizeof *kept);
      kept = grown;
      places = more;
    } else {
      at = -1;
    }
  }
  if (at >= 0) kept[at] = of, used++;
  goalmpi_unlock();
  return at;
}

/* Finds what a request belongs to. NULL: it is not one of a schedule. */
static struct persistent *find(MPI_Request request) {
  struct persistent *found = NULL;
  if (!has_any() || request == MPI_REQUEST_NULL) return NULL;
  goalmpi_lock();
  for (int at = 0, seen = 0; seen < used && at < places && !found; at++) {
    if (!kept[at]) continue;
    if (kept[at]->request == request) found = kept[at];
    seen++;
  }
  goalmpi_unlock();
  return found;
}

/* Frees what does not run. */
static void discard(struct persistent *of) {
  if (of->schedule) GOAL_FreeSchedule(of->schedule);
  goalmpi_drop(&of->call);
  if (of->tag >= 0) {
    goalmpi_lock();
    kept[of->tag] = NULL;
    used--;
    goalmpi_unlock();
  }
  free(of);
}

/* Prepares the schedule in a matching space of its own. */
static GOAL_Schedule prepare(const struct call *call) {
  GOAL_Schedule schedule;
  GOAL_Comm own = goalmpi_copy(call->comm);
  if (!own) return NULL;
  schedule = goalmpi_prepare(call, own);
  GOAL_Comm_free(own);
  return schedule;
}

/* Prepares a persistent collective. */
int goalmpi_persist(struct call *call, MPI_Request *request) {
  struct persistent *of = malloc(sizeof *of);
  int rc = call->refused;
  *request = MPI_REQUEST_NULL;
  if (!of) return goalmpi_tell_error(call->mpi, goalmpi_give_up(call, "there is no memory"));
  *of = (struct persistent){MPI_REQUEST_NULL, NULL, *call, -1, 0, 0};
  if (rc == MPI_SUCCESS) rc = goalmpi_room(&of->call);
  if (rc == MPI_SUCCESS) rc = goalmpi_keep_types(&of->call);
  if (rc == MPI_SUCCESS && (of->tag = place(of)) < 0) rc = goalmpi_give_up(call, "there is no memory");
  if (rc == MPI_SUCCESS) {
    of->schedule = prepare(&of->call);
    if (!of->schedule) rc = goalmpi_give_up(call, NULL);
  }
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Recv_init(room, ROOM, MPI_BYTE, 0, of->tag, goalmpi_self, &of->request);
    if (rc != MPI_SUCCESS) goalmpi_give_up(call, "MPI can't make a request");
  }
  if (rc != MPI_SUCCESS) {
    discard(of);
    return goalmpi_tell_error(call->mpi, rc);
  }
  *request = of->request;
  return MPI_SUCCESS;
}

/* Tells MPI that a persistent request has ended. One that failed gets more bytes than its receive has
 * room for. So the call that completes it returns MPI_ERR_TRUNCATE. */
void goalmpi_persistent_ended(struct persistent *of, int rc) {
  char bytes[ROOM + 1] = "";
  int tag = of->tag, is_freed;
  goalmpi_lock();
  of->is_running = 0;
  is_freed = of->is_freed;
  goalmpi_unlock();
  PMPI_Send(bytes, rc == MPI_SUCCESS || is_freed ? 0 : ROOM + 1, MPI_BYTE, 0, tag, goalmpi_self);
  if (is_freed) discard(of);
}

/* In a process that a rank has forked. */
void goalmpi_forget_persistent(void) { used = 0; }

/* Starts the schedule of a request whose receive is posted. */
static int begin(MPI_Request request) {
  struct persistent *of = find(request);
  if (!of) return MPI_SUCCESS;
  of->is_running = 1;
  return goalmpi_start_persistent(of, of->schedule, &of->call);
}

WRAPPER(Start)(MPI_Request *request) {
  int rc = PMPI_Start(request);
  if (rc == MPI_SUCCESS) rc = begin(*request);
  goalmpi_tell_errors();
  return rc;
}

/* Starts all of them also if one fails: they are active for MPI. */
WRAPPER(Startall)(int count, MPI_Request requests[]) {
  int rc = PMPI_Startall(count, requests), has_started = rc == MPI_SUCCESS;
  for (int at = 0; has_started && has_any() && at < count; at++) {
    int one = begin(requests[at]);
    if (rc == MPI_SUCCESS) rc = one;
  }
  goalmpi_tell_errors();
  return rc;
}

/* A request that runs stays until its end: the schedule uses its memory, and its receive is posted. */
WRAPPER(Request_free)(MPI_Request *request) {
  struct persistent *of = find(*request);
  int rc, is_running = 0;
  if (of) {
    goalmpi_lock();
    of->request = MPI_REQUEST_NULL;
    is_running = of->is_freed = of->is_running;
    goalmpi_unlock();
  }
  rc = PMPI_Request_free(request);
  if (of && !is_running) discard(of);
  return rc;
}

#else

void goalmpi_persistent_ended(struct persistent *of, int rc) { (void)of, (void)rc; }
void goalmpi_forget_persistent(void) {}

#endif
