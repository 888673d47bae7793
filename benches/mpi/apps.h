/* The functions of the applications cg, is and halo over MPI. examples/c/ has them over libgoal. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

static int rank, ranks;

static void begin(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void end(void) { MPI_Finalize(); }

#define REQUESTS_MAX 32

/* A call that is prepared: blocking, with a request, or a list of persistent requests. */
typedef struct Prepared {
  /* Makes the call, or does what has to be done before the requests start; NULL for nothing. */
  void (*before)(struct Prepared *);
  /* Does what is left once they have ended; NULL for nothing. */
  void (*after)(struct Prepared *);
  int is_persistent, n;
  MPI_Request requests[REQUESTS_MAX];
  const void *mine;
  void *theirs;
  MPI_Datatype type;
  int count, *counts, *places;
} Prepared, *Operation, *Running;

static Operation prepared(void) {
  Operation operation = calloc(1, sizeof *operation);
  if (!operation) MPI_Abort(MPI_COMM_WORLD, 3);
  return operation;
}

static Running start(Operation of) {
  if (of->before) of->before(of);
  if (of->is_persistent) MPI_Startall(of->n, of->requests);
  return of;
}

static void finish(Running of) {
  MPI_Waitall(of->n, of->requests, MPI_STATUSES_IGNORE);
  if (of->after) of->after(of);
}

#ifdef NONBLOCKING
static void call_sum(Prepared *of) { MPI_Iallreduce(of->mine, of->theirs, of->count, of->type, MPI_SUM, MPI_COMM_WORLD, of->requests); }
#else
static void call_sum(Prepared *of) { MPI_Allreduce(of->mine, of->theirs, of->count, of->type, MPI_SUM, MPI_COMM_WORLD); }
#endif

/* The sum of n numbers over the ranks: non-blocking if the way is NONBLOCKING, else blocking. */
static inline Operation prepare_sum_of(const void *mine, void *total, int n, MPI_Datatype type) {
  Operation sum = prepared();
  sum->before = call_sum;
  sum->mine = mine, sum->theirs = total, sum->count = n, sum->type = type;
#ifdef NONBLOCKING
  sum->n = 1;
#endif
  return sum;
}

