/* The start and the end of a call as a schedule.
 *
 * A rank that waits here must also make progress of MPI: another rank may wait for a message that
 * this one began to send or receive before. So the wait tests, and probes on a communicator of its
 * own from time to time, which lets MPI make progress. A probe on a copy of MPI_COMM_SELF does not in
 * MPICH. */
#include "goalmpi.h"
#include <sched.h>
#include <stdio.h>

/* Tests before the first probe, between two probes, and before the processor is offered to others. */
#define ALONE 64
#define BETWEEN 16
#define YIELD 2048

/* Hands an error to the error handler of the communicator. The program may have freed it while the
 * call was pending: then that of MPI_COMM_WORLD has the error. */
int goalmpi_fail(MPI_Comm comm, enum kind kind, const char *why) {
  const struct comm *known = goalmpi_comm(comm);
  char name[MPI_MAX_OBJECT_NAME] = "", shown[MPI_MAX_OBJECT_NAME + 8] = "";
  int rank = -1, length = 0;
  if (!known) comm = MPI_COMM_WORLD;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_get_name(comm, name, &length);
  if (*name) snprintf(shown, sizeof shown, " '%s'", name);
  fprintf(stderr,
          "libgoal-mpi: rank %d: %s on the communicator%s of %d ranks: %s. Run the program without libgoal-mpi, or with "
          "GOALMPI_RANGES=%s=off.\n",
          rank, goalmpi_names[kind], known ? shown : " (freed by now)", known ? known->size : 0,
          why ? why : GOAL_Last_error(), goalmpi_names[kind]);
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/* Makes a side ready: allocates the copy of scattered elements, which stays until goalmpi_drop. */
static int ready(struct side *side) {
  if (!side->is_scattered) return 1;
  if (!side->packed) side->packed = malloc(side->bytes);
  return side->packed != NULL;
}

/* Packs what the schedule reads. */
int goalmpi_before(struct call *call) {
  int rc = MPI_SUCCESS;
  if (!ready(&call->in) || !ready(&call->out)) rc = MPI_ERR_NO_MEM;
  if (rc == MPI_SUCCESS) rc = goalmpi_pack(&call->in);
  if (rc == MPI_SUCCESS && call->reads_out) rc = goalmpi_pack(&call->out);
  if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(call->mpi, rc);
  return rc;
}

static int keep_type(struct side *side) {
  int rc;
  if (!side->is_scattered) return MPI_SUCCESS;
  rc = PMPI_Type_dup(side->type, &side->type);
  side->owns_type = rc == MPI_SUCCESS;
  return rc;
}

/* Copies the types of a call that goes on behind its function: the program may free them. */
int goalmpi_keep_types(struct call *call) {
  int rc = keep_type(&call->in);
  if (rc == MPI_SUCCESS) rc = keep_type(&call->out);
  if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(call->mpi, rc);
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

/* Unpacks what the schedule wrote. */
int goalmpi_after(struct call *call) {
  int rc = call->writes_out ? goalmpi_unpack(&call->out) : MPI_SUCCESS;
  if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(call->mpi, rc);
  return rc;
}

static void *data(const struct side *side) { return side->packed ? side->packed : side->user; }
static const void *input(const struct call *call) { return call->is_in_place ? GOAL_IN_PLACE : data(&call->in); }

GOAL_Handle goalmpi_launch(const struct call *call) {
  const void *in = input(call);
  void *out = data(&call->out);
  GOAL_Comm comm = call->comm->goal;
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

GOAL_Schedule goalmpi_prepare(const struct call *call) {
  const void *in = input(call);
  void *out = data(&call->out);
  GOAL_Comm comm = call->comm->goal;
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

/* Runs a call and waits for its end. */
int goalmpi_run(struct call *call) {
  GOAL_Handle run;
  int has_ended, rc = goalmpi_before(call);
  if (rc == MPI_SUCCESS) {
    run = goalmpi_launch(call);
    has_ended = run == GOAL_HANDLE_NULL ? -1 : GOAL_Test(run);
    for (unsigned rounds = 1; has_ended == 0; rounds++) {
      if (goalmpi_is_crowded || (rounds > ALONE && rounds % BETWEEN == 0)) {
        int flag;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, goalmpi_world, &flag, MPI_STATUS_IGNORE);
        if (goalmpi_pending) goalmpi_poll();
        if (goalmpi_is_crowded || rounds > YIELD) sched_yield();
      }
      has_ended = GOAL_Test(run);
    }
    rc = has_ended < 0 ? goalmpi_fail(call->mpi, call->kind, NULL) : goalmpi_after(call);
  }
  goalmpi_drop(call);
  return rc;
}
