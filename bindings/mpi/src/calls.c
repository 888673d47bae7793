/* The choice between a schedule and MPI, call by call.
 *
 * A wrong argument, as a root that there is not, sends the call to MPI. MPI finds it before it sends a
 * message, and its error handler tells the program. No other condition of one rank alone sends a call
 * to MPI: the other ranks would wait for this one in the schedule. */
#include "goalmpi.h"
#include <pthread.h>

/* One rank alone may try a call with wrong arguments, so such calls have no number. */
static int left(struct call *call, enum reason reason) {
  goalmpi_count(call->kind, reason, 0);
  call->reason = reason;
  if (reason == SIZE) goalmpi_note(call, 1);
  return 0;
}

/* Begins a call on a communicator. Returns 0 if it has no schedules. */
static int begin(struct call *call, enum kind kind, MPI_Comm mpi) {
  enum form form = call->form;
  if (!goalmpi_is_on) return 0;
  memset(call, 0, sizeof *call);
  call->form = form;
  call->kind = kind;
  call->mpi = mpi;
  call->type = GOAL_UINT8;
  call->comm = goalmpi_comm(mpi);
  if (!call->comm) {
    goalmpi_count(kind, COMMUNICATOR, 0);
    return 0;
  }
  return 1;
}

static int runs(struct call *call) {
  goalmpi_count(call->kind, RUN, call->bytes);
  goalmpi_note(call, call->refused != MPI_SUCCESS);
  return 1;
}

static int is_root_valid(const struct call *call, int root) { return root >= 0 && root < call->comm->size; }

static struct side side_of(const void *user, MPI_Count count, MPI_Datatype type, size_t bytes) {
  struct side side = {(void *)(uintptr_t)user, NULL, count, type, bytes, bytes, !goalmpi_is_dense(type), 0};
  return side;
}

/* Returns the bytes of a block. */
static uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  uint64_t bytes;
  return __builtin_mul_overflow((uint64_t)count, goalmpi_width(type), &bytes) ? UINT64_MAX : bytes;
}

/* Returns 1 if no MPI library takes this buffer. NULL as an address needs a derived type, which may
 * have absolute addresses. */
static int is_wrong(const void *user, MPI_Count count, MPI_Datatype type) {
  if (count < 0 || type == MPI_DATATYPE_NULL || user == MPI_IN_PLACE) return 1;
  return !user && count > 0 && goalmpi_is_dense(type) && goalmpi_width(type) > 0;
}

static int call_with_same(enum kind kind, int *word) {
  switch (kind) {
    case REDUCE: return PMPI_Reduce(word, word, 1, MPI_INT, MPI_SUM, 0, goalmpi_self);
    case ALLREDUCE: return PMPI_Allreduce(word, word, 1, MPI_INT, MPI_SUM, goalmpi_self);
    case GATHER: return PMPI_Gather(word, 1, MPI_INT, word, 1, MPI_INT, 0, goalmpi_self);
    case ALLGATHER: return PMPI_Allgather(word, 1, MPI_INT, word, 1, MPI_INT, goalmpi_self);
    case ALLTOALL: return PMPI_Alltoall(word, 1, MPI_INT, word, 1, MPI_INT, goalmpi_self);
    default: return MPI_SUCCESS;
  }
}

/* Returns the error that MPI gives for two buffers that are the same. Some libraries give none for
 * some operations. The call is of this process alone. */
static int error_of_same(enum kind kind) {
  static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
  int rc, word = 0;
  pthread_mutex_lock(&alone);
  rc = call_with_same(kind, &word);
  pthread_mutex_unlock(&alone);
  return rc;
}

/* Sets the memory of a call that has an input and an output. `own` is where the output gets the own
 * input from this rank. MPI forbids that the two overlap, and most libraries accept it. */
static void set_sides(struct call *call, struct side in, struct side out, const void *own) {
  const char *read = in.user, *written = out.user;
  call->in = in;
  call->out = out;
  if (in.is_copied || out.is_copied || in.bytes == 0) return;
  if (read >= written + out.bytes || written >= read + in.bytes) return;
  if (read == own) call->refused = error_of_same(call->kind);
  call->in.is_copied = 1;
}

/* Sets the memory of a call in which every rank gives blocks of `bytes` bytes. The root, or every rank,
 * may give some of another size, which MPI forbids. It takes part with blocks of the right size, since
 * the others can't know, and has an error then. */
static void set_blocks(struct call *call, struct side in, struct side out, size_t room, const void *own) {
  if (in.bytes != room) {
    call->error = MPI_ERR_TRUNCATE;
    in.is_copied = 1;
    in.room = room > in.bytes ? room : in.bytes;
  }
  set_sides(call, in, out, own);
}

int goalmpi_barrier(struct call *call, MPI_Comm comm) {
  if (!begin(call, BARRIER, comm)) return 0;
  return goalmpi_in_range(call->form, BARRIER, 0) ? runs(call) : left(call, SIZE);
}

