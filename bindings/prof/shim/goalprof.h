/* The functions of the core, src/ffi.rs, which has the same structures. Names are literals. */
#ifndef GOALPROF_H
#define GOALPROF_H

#include <stddef.h>
#include <stdint.h>

/* A send. `to` is below 0 for MPI_PROC_NULL. */
struct goalprof_message {
  const char *name;
  uint64_t communicator, bytes;
  int to, tag, buffered;
};

/* The end of an operation. `from` is below 0 for MPI_PROC_NULL. */
struct goalprof_status {
  uint64_t bytes;
  int from, tag, cancelled;
};

/* The collectives, in the order of goal-lang's CollectiveKind::ALL. */
enum {
  BCAST, REDUCE, ALLREDUCE, GATHER, ALLGATHER, SCATTER, ALLTOALL, REDUCE_SCATTER, SCAN, EXSCAN,
  BARRIER
};

/* The shapes of the blocks: all are equal, those of each rank, the own one, for each and from each. */
enum { EQUAL, EACH, OWN, PAIRS };

/* The forms: it has ended, it has started, it is persistent. */
enum { BLOCKING, NONBLOCKING, PERSISTENT };

struct goalprof_collective {
  const char *name;
  uint64_t communicator;
  uint32_t kind, root, shape, commutes;
  uint64_t width;
  /* One number for EQUAL and OWN, else `ranks` many. */
  const uint64_t *send;
  /* `ranks` many for PAIRS. */
  const uint64_t *recv;
  size_t ranks;
};

uint64_t goalprof_digest(uint32_t rank);
size_t goalprof_begin(uint32_t rank, uint32_t ranks, uint64_t world, uint64_t own,
                      int is_multiple);
void goalprof_resume(void);
void goalprof_finish(void);
void goalprof_abandon(void);
/* In a process that a rank has forked. */
void goalprof_forked(void);
/* Ends the recording for a reason. */
void goalprof_fail(const char *why);
void goalprof_no_memory(void);
/* Tells a sentence, once. */
void goalprof_note(const char *what);
/* Writes a line to standard error. */
void goalprof_tell(const char *line);
void goalprof_enter(void);
void goalprof_leave(void);
void goalprof_control(int level);
void goalprof_ids(uint64_t *words);
void goalprof_communicator(uint64_t handle, const uint64_t *words, size_t count, uint32_t me,
                           const uint32_t *world, size_t size);
uint32_t goalprof_communicator_number(uint64_t handle);
void goalprof_communicator_free(uint64_t handle, uint32_t number);
void goalprof_send(struct goalprof_message of);
/* Returns the token of the request; 0 if nothing is recorded. */
uint64_t goalprof_isend(uint64_t request, struct goalprof_message of);
void goalprof_send_init(uint64_t request, struct goalprof_message of);
void goalprof_recv(const char *name, uint64_t communicator, struct goalprof_status status);
/* Returns the token of the request; 0 if nothing is recorded. */
uint64_t goalprof_irecv(uint64_t request, const char *name, uint64_t communicator, int is_null);
void goalprof_recv_init(uint64_t request, const char *name, uint64_t communicator, int is_null);
void goalprof_sendrecv(struct goalprof_message of, struct goalprof_status status);
void goalprof_isendrecv(uint64_t request, struct goalprof_message of, int is_null);
void goalprof_no_status(const char *name);
void goalprof_start(uint64_t request);
void goalprof_claim(const uint64_t *requests, uint64_t *tokens, size_t count);
void goalprof_complete(uint64_t request, uint64_t token, struct goalprof_status status);
/* Returns the token of an active receive, whose end the caller looks for. Else returns 0. */
uint64_t goalprof_free(uint64_t request);
void goalprof_detached(uint64_t request, uint64_t token, struct goalprof_status status);
void goalprof_collective(int form, uint64_t request, const struct goalprof_collective *of);

#endif
