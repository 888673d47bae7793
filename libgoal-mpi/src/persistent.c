/* Persistent collectives. The request is a persistent receive of a message from the process itself,
 * with a tag of its own. The message leaves when the schedule has ended, and is empty if it went well.
 *
 * Ranks prepare them in the same order, but may start them in any order. So each has a communicator
 * of libgoal of its own. */
#include "goalmpi.h"

#ifdef HAS_PERSISTENT

struct persistent {
  MPI_Request request;
  GOAL_Schedule schedule;
  struct call call;
};

/* By their tags. A free place has no schedule. */
static struct persistent *kept;
static int places, used;
/* Where receives put the message of a failure. Nobody reads it. */
static char room[1];

static int place(void) {
  int more = places ? 2 * places : 16;
  struct persistent *grown;
  if (used < places)
    for (int at = 0; at < places; at++)
      if (!kept[at].schedule) return at;
  grown = realloc(kept, (size_t)more * sizeof *kept);
  if (!grown) return -1;
  memset(grown + places, 0, (size_t)(more - places) * sizeof *kept);
  kept = grown;
  places = more;
  return used;
}

static struct persistent *find(MPI_Request request) {
  for (int at = 0, seen = 0; seen < used && at < places; at++) {
    if (!kept[at].schedule) continue;
    if (kept[at].request == request) return &kept[at];
    seen++;
  }
  return NULL;
}

/* Prepares the schedule in a matching space of its own. */
static GOAL_Schedule prepare(const struct call *given) {
  struct call call = *given;
  struct comm own = *given->comm;
  GOAL_Schedule schedule;
  int *ranks = malloc((size_t)own.size * sizeof *ranks);
  if (!ranks) return NULL;
  for (int at = 0; at < own.size; at++) ranks[at] = at;
  own.goal = GOAL_Comm_create(given->comm->goal, ranks, own.size);
  free(ranks);
  if (!own.goal) return NULL;
  call.comm = &own;
  schedule = goalmpi_prepare(&call);
  GOAL_Comm_free(own.goal);
  return schedule;
}

/* Prepares a persistent collective. */
int goalmpi_persist(const struct call *given, MPI_Request *request) {
  struct call call = *given;
  GOAL_Schedule schedule = NULL;
  int tag = place(), rc = MPI_SUCCESS;
  if (tag < 0) return goalmpi_fail(call.mpi, call.kind, "there is no memory");
  rc = goalmpi_before(&call);
  if (rc == MPI_SUCCESS) rc = goalmpi_keep_types(&call);
  if (rc == MPI_SUCCESS) {
    schedule = prepare(&call);
    if (!schedule) rc = goalmpi_fail(call.mpi, call.kind, NULL);
  }
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Recv_init(room, ROOM, MPI_BYTE, 0, tag, goalmpi_self, request);
    if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.mpi, rc);
  }
  if (rc != MPI_SUCCESS) {
    if (schedule) GOAL_FreeSchedule(schedule);
    goalmpi_drop(&call);
    return rc;
  }
  kept[tag] = (struct persistent){*request, schedule, call};
  used++;
  return MPI_SUCCESS;
}

/* Starts the schedule of a request whose receive is posted. */
static int begin(MPI_Request request) {
  struct persistent *of = used ? find(request) : NULL;
  return of ? goalmpi_start_persistent(of->schedule, &of->call, (int)(of - kept)) : MPI_SUCCESS;
}

int MPI_Start(MPI_Request *request) {
  int rc = PMPI_Start(request);
  return rc == MPI_SUCCESS ? begin(*request) : rc;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  int rc = PMPI_Startall(count, requests);
  for (int at = 0; rc == MPI_SUCCESS && used && at < count; at++) rc = begin(requests[at]);
  return rc;
}

int MPI_Request_free(MPI_Request *request) {
  struct persistent *of = used ? find(*request) : NULL;
  if (of) {
    GOAL_FreeSchedule(of->schedule);
    goalmpi_drop(&of->call);
    of->schedule = NULL;
    used--;
  }
  return PMPI_Request_free(request);
}

#endif