int goalmpi_bcast(struct call *call, void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  uint64_t bytes;
  if (!begin(call, BCAST, comm)) return 0;
  if (!is_root_valid(call, root) || is_wrong(buf, count, type)) return left(call, ARGUMENTS);
  bytes = bytes_of(count, type);
  call->bytes = bytes;
  if (!goalmpi_in_range(call->form, BCAST, bytes) || bytes == 0) return left(call, SIZE);
  call->root = root;
  call->count = (int64_t)bytes;
  call->out = side_of(buf, count, type, bytes);
  call->reads_out = call->comm->rank == root;
  call->writes_out = !call->reads_out;
  return runs(call);
}

int goalmpi_combine(struct call *call, enum kind kind, const void *in, void *out, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  int has_output;
  uint64_t bytes;
  if (!begin(call, kind, comm)) return 0;
  if (!goalmpi_reduction(type, op, &call->type, &call->op)) return left(call, OPERATOR);
  has_output = kind == ALLREDUCE || call->comm->rank == root;
  call->is_in_place = in == MPI_IN_PLACE && has_output;
  if (!is_root_valid(call, root) || (!call->is_in_place && is_wrong(in, count, type))) return left(call, ARGUMENTS);
  if (has_output && is_wrong(out, count, type)) return left(call, ARGUMENTS);
  bytes = bytes_of(count, type);
  call->bytes = bytes;
  if (!goalmpi_in_range(call->form, kind, bytes) || bytes == 0) return left(call, SIZE);
  call->root = root;
  call->count = count;
  if (call->is_in_place) call->out = side_of(out, count, type, bytes);
  else if (has_output) set_sides(call, side_of(in, count, type, bytes), side_of(out, count, type, bytes), out);
  else call->in = side_of(in, count, type, bytes);
  return runs(call);
}

/* Returns the place of the block of a rank in a result, if blocks there are like the own one. */
static const void *block_at(const void *out, int rank, MPI_Count count, MPI_Datatype type, MPI_Count rcount,
                            MPI_Datatype rtype) {
  if (count != rcount || type != rtype) return NULL;
  return (const char *)out + (size_t)rank * bytes_of(rcount, rtype);
}

/* The blocks of all ranks at the root. */
int goalmpi_gather(struct call *call, const void *in, MPI_Count count, MPI_Datatype type, void *out,
                   MPI_Count rcount, MPI_Datatype rtype, int root, MPI_Comm comm) {
  int is_root;
  uint64_t bytes;
  if (!begin(call, GATHER, comm)) return 0;
  is_root = call->comm->rank == root;
  if (!is_root_valid(call, root)) return left(call, ARGUMENTS);
  call->is_in_place = is_root && in == MPI_IN_PLACE;
  if (!call->is_in_place && is_wrong(in, count, type)) return left(call, ARGUMENTS);
  if (is_root && is_wrong(out, rcount, rtype)) return left(call, ARGUMENTS);
  bytes = is_root ? bytes_of(rcount, rtype) : bytes_of(count, type);
  call->bytes = bytes;
  if (!goalmpi_in_range(call->form, GATHER, bytes) || bytes == 0) return left(call, SIZE);
  call->root = root;
  call->count = (int64_t)bytes;
  if (is_root) {
    struct side all = side_of(out, rcount * call->comm->size, rtype, bytes * (size_t)call->comm->size);
    const void *own = block_at(out, root, count, type, rcount, rtype);
    if (call->is_in_place) call->out = all;
    else set_blocks(call, side_of(in, count, type, bytes_of(count, type)), all, bytes, own);
    call->reads_out = call->is_in_place;
    call->writes_out = 1;
  } else {
    call->in = side_of(in, count, type, bytes);
  }
  return runs(call);
}

/* Allgather and Alltoall: every rank gets a block of every rank. */
int goalmpi_spread(struct call *call, enum kind kind, const void *in, MPI_Count count, MPI_Datatype type,
                   void *out, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm) {
  size_t size, blocks;
  uint64_t bytes;
  struct side all;
  if (!begin(call, kind, comm)) return 0;
  call->is_in_place = in == MPI_IN_PLACE;
  if (is_wrong(out, rcount, rtype) || (!call->is_in_place && is_wrong(in, count, type))) return left(call, ARGUMENTS);
  size = (size_t)call->comm->size;
  blocks = kind == ALLTOALL ? size : 1;
  bytes = bytes_of(rcount, rtype);
  call->bytes = bytes;
  if (!goalmpi_in_range(call->form, kind, bytes) || bytes == 0) return left(call, SIZE);
  call->count = (int64_t)bytes;
  all = side_of(out, rcount * (MPI_Count)size, rtype, bytes * size);
  if (call->is_in_place) {
    call->out = all;
  } else {
    struct side own = side_of(in, count * (MPI_Count)blocks, type, bytes_of(count, type) * blocks);
    set_blocks(call, own, all, bytes * blocks,
               block_at(out, kind == ALLTOALL ? 0 : call->comm->rank, count, type, rcount, rtype));
  }
  call->reads_out = call->is_in_place;
  call->writes_out = 1;
  return runs(call);
}
