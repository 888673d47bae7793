/* Conditions that rank 0 alone sees: buffers that overlap, MPI_IN_PLACE at one rank, a block of another
 * size, and another order of calls. All ranks must make the same choice, so no call may wait for ever,
 * and each has its result. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

#define COUNT 300
#define RANKS 8
enum kind { GATHER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, KINDS };
static const char *const names[] = {"gather", "allgather", "alltoall", "reduce", "allreduce"};
static int rank, size, faults, handled;
static int memory[(RANKS + 2) * COUNT], other[RANKS * COUNT], input[RANKS * COUNT];

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  faults++;
  printf("rank %d: %s is %d, and not %d\n", rank, what, got, wanted);
}

static void count_errors(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  handled++;
}

/* Returns 1 if the MPI library takes one buffer as the input and the output. */
static int takes_same(enum kind kind) {
  int word = 0, rc = MPI_SUCCESS;
  MPI_Comm self = MPI_COMM_SELF;
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  switch (kind) {
    case GATHER: rc = PMPI_Gather(&word, 1, MPI_INT, &word, 1, MPI_INT, 0, self); break;
    case ALLGATHER: rc = PMPI_Allgather(&word, 1, MPI_INT, &word, 1, MPI_INT, self); break;
    case ALLTOALL: rc = PMPI_Alltoall(&word, 1, MPI_INT, &word, 1, MPI_INT, self); break;
    case REDUCE: rc = PMPI_Reduce(&word, &word, 1, MPI_INT, MPI_SUM, 0, self); break;
    default: rc = PMPI_Allreduce(&word, &word, 1, MPI_INT, MPI_SUM, self);
  }
  return rc == MPI_SUCCESS;
}

#ifdef HAS_PERSISTENT
#define PERSISTENT(f, ...)                                    \
  MPI_##f##_init(__VA_ARGS__, MPI_INFO_NULL, &request);       \
  MPI_Start(&request);                                        \
  MPI_Wait(&request, MPI_STATUS_IGNORE);                      \
  MPI_Request_free(&request)
#define FORMS 3
#else
#define PERSISTENT(f, ...)
#define FORMS 2
#endif

/* Form 0 blocks, 1 does not, 2 is persistent. */
#define CALL(f, i, ...)                                       \
  do {                                                        \
    MPI_Request request;                                      \
    if (form == 0) MPI_##f(__VA_ARGS__);                      \
    if (form == 1) MPI_##i(__VA_ARGS__, &request), MPI_Wait(&request, MPI_STATUS_IGNORE); \
    if (form == 2) { PERSISTENT(f, __VA_ARGS__); }            \
  } while (0)

static void call(enum kind kind, int form, const void *in, int count, void *out, int root, MPI_Comm comm) {
  switch (kind) {
    case GATHER: CALL(Gather, Igather, in, count, MPI_INT, out, COUNT, MPI_INT, root, comm); break;
    case ALLGATHER: CALL(Allgather, Iallgather, in, count, MPI_INT, out, COUNT, MPI_INT, comm); break;
    case ALLTOALL: CALL(Alltoall, Ialltoall, in, count, MPI_INT, out, COUNT, MPI_INT, comm); break;
    case REDUCE: CALL(Reduce, Ireduce, in, out, COUNT, MPI_INT, MPI_SUM, root, comm); break;
    default: CALL(Allreduce, Iallreduce, in, out, COUNT, MPI_INT, MPI_SUM, comm);
  }
}

/* Checks the result; element `at` of rank r's input is 1000 r + at. */
static void check(const char *what, enum kind kind, const int *out, int skipped) {
  int many = kind == REDUCE || kind == ALLREDUCE ? COUNT : size * COUNT;
  char text[96];
  snprintf(text, sizeof text, "an element of %s, %s", names[kind], what);
  for (int at = 0; at < many; at++) {
    int wanted = 1000 * (at / COUNT) + at % COUNT;
    if (kind == ALLTOALL) wanted = 1000 * (at / COUNT) + rank * COUNT + at % COUNT;
    if (many == COUNT) wanted = 1000 * size * (size - 1) / 2 + size * at;
    if (at / COUNT != skipped) expect(text, out[at], wanted);
  }
}

/* Rank 0 has its input at this place of the memory, and its output at its beginning. */
static void overlap(const char *what, enum kind kind, int form, int place, int root) {
  int is_root = rank == root || kind == ALLGATHER || kind == ALLTOALL || kind == ALLREDUCE;
  int *in = rank == 0 ? memory + place : input, *out = rank == 0 ? memory : other;
  memset(memory, -1, sizeof memory);
  memset(other, -1, sizeof other);
  for (int at = 0; at < (kind == ALLTOALL ? size : 1) * COUNT; at++) in[at] = 1000 * rank + at;
  call(kind, form, in, COUNT, is_root ? out : NULL, root, MPI_COMM_WORLD);
  if (is_root) check(what, kind, out, -1);
}

static void in_place(enum kind kind, int form) {
  int *out = rank == 0 ? memory : other, own = kind == GATHER || kind == ALLGATHER ? rank * COUNT : 0;
  memset(out, -1, sizeof other);
  for (int at = 0; at < (kind == ALLTOALL ? size : 1) * COUNT; at++) input[at] = memory[at] = 1000 * rank + at;
  if (rank == 0) memmove(memory + own, input, COUNT * sizeof *input);
  call(kind, form, rank == 0 ? MPI_IN_PLACE : input, COUNT, out, 0, MPI_COMM_WORLD);
  if (rank == 0 || (kind != GATHER && kind != REDUCE)) check("in place at one rank", kind, out, -1);
}

/* Rank 0 gives a block of another size than the ones that it gets. */
static void another_size(enum kind kind, int form, int count, MPI_Comm comm) {
  memset(other, -1, sizeof other);
  memset(memory, -1, sizeof memory);
  for (int at = 0; at < COUNT; at++) memory[at] = input[at] = 1000 * rank + at;
  handled = 0;
  call(kind, form, rank == 0 ? memory : input, rank == 0 ? count : COUNT, other, 0, comm);
  if (rank == 0) expect("errors that the handler was told of", handled, 1);
  if (rank == 0 || kind == ALLGATHER) check("with a block of another size", kind, other, 0);
}

/* One rank begins a collective before a barrier, and the others behind it. MPI forbids it, and MPI
 * libraries accept it. */
static void other_order(void) {
  int one = 1, sum = 0;
  MPI_Request request;
  if (rank > 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("the sum of a collective in another order", sum, size);
}

int main(int argc, char **argv) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > RANKS) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int kind = 0; kind < KINDS; kind++)
    for (int form = 0; form < FORMS; form++) {
      /* Other ranks would wait for rank 0 if MPI refuses its buffers, as they do with MPI alone. */
      if (takes_same(kind)) overlap("with its own place in the result", kind, form, 0, 0);
      overlap("with an input that overlaps the result", kind, form, 1, 0);
      overlap("with an input that ends behind the result", kind, form, kind >= REDUCE ? COUNT - 1 : COUNT, 0);
      if (kind == GATHER || kind == REDUCE) overlap("at another root", kind, form, 0, size - 1);
      in_place(kind, form);
    }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  /* Of a non-blocking collective one of these may have the error too. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int kind = GATHER; kind <= ALLGATHER; kind++)
    for (int form = 0; form < 2; form++)
      for (int count = 0; count <= 2 * COUNT; count += 2 * COUNT) another_size(kind, form, count, comm);
  MPI_Comm_free(&comm);
  other_order();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
