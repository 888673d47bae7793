/* The start and the end of a call as a schedule.
 *
 * A rank that waits here must also make progress of MPI: another rank may wait for a message that
 * this one began to send or receive before. So libgoal calls goalmpi_idle while it waits, which
 * probes on a communicator of its own. That lets MPI make progress. A probe on a copy of
 * MPI_COMM_SELF does not in MPICH.
 *
 * One test behind the call must find a message that another rank sent before its call, as behind a
 * collective of MPI. So a test behind a schedule probes first. A program may call nothing but
 * collectives for long, so the end of every 16th schedule probes too. */
#include "goalmpi.h"
#include <stdio.h>

/* An error that an error handler has to be told. */
struct error {
  struct error *next;
  MPI_Comm comm;
  int rc;
};

static struct error *first_error, **end_of_errors = &first_error;

static int tell(const struct call *call, const char *why, int code) {
  const struct comm *known = goalmpi_comm(call->mpi);
  char name[MPI_MAX_OBJECT_NAME] = "", shown[MPI_MAX_OBJECT_NAME + 8] = "", advice[128] = "";
  int rank = -1, length = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_get_name(known ? call->mpi : MPI_COMM_WORLD, name, &length);
  if (*name) snprintf(shown, sizeof shown, " '%s'", name);
  /* Ranks that do not fit each other are a fault of the program. Of a job that has ended, or a rank
   * that has, the cause lies elsewhere. */
  if (code == GOAL_ERR_FAILED)
    snprintf(advice, sizeof advice, ". An MPI library may not notice this fault of the program");
  else if (code != GOAL_ERR_STOPPED && code != GOAL_ERR_RANK_LOST && code != GOAL_ERR_STUCK)
    snprintf(advice, sizeof advice, ". Run the program without libgoal-mpi, or with GOALMPI_RANGES=%s=off",
             goalmpi_names[call->kind]);
  fprintf(stderr, "libgoal-mpi: rank %d: %s on the communicator%s of %d ranks: %s%s.\n", rank,
          goalmpi_names[call->kind], known ? shown : " (freed by now)", known ? known->size : 0,
          why, advice);
  return MPI_ERR_OTHER;
}

int goalmpi_failed(const struct call *call) { return tell(call, GOAL_Last_error(), GOAL_Last_error_code()); }

int goalmpi_give_up(const struct call *call, const char *why) {
  int rc, code = why ? GOAL_ERR_MEMORY : GOAL_Last_error_code();
  char text[512];
  snprintf(text, sizeof text, "MPI's %s: %s", goalmpi_names[call->kind], why ? why : GOAL_Last_error());
  rc = tell(call, why ? why : GOAL_Last_error(), code);
  /* After an error that ended the job there is nothing to end. */
  if (code != GOAL_ERR_STOPPED && code != GOAL_ERR_RANK_LOST && code != GOAL_ERR_FAILED && code != GOAL_ERR_STUCK)
    GOAL_Abort(text);
  return rc;
}

/* The program may have freed the communicator while the call was pending: then that of
 * MPI_COMM_WORLD has the error. */
int goalmpi_tell_error(MPI_Comm comm, int rc) {
  if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(goalmpi_comm(comm) ? comm : MPI_COMM_WORLD, rc);
  return rc;
}

int goalmpi_keep_error(MPI_Comm comm, int rc) {
  struct error *kept = rc == MPI_SUCCESS ? NULL : malloc(sizeof *kept);
  if (!kept) return rc;
  *kept = (struct error){NULL, comm, rc};
  goalmpi_lock();
  *end_of_errors = kept;
  end_of_errors = &kept->next;
  goalmpi_unlock();
  return rc;
}

void goalmpi_tell_errors(void) {
  while (__atomic_load_n(&first_error, __ATOMIC_RELAXED)) {
    struct error *kept, of = {NULL, MPI_COMM_NULL, MPI_SUCCESS};
    goalmpi_lock();
    kept = first_error;
    if (kept) {
      of = *kept;
      first_error = kept->next;
      if (!first_error) end_of_errors = &first_error;
    }
    goalmpi_unlock();
    free(kept);
    goalmpi_tell_error(of.comm, of.rc);
  }
}

/* Makes a side ready: allocates the copy of its elements, which stays until goalmpi_drop. */
static int ready(struct side *side) {
  if (!side->is_copied) return 1;
  if (!side->packed) side->packed = calloc(1, side->room);
  return side->packed != NULL;
}

int goalmpi_room(struct call *call) {
  if (ready(&call->in) && ready(&call->out)) return MPI_SUCCESS;
  return goalmpi_give_up(call, "there is no memory for a copy of its elements");
}

/* Packs what the schedule reads. */
int goalmpi_before(struct call *call) {
  int rc = goalmpi_room(call);
  if (rc != MPI_SUCCESS) return rc;
  rc = goalmpi_pack(&call->in);
  if (rc == MPI_SUCCESS && call->reads_out) rc = goalmpi_pack(&call->out);
  if (rc != MPI_SUCCESS) goalmpi_give_up(call, "MPI can't pack its elements");
  return rc;
}

static int keep_type(struct side *side) {
  int rc;
  if (!side->is_copied) return MPI_SUCCESS;
  rc = PMPI_Type_dup(side->type, &side->type);
  side->owns_type = rc == MPI_SUCCESS;
  return rc;
}

/* Copies the types of a call that goes on behind its function: the program may free them. */
int goalmpi_keep_types(struct call *call) {
  int rc = keep_type(&call->in);
  if (rc == MPI_SUCCESS) rc = keep_type(&call->out);
  if (rc != MPI_SUCCESS) goalmpi_give_up(call, "MPI can't copy its type");
  return rc;
}

