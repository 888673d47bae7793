/* The ways in which libgoal offers each operation, as benches/mpi/calls.h has those of MPI. A ping-pong has one only: a schedule that is
   started again and again. */
#include "operation.h"

/* The schedule that is started again and again. */
typedef GOAL_Schedule kept_calls;
static kept_calls own_kept, *kept = &own_kept;

static void release_kept(void) {
  if (*kept) group_expect(GOAL_FreeSchedule(*kept) == GOAL_SUCCESS);
  *kept = NULL;
}

static GOAL_Type number(void) { return adds_floats ? GOAL_FLOAT64 : GOAL_INT32; }

/* Rank 1 answers when it has received. */
static GOAL_Schedule pingpong(int n) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex receive = GOAL_Recv(graph, out, n, rank ^ 1, 0, GOAL_USERSPACE);
  GOAL_Vertex send = GOAL_Send(graph, in, n, rank ^ 1, 0, GOAL_USERSPACE);
  if (rank != 0) GOAL_Requires(graph, receive, send);
  GOAL_Schedule schedule = GOAL_Compile(graph);
  GOAL_FreeGraph(graph);
  return schedule;
}

/* Prepares a way to call an operation of `n` bytes. Returns 0 if the library does not have it. */
static int prepare(enum operation operation, enum way way, int n) {
  GOAL_Comm w = comm;
  if (operation > ALLTOALL) return 0;
  if (way != PERSISTENTLY) return operation != PINGPONG;
  switch (operation) {
  case PINGPONG: *kept = pingpong(n); break;
  case BARRIER: *kept = GOAL_Barrier_init(w); break;
  case BCAST: *kept = GOAL_Bcast_init(in, n, GOAL_UINT8, 0, w); break;
  case REDUCE: *kept = GOAL_Reduce_init(in, out, n / element(), number(), GOAL_ADD, 0, w); break;
  case ALLREDUCE: *kept = GOAL_Allreduce_init(in, out, n / element(), number(), GOAL_ADD, w); break;
  case GATHER: *kept = GOAL_Gather_init(in, out, n, GOAL_UINT8, 0, w); break;
  case SCATTER: *kept = GOAL_Scatter_init(in, out, n, GOAL_UINT8, 0, w); break;
  case ALLGATHER: *kept = GOAL_Allgather_init(in, out, n, GOAL_UINT8, w); break;
  default: *kept = GOAL_Alltoall_init(in, out, n, GOAL_UINT8, w); break;
  }
  group_expect(*kept != NULL);
  return 1;
}

static int blocking(enum operation operation, int n) {
  GOAL_Comm w = comm;
  switch (operation) {
  case BARRIER: return GOAL_Barrier(w);
  case BCAST: return GOAL_Bcast(in, n, GOAL_UINT8, 0, w);
  case REDUCE: return GOAL_Reduce(in, out, n / element(), number(), GOAL_ADD, 0, w);
  case ALLREDUCE: return GOAL_Allreduce(in, out, n / element(), number(), GOAL_ADD, w);
  case GATHER: return GOAL_Gather(in, out, n, GOAL_UINT8, 0, w);
  case SCATTER: return GOAL_Scatter(in, out, n, GOAL_UINT8, 0, w);
  case ALLGATHER: return GOAL_Allgather(in, out, n, GOAL_UINT8, w);
  default: return GOAL_Alltoall(in, out, n, GOAL_UINT8, w);
  }
}

static GOAL_Handle nonblocking(enum operation operation, int n) {
  GOAL_Comm w = comm;
  switch (operation) {
  case BARRIER: return GOAL_Ibarrier(w);
  case BCAST: return GOAL_Ibcast(in, n, GOAL_UINT8, 0, w);
  case REDUCE: return GOAL_Ireduce(in, out, n / element(), number(), GOAL_ADD, 0, w);
  case ALLREDUCE: return GOAL_Iallreduce(in, out, n / element(), number(), GOAL_ADD, w);
  case GATHER: return GOAL_Igather(in, out, n, GOAL_UINT8, 0, w);
  case SCATTER: return GOAL_Iscatter(in, out, n, GOAL_UINT8, 0, w);
  case ALLGATHER: return GOAL_Iallgather(in, out, n, GOAL_UINT8, w);
  default: return GOAL_Ialltoall(in, out, n, GOAL_UINT8, w);
  }
}

/* Performs an operation once. A wait for NULL, after an error, is an error. */
static void call(enum operation operation, enum way way, int n) {
  int status;
  if (way == BLOCKING) status = blocking(operation, n);
  else status = GOAL_Wait(way == PERSISTENTLY ? GOAL_Run(*kept) : nonblocking(operation, n));
  group_expect(status == GOAL_SUCCESS);
}

/* As call, but never sleeps until the operation has ended. */
static void call_awake(enum operation operation, enum way way, int n) {
  GOAL_Handle run = way == PERSISTENTLY ? GOAL_Run(*kept) : nonblocking(operation, n);
  while (!GOAL_Test(run)) {}
  group_expect(GOAL_Wait(run) == GOAL_SUCCESS);
}
