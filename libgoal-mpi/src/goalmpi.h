/* libgoal-mpi: collectives of an unmodified MPI program as schedules of GOAL.
 *
 * A wrapper of MPI_X either runs the call as a schedule or hands it to PMPI_X with its arguments
 * unchanged. All ranks of a communicator must choose the same. So the choice depends only on what
 * MPI requires to be the same on all of them: the operation, the communicator, the bytes of a block,
 * and for reductions the type and the operator. It never depends on the type of data that is only
 * moved, as ranks may describe the same bytes by different types.
 *
 * Threats: the environment and the file of ranges come from the user who starts the program, and
 * nobody else. They are read with bounds (settings.c), and ranks compare them before any call. */
#ifndef GOALMPI_H
#define GOALMPI_H

#include <features_of_mpi.h>
#include <goal.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Only the functions of MPI are seen from outside. */
#pragma GCC visibility push(hidden)

/* The operations, in the order of goalmpi_names. */
enum kind { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, ALLGATHER, ALLTOALL, KINDS };
extern const char *const goalmpi_names[KINDS];

/* Why a call is left to MPI. */
enum reason { RUN, COMMUNICATOR, SIZE, OPERATOR, ARGUMENTS, REASONS };

/* A communicator that schedules run on. */
struct comm {
  struct comm *next;
  MPI_Comm mpi;
  GOAL_Comm goal;
  int rank, size;
};

/* Memory that a schedule reads or writes. If the elements do not lie one behind the other, the
 * schedule gets a packed copy of them. */
struct side {
  void *user, *packed;
  MPI_Count count;
  MPI_Datatype type;
  size_t bytes;
  int is_scattered;
  /* `type` is a copy that the call owns. */
  int owns_type;
};

/* A call that runs as a schedule. */
struct call {
  enum kind kind;
  const struct comm *comm;
  MPI_Comm mpi;
  struct side in, out;
  int is_in_place, reads_out, writes_out;
  int64_t count;
  GOAL_Type type;
  GOAL_Op op;
  int root;
};

/* main.c */
extern int goalmpi_is_on;
/* The node has fewer processors than ranks. */
extern int goalmpi_is_crowded;
extern __thread int goalmpi_is_inside;
/* Copies of MPI_COMM_SELF and MPI_COMM_WORLD, on which the program has no messages. */
extern MPI_Comm goalmpi_self, goalmpi_world;

/* settings.c */
int goalmpi_settings(int tells);
uint64_t goalmpi_digest(void);
int goalmpi_in_range(enum kind kind, uint64_t bytes);
int goalmpi_reports(void);

/* report.c */
void goalmpi_count(enum kind kind, enum reason reason, uint64_t bytes);
void goalmpi_report(void);

/* communicators.c */
const struct comm *goalmpi_comm(MPI_Comm comm);
int goalmpi_communicators_begin(void);
void goalmpi_communicators_end(void);

/* types.c */
void goalmpi_types(void);
size_t goalmpi_width(MPI_Datatype type);
int goalmpi_is_dense(MPI_Datatype type);
int goalmpi_reduction(MPI_Datatype type, MPI_Op op, GOAL_Type *goal_type, GOAL_Op *goal_op);
int goalmpi_pack(struct side *side);
int goalmpi_unpack(struct side *side);

/* calls.c: each fills a call and returns 1 if it runs as a schedule. */
int goalmpi_barrier(struct call *call, MPI_Comm comm);
int goalmpi_bcast(struct call *call, void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
int goalmpi_combine(struct call *call, enum kind kind, const void *in, void *out, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int goalmpi_gather(struct call *call, const void *in, MPI_Count count, MPI_Datatype type, void *out,
                   MPI_Count rcount, MPI_Datatype rtype, int root, MPI_Comm comm);
int goalmpi_spread(struct call *call, enum kind kind, const void *in, MPI_Count count, MPI_Datatype type,
                   void *out, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm);

/* run.c */
/* `why` is NULL for the last error of libgoal. */
int goalmpi_fail(MPI_Comm comm, enum kind kind, const char *why);
int goalmpi_keep_types(struct call *call);
void goalmpi_drop(struct call *call);
int goalmpi_before(struct call *call);
int goalmpi_after(struct call *call);
int goalmpi_run(struct call *call);
GOAL_Schedule goalmpi_prepare(const struct call *call);
GOAL_Handle goalmpi_launch(const struct call *call);

/* requests.c */
/* The bytes that the receive of a persistent request has room for. Of messages from the process itself,
 * Intel MPI cuts off those for a receive of 0 bytes without an error, and Open MPI 5 the others. */
#ifdef I_MPI_VERSION
#define ROOM 1
#else
#define ROOM 0
#endif
extern struct pending *goalmpi_pending;
int goalmpi_start(const struct call *call, MPI_Request *request);
int goalmpi_start_persistent(GOAL_Schedule schedule, struct call *call, int tag);
void goalmpi_poll(void);
void goalmpi_pause(unsigned *rounds);
/* Returns 0 if the thread of progress can't start. */
int goalmpi_use_thread(void);

/* persistent.c */
int goalmpi_persist(const struct call *call, MPI_Request *request);

#pragma GCC visibility pop

#endif
