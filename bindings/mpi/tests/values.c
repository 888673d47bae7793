/* Every operation in each of its forms, with the result of PMPI beside it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS 4096
static int rank, size, faults;
static char mine[8][64 * ELEMENTS], theirs[8][64 * ELEMENTS];

/* Both buffers get the same bytes, small numbers that differ from rank to rank. The gaps of
 * MPI_DOUBLE_INT are 0, since some libraries copy them too. */
static void fill(char *one, char *other, size_t bytes) {
  for (size_t at = 0; at < bytes; at++)
    one[at] = other[at] = (char)(at % 7 == 0 && at % 16 < 12 ? (at + 3 * (size_t)rank) % 5 : 0);
}

/* The kinds of types that operators differ in. Logical operators take no ADDRESS. */
enum class { SIGNED, UNSIGNED, ADDRESS, FLOAT, LOGICAL, BITS };
static const char *allowed[] = {"1111111111", "1111111111", "1111111000", "1111000000", "0000000111", "0000111000"};

/* Returns the next number of a sequence that differs from rank to rank. */
static uint64_t draw(void) {
  static uint64_t state;
  if (state == 0) state = 88172645463325252u + (uint64_t)rank;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

/* Both buffers get the same elements: every fourth integer is 0, and the others are of all sizes and
 * signs. Products and sums of these floating-point numbers are exact, in whatever order.
 *
 * Open MPI 4.1 is left out where it is wrong or MPI says nothing. Its maximum and minimum take
 * unsigned 64-bit numbers as signed, and MPI_Offset as unsigned. Its sums of short integers that
 * overflow stay at the largest number. */
static void fill_values(char *one, char *other, enum class class, int is_sum, int width, int count) {
  for (int at = 0; at < count; at++) {
    uint64_t bits = draw() >> draw() % 64;
    if (is_sum && width <= 2) bits %= 1u << (8 * width - 5);
    if ((class == UNSIGNED && width == 8) || class == ADDRESS) bits >>= 1;
    else if (bits & 1 && !(is_sum && class == UNSIGNED)) bits = -bits;
    if (class == LOGICAL) bits &= 1;
    else if (draw() % 4 == 0) bits = 0;
    if (class == FLOAT) {
      double wide = (draw() & 1 ? -1.0 : 1.0) * (double)(1u << draw() % 6) / 4;
      float narrow = (float)wide;
      bits = 0;
      memcpy(&bits, width == 8 ? (void *)&wide : (void *)&narrow, (size_t)width);
    }
    memcpy(one + at * width, &bits, (size_t)width);
    memcpy(other + at * width, &bits, (size_t)width);
  }
}

static void compare(const char *what, const char *one, const char *other, size_t bytes) {
  if (memcmp(one, other, bytes) == 0) return;
  faults++;
  printf("rank %d: %s differs from MPI's result\n", rank, what);
}

static void *in_place(int is_in_place, void *buffer) { return is_in_place ? MPI_IN_PLACE : buffer; }

static void finish(int form, MPI_Request *request) {
  if (form == 1) MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Form 0 is the blocking one, 1 the non-blocking one. */
#define CALL(form, f, i, ...)                                  \
  do {                                                         \
    if (form == 0) MPI_##f(__VA_ARGS__);                       \
    else MPI_##i(__VA_ARGS__, &request);                       \
    finish(form, &request);                                    \
  } while (0)

static const char *op_names[] = {"sum", "max", "min", "prod", "band", "bor", "bxor", "land", "lor", "lxor"};

/* `number` is that of the operator. */
static void reductions(int form, int place, int count, MPI_Datatype type, enum class class, MPI_Op op, int number, MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "", what[MPI_MAX_OBJECT_NAME + 32];
  MPI_Request request;
  int width, length, me, root = 0, many;
  size_t bytes;
  MPI_Comm_size(comm, &many);
  MPI_Comm_rank(comm, &me);
  MPI_Type_size(type, &width);
  bytes = (size_t)width * (size_t)count;
  root = many - 1;
  fill_values(mine[0], theirs[0], class, number == 0, width, count);
  fill_values(mine[1], theirs[1], class, number == 0, width, count);
  CALL(form, Allreduce, Iallreduce, in_place(place, mine[0]), mine[1], count, type, op, comm);
  PMPI_Allreduce(in_place(place, theirs[0]), theirs[1], count, type, op, comm);
  PMPI_Type_get_name(type, name, &length);
  snprintf(what, sizeof what, "allreduce by %s of %s", op_names[number], name);
  compare(what, mine[1], theirs[1], bytes);
  fill_values(mine[1], theirs[1], class, number == 0, width, count);
  place = place && me == root;
  CALL(form, Reduce, Ireduce, in_place(place, mine[0]), me == root ? mine[1] : NULL, count, type, op, root, comm);
  PMPI_Reduce(in_place(place, theirs[0]), me == root ? theirs[1] : NULL, count, type, op, root, comm);
  compare(what + 3, mine[1], theirs[1], bytes);
}

/* `sent` elements of one type are as long as `got` elements of another, which has an extent. */
static void moves(int form, int place, int sent, MPI_Datatype type, int got, MPI_Datatype other, MPI_Comm comm) {
  MPI_Request request;
  int me, many, at_root;
  MPI_Aint low, extent, other_extent;
  size_t in, out;
  MPI_Comm_size(comm, &many);
  MPI_Comm_rank(comm, &me);
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_get_extent(other, &low, &other_extent);
  in = (size_t)(sent * extent) * (size_t)many, out = (size_t)(got * other_extent) * (size_t)many;
  fill(mine[0], theirs[0], in), fill(mine[1], theirs[1], out);
  CALL(form, Allgather, Iallgather, in_place(place, mine[0]), sent, type, mine[1], got, other, comm);
  /* Intel MPI's blocking form gives a wrong result here if the two types differ. */
  PMPI_Iallgather(in_place(place, theirs[0]), sent, type, theirs[1], got, other, comm, &request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  compare("allgather", mine[1], theirs[1], out);
  fill(mine[1], theirs[1], out);
  CALL(form, Alltoall, Ialltoall, in_place(place, mine[0]), sent, type, mine[1], got, other, comm);
  PMPI_Alltoall(in_place(place, theirs[0]), sent, type, theirs[1], got, other, comm);
  compare("alltoall", mine[1], theirs[1], out);
  fill(mine[1], theirs[1], out);
  at_root = me == 1;
  place = place && at_root;
  CALL(form, Gather, Igather, in_place(place, mine[0]), sent, type, at_root ? mine[1] : NULL, got, other, 1, comm);
  PMPI_Gather(in_place(place, theirs[0]), sent, type, at_root ? theirs[1] : NULL, got, other, 1, comm);
  compare("gather", mine[1], theirs[1], out);
  fill(mine[1], theirs[1], out), fill(mine[0], theirs[0], in);
  /* The root sends one type, and the others receive the other. */
  CALL(form, Bcast, Ibcast, at_root ? mine[0] : mine[1], at_root ? sent : got, at_root ? type : other, 1, comm);
  PMPI_Bcast(at_root ? theirs[0] : theirs[1], at_root ? sent : got, at_root ? type : other, 1, comm);
  compare("bcast", mine[1], theirs[1], out);
}

int main(int argc, char **argv) {
  MPI_Datatype apart, pairs[2] = {MPI_INT, MPI_DOUBLE_INT};
  MPI_Comm comms[3] = {MPI_COMM_WORLD};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Comm_dup(comms[1], &comms[2]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  struct {
    MPI_Datatype mpi;
    enum class class;
  } types[] = {
      {MPI_INT, SIGNED}, {MPI_DOUBLE, FLOAT}, {MPI_FLOAT, FLOAT}, {MPI_LONG, SIGNED}, {MPI_BYTE, BITS},
      {MPI_SIGNED_CHAR, SIGNED}, {MPI_UNSIGNED_CHAR, UNSIGNED}, {MPI_SHORT, SIGNED}, {MPI_UNSIGNED_SHORT, UNSIGNED},
      {MPI_UNSIGNED, UNSIGNED}, {MPI_UNSIGNED_LONG, UNSIGNED}, {MPI_LONG_LONG, SIGNED},
      {MPI_UNSIGNED_LONG_LONG, UNSIGNED}, {MPI_INT8_T, SIGNED}, {MPI_INT16_T, SIGNED}, {MPI_INT32_T, SIGNED},
      {MPI_INT64_T, SIGNED}, {MPI_UINT8_T, UNSIGNED}, {MPI_UINT16_T, UNSIGNED}, {MPI_UINT32_T, UNSIGNED},
      {MPI_UINT64_T, UNSIGNED}, {MPI_AINT, ADDRESS}, {MPI_OFFSET, ADDRESS}, {MPI_COUNT, ADDRESS}, {MPI_C_BOOL, LOGICAL}};
  MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  for (int comm = 0; comm < 3; comm++)
    for (int form = 0; form < 2; form++)
      for (int place = 0; place < 2; place++) {
        MPI_Barrier(comms[comm]);
        for (size_t type = 0; type < sizeof types / sizeof *types; type++)
          for (int op = 0; op < 10; op++) {
            enum class class = types[type].class;
            if (allowed[class][op] == '1') reductions(form, place, op % 2 ? 3 : 1025, types[type].mpi, class, ops[op], op, comms[comm]);
          }
        for (int count = 0; count < 2000; count = count * 7 + 1) {
          moves(form, place, count, MPI_INT, count, MPI_INT, comms[comm]);
          moves(form, place, 4 * count, MPI_BYTE, count, MPI_INT, comms[comm]);
          moves(form, place, 2 * count, MPI_INT, count, apart, comms[comm]);
          moves(form, place, count, apart, 2 * count, MPI_INT, comms[comm]);
          moves(form, place, count, pairs[1], count, pairs[1], comms[comm]);
        }
      }
  MPI_Type_free(&apart);
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
