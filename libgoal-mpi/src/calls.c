/* The choice between a schedule and MPI, call by call.
 *
 * An argument that MPI forbids sends the call to MPI, whose error handler tells the program. Ranks
 * that differ in this are in a program with an error. So nothing that MPI allows may be taken for
 * such an argument. */
#include "goalmpi.h"

static int left(enum kind kind, enum reason reason) {
  goalmpi_count(kind, reason, 0);
  return 0;
}

/* Begins a call on a communicator. Returns 0 if it has no schedules. */
static int begin(struct call *call, enum kind kind, MPI_Comm mpi) {
  if (!goalmpi_is_on || goalmpi_is_inside) return 0;
  memset(call, 0, sizeof *call);
  call->kind = kind;
  call->mpi = mpi;
  call->type = GOAL_UINT8;
  call->comm = goalmpi_comm(mpi);
  return call->comm ? 1 : left(kind, COMMUNICATOR);
}

static int runs(const struct call *call, uint64_t bytes) {
  goalmpi_count(call->kind, RUN, bytes);
  return 1;
}

static int is_root_valid(const struct call *call, int root) { return root >= 0 && root < call->comm->size; }

static struct side side_of(const void *user, MPI_Count count, MPI_Datatype type, size_t bytes) {
  struct side side = {(void *)(uintptr_t)user, NULL, count, type, bytes, !goalmpi_is_dense(type), 0};
  return side;
}

/* Returns the bytes of a block, or 0 if the arguments are wrong or there are none: then MPI has the
 * call. NULL as an address needs a derived type, which may have absolute addresses. */
static uint64_t bytes_of(const void *user, MPI_Count count, MPI_Datatype type) {
  uint64_t width, bytes;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  width = goalmpi_width(type);
  if (__builtin_mul_overflow((uint64_t)count, width, &bytes)) return 0;
  if (!user && goalmpi_is_dense(type)) return 0;
  return bytes;
}

/* Returns 1 if two buffers of at least one element are the same memory. At the same address,
 * elements of derived types may lie apart, and MPI_BOTTOM says nothing of where they are. */
static int are_same(const void *in, MPI_Datatype type, const void *out, MPI_Datatype rtype) {
  return in == out && goalmpi_is_dense(type) && goalmpi_is_dense(rtype);
}

int goalmpi_barrier(struct call *call, MPI_Comm comm) {
  if (!begin(call, BARRIER, comm)) return 0;
  return goalmpi_in_range(BARRIER, 0) ? runs(call, 0) : left(BARRIER, SIZE);
}

int goalmpi_bcast(struct call *call, void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  uint64_t bytes;
  if (!begin(call, BCAST, comm)) return 0;
  bytes = bytes_of(buf, count, type);
  if (!is_root_valid(call, root) || buf == MPI_IN_PLACE) return left(BCAST, ARGUMENTS);
  if (!goalmpi_in_range(BCAST, bytes) || bytes == 0) return left(BCAST, SIZE);
  call->root = root;
  call->count = (int64_t)bytes;
  call->out = side_of(buf, count, type, bytes);
  call->reads_out = call->comm->rank == root;
  call->writes_out = !call->reads_out;
  return runs(call, bytes);
}

int goalmpi_combine(struct call *call, enum kind kind, const void *in, void *out, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  int has_output;
  uint64_t bytes;
  if (!begin(call, kind, comm)) return 0;
  if (!goalmpi_reduction(type, op, &call->type, &call->op)) return left(kind, OPERATOR);
  has_output = kind == ALLREDUCE || call->comm->rank == root;
  call->is_in_place = in == MPI_IN_PLACE && has_output;
  if (!is_root_valid(call, root) || (in == MPI_IN_PLACE && !has_output)) return left(kind, ARGUMENTS);
  if (has_output && (out == MPI_IN_PLACE || out == in || !out)) return left(kind, ARGUMENTS);
  bytes = bytes_of(in, count, type);
  if (!goalmpi_in_range(kind, bytes) || bytes == 0) return left(kind, SIZE);
  call->root = root;
  call->count = count;
  if (!call->is_in_place) call->in = side_of(in, count, type, bytes);
  if (has_output) call->out = side_of(out, count, type, bytes);
  return runs(call, bytes);
}

/* The blocks of all ranks at the root. */
int goalmpi_gather(struct call *call, const void *in, MPI_Count count, MPI_Datatype type, void *out,
                   MPI_Count rcount, MPI_Datatype rtype, int root, MPI_Comm comm) {
  int is_root;
  uint64_t bytes;
  if (!begin(call, GATHER, comm)) return 0;
  is_root = call->comm->rank == root;
  if (!is_root_valid(call, root)) return left(GATHER, ARGUMENTS);
  if (is_root ? out == MPI_IN_PLACE || are_same(in, type, out, rtype) : in == MPI_IN_PLACE)
    return left(GATHER, ARGUMENTS);
  call->is_in_place = in == MPI_IN_PLACE;
  bytes = is_root ? bytes_of(out, rcount, rtype) : bytes_of(in, count, type);
  if (!goalmpi_in_range(GATHER, bytes) || bytes == 0) return left(GATHER, SIZE);
  if (is_root && !call->is_in_place && bytes_of(in, count, type) != bytes) return left(GATHER, ARGUMENTS);
  call->root = root;
  call->count = (int64_t)bytes;
  if (!call->is_in_place) call->in = side_of(in, count, type, bytes);
  if (is_root) {
    call->out = side_of(out, rcount * call->comm->size, rtype, bytes * (size_t)call->comm->size);
    call->reads_out = call->is_in_place;
    call->writes_out = 1;
  }
  return runs(call, bytes);
}

/* Allgather and Alltoall: every rank gets a block of every rank. */
int goalmpi_spread(struct call *call, enum kind kind, const void *in, MPI_Count count, MPI_Datatype type,
                   void *out, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm) {
  size_t size;
  uint64_t bytes;
  if (!begin(call, kind, comm)) return 0;
  if (out == MPI_IN_PLACE || are_same(in, type, out, rtype)) return left(kind, ARGUMENTS);
  size = (size_t)call->comm->size;
  call->is_in_place = in == MPI_IN_PLACE;
  bytes = bytes_of(out, rcount, rtype);
  if (!goalmpi_in_range(kind, bytes) || bytes == 0) return left(kind, SIZE);
  if (!call->is_in_place && bytes_of(in, count, type) != bytes) return left(kind, ARGUMENTS);
  call->count = (int64_t)bytes;
  if (!call->is_in_place && kind == ALLGATHER) call->in = side_of(in, count, type, bytes);
  if (!call->is_in_place && kind == ALLTOALL) call->in = side_of(in, count * (MPI_Count)size, type, bytes * size);
  call->out = side_of(out, rcount * (MPI_Count)size, rtype, bytes * size);
  call->reads_out = call->is_in_place;
  call->writes_out = 1;
  return runs(call, bytes);
}
