/* libgoal-mpi: collectives of an unmodified MPI program as schedules of GOAL.
 *
 * A wrapper of MPI_X either runs the call as a schedule or hands it to PMPI_X with its arguments
 * unchanged. All ranks of a communicator must choose alike. So the choice depends only on arguments
 * that MPI requires to be the same on all of them. These are the operation, the communicator, the bytes
 * of a block, and for reductions the type and the operator. A condition of one rank alone does not
 * decide, as an overlap of two buffers. The rank carries it out within the schedule, by a copy.
 *
 * Any thread may call if the program has MPI_THREAD_MULTIPLE. Lists and tables lie behind one lock.
 * No lock is held in a call of MPI, because an error handler may call MPI again, and may leave by
 * longjmp.
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

/* Begins the definition of the wrapper of MPI_X, which must have its type. entries.c has MPI_X. */
#define WRAPPER(f)                                                            \
  __attribute__((visibility("hidden"))) extern __typeof__(MPI_##f) wrap_##f;  \
  int wrap_##f

/* Only the functions of MPI are seen from outside. */
#pragma GCC visibility push(hidden)

/* The operations, in the order of goalmpi_names. */
enum kind { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, ALLGATHER, ALLTOALL, KINDS };
extern const char *const goalmpi_names[KINDS];

/* The forms of a call. */
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* Why a call is left to MPI. */
enum reason { RUN, COMMUNICATOR, SIZE, OPERATOR, ARGUMENTS, REASONS };

/* A note on a call, which other ranks of the node see. `word` names the call and the choice; 0 stands
 * for none. `bytes` are those of the block. */
struct note {
  uint64_t word, bytes;
};

/* The last calls of a form on a communicator whose notes are kept. */
#define DEPTH 8

/* A communicator that schedules run on. Blocking and non-blocking collectives have a matching space
 * each, as in MPI libraries: some programs call one of each in another order on each rank. */
struct comm {
  struct comm *next;
  MPI_Comm mpi;
  GOAL_Comm blocking, nonblocking;
  int rank, size;
  /* All members know it by this number; 0 stands for none. Communicators without a common rank may
   * share a number. */
  uint64_t number;
  /* The calls on it of each form, and the communicators that were made of it. */
  uint32_t calls[FORMS], made;
  /* The names of the calls of each form begin with these, and their notes are here, or NULL. */
  uint64_t names[FORMS];
  struct note *notes[FORMS];
};

/* Memory that a schedule reads or writes. */
struct side {
  void *user, *packed;
  MPI_Count count;
  MPI_Datatype type;
  /* The bytes of the elements, and those that the schedule uses. */
  size_t bytes, room;
  /* The schedule gets a packed copy: elements do not lie one behind the other, or overlap others. */
  int is_copied;
  /* `type` is a copy that the call owns. */
  int owns_type;
};

/* A call that runs as a schedule. */
struct call {
  enum kind kind;
  struct comm *comm;
  MPI_Comm mpi;
  enum form form;
  /* The bytes of a block. */
  uint64_t bytes;
  /* Why it is left to MPI. */
  enum reason reason;
  struct side in, out;
  int is_in_place, reads_out, writes_out;
  int64_t count;
  GOAL_Type type;
  GOAL_Op op;
  int root;
  /* Errors of this rank's arguments: one that MPI has found, and one to be told when the call ends. */
  int refused, error;
  /* Of a call that waits: the next one, and the looks at it. */
  struct call *next;
  uint64_t looks;
};

/* The first look at a call at which the choices of ranks are compared. Each further comparison comes
 * after twice as many looks. */
#define LATE 512

/* The raw arguments of a call. Those that an operation does not have are 0. */
struct arguments {
  const void *in;
  void *out;
  MPI_Count count, rcount;
  MPI_Datatype type, rtype;
  MPI_Op op;
  int root;
  MPI_Comm comm;
};

/* A blocking call whose choice is known. */
struct known {
  int is_kept;
  enum kind kind;
  struct arguments of;
  int is_in_place, uses_in, uses_out;
  struct call call;
};

/* entries.c */
/* Lets the program's calls go to PMPI. */
void goalmpi_step_aside(void);
extern int goalmpi_is_aside;
/* A line on another MPI library than the one that this is built for; empty if there is none. */
extern char goalmpi_other[];

/* main.c */
extern int goalmpi_is_on;
/* The node has fewer processors than ranks. */
extern int goalmpi_is_crowded;
/* The program has MPI_THREAD_MULTIPLE. */
extern int goalmpi_is_threaded;
void goalmpi_lock(void);
void goalmpi_unlock(void);
/* Copies of MPI_COMM_SELF and MPI_COMM_WORLD, on which the program has no messages. */
extern MPI_Comm goalmpi_self, goalmpi_world;

/* Spreads two numbers over 64 bits (SplitMix64). For one `from` the results differ. */
static inline uint64_t goalmpi_mix(uint64_t from, uint64_t at) {
  uint64_t bits = from + at * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

/* settings.c */
int goalmpi_settings(int tells);
uint64_t goalmpi_digest(void);
int goalmpi_in_range(enum form form, enum kind kind, uint64_t bytes);
int goalmpi_reports(void);

/* report.c */
extern uint64_t goalmpi_calls[KINDS][REASONS], goalmpi_bytes_run[KINDS];
void goalmpi_count(enum kind kind, enum reason reason, uint64_t bytes);
void goalmpi_report(void);

/* choices.c */
/* The bit of a call that is left to MPI, and the bits that name the call. Two calls have the same
 * name with a probability of 1 in 2^60. The three other bits are the operation. The name
 * leaves it out, so ranks that call different operations are found too. */
#define IS_LEFT 1
#define NAME (~(uint64_t)0xf)
/* Returns the name of a call with this number among those of its form. */
static inline uint64_t goalmpi_name(const struct comm *comm, enum form form, uint32_t number) {
  return (comm->names[form] + number * 0x9e3779b97f4a7c15u) & NAME;
}
/* Numbers a call and notes its choice. */
static inline void goalmpi_note(const struct call *call, int is_left) {
  struct comm *comm = call->comm;
  uint32_t number = comm->calls[call->form]++;
  struct note *note = comm->notes[call->form];
  uint64_t word = goalmpi_name(comm, call->form, number) | (uint64_t)call->kind << 1 | (is_left ? IS_LEFT : 0);
  if (!note) return;
  note += number % DEPTH;
  __atomic_store_n(&note->bytes, call->bytes, __ATOMIC_RELAXED);
  /* Release: who reads the word sees the bytes. */
  __atomic_store_n(&note->word, word, __ATOMIC_RELEASE);
}
/* Gives a new communicator its names and its place for notes. */
void goalmpi_choices_of(struct comm *comm);
/* Ends the schedules of all ranks if the last choices on the call's communicator differ. */
void goalmpi_compare(const struct call *call);
void goalmpi_choices_begin(MPI_Comm node);
void goalmpi_choices_end(void);

/* communicators.c */
struct comm *goalmpi_comm(MPI_Comm comm);
int goalmpi_communicators_begin(void);
void goalmpi_communicators_end(void);
/* Makes a communicator of libgoal of all ranks of one, in the same order on all of them. */
GOAL_Comm goalmpi_copy(const struct comm *comm);

/* types.c */
void goalmpi_types(void);
size_t goalmpi_width(MPI_Datatype type);
int goalmpi_is_dense(MPI_Datatype type);
int goalmpi_is_predefined(MPI_Datatype type);
int goalmpi_reduction(MPI_Datatype type, MPI_Op op, GOAL_Type *goal_type, GOAL_Op *goal_op);
int goalmpi_pack(struct side *side);
int goalmpi_unpack(struct side *side);

/* calls.c: each fills a call, whose form is set, and returns 1 if it runs as a schedule. */
int goalmpi_barrier(struct call *call, MPI_Comm comm);
int goalmpi_bcast(struct call *call, void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
int goalmpi_combine(struct call *call, enum kind kind, const void *in, void *out, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int goalmpi_gather(struct call *call, const void *in, MPI_Count count, MPI_Datatype type, void *out,
                   MPI_Count rcount, MPI_Datatype rtype, int root, MPI_Comm comm);
int goalmpi_spread(struct call *call, enum kind kind, const void *in, MPI_Count count, MPI_Datatype type,
                   void *out, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm);

/* run.c */
/* Writes a line on a schedule that failed, by the last error of libgoal. Returns MPI_ERR_OTHER. */
int goalmpi_failed(const struct call *call);
/* Does so for a call that this rank can't begin, by libgoal's last error if `why` is NULL. The others
 * would wait for it, so the schedules of all ranks end. Returns MPI_ERR_OTHER. */
int goalmpi_give_up(const struct call *call, const char *why);
/* Keeps an error for the error handler of a communicator. Returns it. */
int goalmpi_keep_error(MPI_Comm comm, int rc);
/* Hands what is kept to error handlers. Called last, as a handler may not return. */
void goalmpi_tell_errors(void);
int goalmpi_tell_error(MPI_Comm comm, int rc);
int goalmpi_keep_types(struct call *call);
void goalmpi_drop(struct call *call);
int goalmpi_room(struct call *call);
int goalmpi_before(struct call *call);
int goalmpi_after(struct call *call);
int goalmpi_run(struct call *call);
/* Runs a call of a kind on these buffers, and returns what libgoal does when it has ended. */
static inline int goalmpi_run_on(const struct call *call, enum kind kind, const void *in, void *out) {
  GOAL_Comm comm = call->comm->blocking;
  switch (kind) {
    case BARRIER: return GOAL_Barrier(comm);
    case BCAST: return GOAL_Bcast(out, call->count, call->type, call->root, comm);
    case REDUCE: return GOAL_Reduce(in, out, call->count, call->type, call->op, call->root, comm);
    case ALLREDUCE: return GOAL_Allreduce(in, out, call->count, call->type, call->op, comm);
    case GATHER: return GOAL_Gather(in, out, call->count, call->type, call->root, comm);
    case ALLGATHER: return GOAL_Allgather(in, out, call->count, call->type, comm);
    case ALLTOALL: return GOAL_Alltoall(in, out, call->count, call->type, comm);
    default: return GOAL_ERR_INTERNAL;
  }
}
/* The blocking calls of all threads that wait. */
extern struct call *goalmpi_waiting;
/* Handles the end of a known call that failed, or behind which MPI has to make progress: `code` is
 * that of libgoal. Returns the call's result. */
int goalmpi_end(struct call *call, int code);
/* The blocking schedules since this rank last let MPI make progress at the end of one. */
extern unsigned goalmpi_behind;
#define BEHIND_MAX 16
/* Lets MPI make progress if it has not since the last schedule. */
void goalmpi_catch_up(void);
/* Notes a look at a call that waits. Returns 1 if the choices of ranks are to be compared. */
int goalmpi_is_late(struct call *call);
/* Lets MPI progress while a rank waits for a schedule. libgoal calls it. It may call GOAL_Abort only. */
void goalmpi_idle(void);
/* In a process that a rank has forked. */
void goalmpi_forget_waiting(void);
GOAL_Schedule goalmpi_prepare(const struct call *call, GOAL_Comm comm);
GOAL_Handle goalmpi_launch(const struct call *call, GOAL_Comm comm);

/* known.c */
#define KNOWN_MAX 64
extern struct known goalmpi_known[KNOWN_MAX];
static inline struct known *goalmpi_place_of(enum kind kind, const struct arguments *of) {
  uint64_t bits = 0;
  memcpy(&bits, &of->comm, sizeof of->comm);
  bits = (bits * 31 + (uint64_t)of->count) * 0x9e3779b97f4a7c15u;
  return &goalmpi_known[(bits >> 58) ^ (uint64_t)kind * 9 % KNOWN_MAX];
}
/* Keeps the choice of a call with these arguments, if it may be kept. */
void goalmpi_learn(const struct arguments *of, const struct call *call);
/* Forgets all choices. */
void goalmpi_unlearn(void);

/* requests.c */
int goalmpi_has_pending(void);
void goalmpi_forget_pending(void);
int goalmpi_start(struct call *call, MPI_Request *request);
struct persistent;
int goalmpi_start_persistent(struct persistent *of, GOAL_Schedule schedule, const struct call *call);
/* Completes the requests of schedules that have ended, and keeps their errors. */
void goalmpi_complete_ended(void);
/* Completes them and tells the errors. */
void goalmpi_poll(void);
/* Compares the choices of ranks for requests that are late. */
void goalmpi_look_at_pending(void);
void goalmpi_pause(unsigned *rounds);
/* Returns 0 if the thread of progress can't start. */
int goalmpi_use_thread(void);

/* persistent.c */
int goalmpi_persist(struct call *call, MPI_Request *request);
/* Called when the schedule of a persistent request has ended. */
void goalmpi_persistent_ended(struct persistent *of, int rc);
void goalmpi_forget_persistent(void);

#pragma GCC visibility pop

#endif