static void drop(struct side *side) {
  free(side->packed);
  side->packed = NULL;
  if (side->owns_type) PMPI_Type_free(&side->type);
  side->owns_type = 0;
}

/* Frees what the call owns. */
void goalmpi_drop(struct call *call) {
  drop(&call->in);
  drop(&call->out);
}

/* Unpacks what the schedule wrote. Returns the error of the call. */
int goalmpi_after(struct call *call) {
  int rc = call->writes_out ? goalmpi_unpack(&call->out) : MPI_SUCCESS;
  return rc == MPI_SUCCESS ? call->error : rc;
}

static void *data(const struct side *side) { return side->packed ? side->packed : side->user; }
static const void *input(const struct call *call) { return call->is_in_place ? GOAL_IN_PLACE : data(&call->in); }

GOAL_Handle goalmpi_launch(const struct call *call, GOAL_Comm comm) {
  const void *in = input(call);
  void *out = data(&call->out);
  switch (call->kind) {
    case BARRIER: return GOAL_Ibarrier(comm);
    case BCAST: return GOAL_Ibcast(out, call->count, call->type, call->root, comm);
    case REDUCE: return GOAL_Ireduce(in, out, call->count, call->type, call->op, call->root, comm);
    case ALLREDUCE: return GOAL_Iallreduce(in, out, call->count, call->type, call->op, comm);
    case GATHER: return GOAL_Igather(in, out, call->count, call->type, call->root, comm);
    case ALLGATHER: return GOAL_Iallgather(in, out, call->count, call->type, comm);
    case ALLTOALL: return GOAL_Ialltoall(in, out, call->count, call->type, comm);
    default: return GOAL_HANDLE_NULL;
  }
}

GOAL_Schedule goalmpi_prepare(const struct call *call, GOAL_Comm comm) {
  const void *in = input(call);
  void *out = data(&call->out);
  switch (call->kind) {
    case BARRIER: return GOAL_Barrier_init(comm);
    case BCAST: return GOAL_Bcast_init(out, call->count, call->type, call->root, comm);
    case REDUCE: return GOAL_Reduce_init(in, out, call->count, call->type, call->op, call->root, comm);
    case ALLREDUCE: return GOAL_Allreduce_init(in, out, call->count, call->type, call->op, comm);
    case GATHER: return GOAL_Gather_init(in, out, call->count, call->type, call->root, comm);
    case ALLGATHER: return GOAL_Allgather_init(in, out, call->count, call->type, comm);
    case ALLTOALL: return GOAL_Alltoall_init(in, out, call->count, call->type, comm);
    default: return NULL;
  }
}

/* Lets MPI make progress. */
static void give_turn(void) {
  int flag;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, goalmpi_world, &flag, MPI_STATUS_IGNORE);
}

unsigned goalmpi_behind;

void goalmpi_catch_up(void) {
  if (!__atomic_load_n(&goalmpi_behind, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&goalmpi_behind, 0, __ATOMIC_RELAXED);
  give_turn();
}

/* Notes that a schedule has ended in which MPI may have made no progress. */
static void fall_behind(void) {
  unsigned behind = __atomic_load_n(&goalmpi_behind, __ATOMIC_RELAXED) + 1;
  __atomic_store_n(&goalmpi_behind, behind, __ATOMIC_RELAXED);
  if (behind >= BEHIND_MAX) goalmpi_catch_up();
}

struct call *goalmpi_waiting;

static void enter(struct call *call) {
  call->looks = 0;
  goalmpi_lock();
  call->next = goalmpi_waiting;
  goalmpi_waiting = call;
  goalmpi_unlock();
}

static void leave(const struct call *call) {
  goalmpi_lock();
  for (struct call **at = &goalmpi_waiting; *at; at = &(*at)->next) {
    if (*at != call) continue;
    *at = call->next;
    break;
  }
  goalmpi_unlock();
}

void goalmpi_forget_waiting(void) { goalmpi_waiting = NULL; }

int goalmpi_is_late(struct call *call) {
  call->looks++;
  return call->looks >= LATE && (call->looks & (call->looks - 1)) == 0;
}

/* Compares the choices of ranks for calls that have waited for long. */
static void look_at_waiting(void) {
  struct call late;
  int has_late = 0;
  goalmpi_lock();
  for (struct call *at = goalmpi_waiting; at; at = at->next) {
    if (!goalmpi_is_late(at)) continue;
    late = *at;
    has_late = 1;
  }
  goalmpi_unlock();
  if (has_late) goalmpi_compare(&late);
}

void goalmpi_idle(void) {
  give_turn();
  look_at_waiting();
  if (goalmpi_has_pending()) goalmpi_look_at_pending();
}

int goalmpi_end(struct call *call, int code) {
  /* A handler may free the communicator, and its known calls with it. */
  MPI_Comm comm = call->mpi;
  int rc = code < 0 ? goalmpi_give_up(call, NULL) : MPI_SUCCESS;
  goalmpi_catch_up();
  goalmpi_tell_errors();
  return goalmpi_tell_error(comm, rc);
}

WRAPPER(Iprobe)(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  goalmpi_catch_up();
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

WRAPPER(Improbe)(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  goalmpi_catch_up();
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}

/* Runs a call and waits for its end. */
int goalmpi_run(struct call *call) {
  int rc = call->refused ? call->refused : goalmpi_before(call);
  if (rc == MPI_SUCCESS) {
    int ended;
    enter(call);
    ended = goalmpi_run_on(call, call->kind, input(call), data(&call->out));
    leave(call);
    rc = ended < 0 ? goalmpi_give_up(call, NULL) : goalmpi_after(call);
    fall_behind();
  }
  goalmpi_drop(call);
  goalmpi_tell_errors();
  return goalmpi_tell_error(call->mpi, rc);
}
