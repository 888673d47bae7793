/* The common part of all wrappers. Each wrapper has the form
 *
 *   int rc;
 *   if (!begin()) return PMPI_X(...);
 *   rc = PMPI_X(...);
 *   if (rc == MPI_SUCCESS) goalprof_...;
 *   return end(rc);
 *
 * `begin` returns 0 while MPI is not in use, and in a process that a rank has forked. It does so within
 * another wrapper as well, since some MPI libraries call MPI_ functions themselves. */
#ifndef SHIM_H
#define SHIM_H

#include "goalprof.h"
#include <features_of_mpi.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern volatile int shim_is_on;
/* The words of a set of numbers of communicators, on all ranks alike. */
extern size_t shim_words;
/* True in a call of this thread that is recorded, and the number of such calls of all threads. */
extern __thread int shim_is_inside;
extern int shim_calls;

/* True if threads may call at the same time. Then messages start one at a time: they are recorded in the
 * order of their starts, in which MPI matches them. */
extern int shim_is_multiple;
/* True while this thread starts a message. An error handler may leave the call by longjmp or an
 * exception: then it stays true. */
extern __thread int shim_is_starting;
void shim_begin_start(void);
void shim_end_start(void);
/* Ends the recording, and lets other threads start messages. */
void shim_end_left(void);

static inline void begin_start(void) {
  if (shim_is_multiple) shim_begin_start();
}

static inline void end_start(void) {
  if (shim_is_starting) shim_end_start();
}

/* Completes a request that a blocking call has started, and records it. */
int shim_wait(MPI_Request *request, uint64_t token, MPI_Status *status);
/* Returns a group of all ranks. The caller frees it if it is new. */
MPI_Group shim_all(int *is_new);
/* Looks for the ends of receives that were freed while they were active. */
void shim_end_freed(void);

static inline void set_inside(int is_inside) {
  shim_is_inside = is_inside;
  __atomic_fetch_add(&shim_calls, is_inside ? 1 : -1, __ATOMIC_RELAXED);
}

static inline int begin(void) {
  if (!shim_is_on) return 0;
  if (shim_is_inside) {
    /* No library calls itself while it starts a message. */
    if (shim_is_starting) shim_end_left();
    return 0;
  }
  set_inside(1);
  goalprof_enter();
  return 1;
}

/* Tells of an operation that failed. */
static inline void failed(int rc) {
  int class = MPI_ERR_OTHER;
  if (PMPI_Error_class(rc, &class) != MPI_SUCCESS || class == MPI_ERR_IN_STATUS) return;
  if (class == MPI_ERR_TRUNCATE)
    goalprof_fail("a message was longer than the room of its receive, and MPI does not tell its size");
  else
    goalprof_note("a call of MPI returned an error, so what it sent or received may be missing");
}

static inline int end(int rc) {
  if (rc != MPI_SUCCESS) failed(rc);
  goalprof_leave();
  set_inside(0);
  return rc;
}

/* The next call of MPI runs functions of the program, which may call MPI: those that copy and delete
 * attributes. */
static inline void begin_callbacks(void) {
  goalprof_leave();
  set_inside(0);
}

static inline void end_callbacks(void) { set_inside(1); }

/* A handle is a pointer or an integer, of at most 8 bytes. */
static inline uint64_t of_comm(MPI_Comm comm) {
  uint64_t bits = 0;
  memcpy(&bits, &comm, sizeof comm);
  return bits;
}

static inline uint64_t of_request(MPI_Request request) {
  uint64_t bits = 0;
  memcpy(&bits, &request, sizeof request);
  return bits;
}

_Static_assert(sizeof(MPI_Comm) <= 8 && sizeof(MPI_Request) <= 8, "handles have at most 8 bytes");

/* The bytes of an element; 0 for a datatype that is not valid. */
static inline uint64_t width_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return (uint64_t)size;
}

static inline uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return count > 0 ? (uint64_t)count * width_of(type) : 0;
}

/* MPI_PROC_NULL is no negative number in every library. */
static inline int peer_of(int rank) { return rank == MPI_PROC_NULL ? -1 : rank; }

/* The message of a receive or a probe that has ended. */
static inline struct goalprof_status of_message_status(const MPI_Status *status) {
  struct goalprof_status of = {0, -1, 0, 0};
  MPI_Count bytes = 0;
  if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0) bytes = 0;
  of.bytes = (uint64_t)bytes;
  of.from = peer_of(status->MPI_SOURCE);
  of.tag = status->MPI_TAG;
  return of;
}

/* The end of an operation that may have been cancelled. */
static inline struct goalprof_status of_status(const MPI_Status *status) {
  struct goalprof_status cancelled = {0, -1, 0, 1};
  int is_cancelled = 0;
  PMPI_Test_cancelled(status, &is_cancelled);
  return is_cancelled ? cancelled : of_message_status(status);
}

static inline struct goalprof_message of_message(const char *name, MPI_Count count, MPI_Datatype type,
                                                 int to, int tag, MPI_Comm comm, int buffered) {
  struct goalprof_message of = {name, of_comm(comm), bytes_of(count, type), peer_of(to), tag, buffered};
  return of;
}

#endif
