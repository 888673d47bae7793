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

/* Hands an error of libgoal to the error handler of the communicator. */
int goalmpi_fail(MPI_Comm comm, const char *what) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "libgoal-mpi: rank %d: %s: %s. Run the program without libgoal-mpi, or with GOALMPI_RANGES=%s=off.\n",
          rank, what, GOAL_Last_error(), what);
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/* Makes a side ready: allocates the copy of scattered elements, which stays until goalmpi_after. */
static int ready(struct side *side) {
  if (side->bytes == 0 || goalmpi_is_dense(side->type)) return 1;
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
    rc = has_ended < 0 ? goalmpi_fail(call->mpi, goalmpi_names[call->kind]) : goalmpi_after(call);
  }
  free(call->in.packed);
  free(call->out.packed);
  return rc;
}
