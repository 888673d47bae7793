/* Types that the program frees before a call has ended, and buffers that lie apart at one address. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

#define COUNT 512
static int rank, size, faults;

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  faults++;
  printf("rank %d: %s is %d, and not %d\n", rank, what, got, wanted);
}

/* Every `step`th int of a buffer. */
static MPI_Datatype every(int step) {
  MPI_Datatype type;
  MPI_Type_vector(COUNT, 1, step, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void check(const char *what, const int *got, int step, int first) {
  for (int at = 0; at < step * COUNT; at++) expect(what, got[at], at % step ? -1 : first + at / step);
}

static void fill(int *buffer, int step, int first) {
  for (int at = 0; at < step * COUNT; at++) buffer[at] = first < 0 || at % step ? -1 : first + at / step;
}

/* A new type may get the handle of one that was freed. */
static void freed(void) {
  static int buffer[3 * COUNT];
  MPI_Request request;
  MPI_Datatype type = every(3), other;
  fill(buffer, 3, rank == 0 ? 5 : -1);
  MPI_Ibcast(buffer, 1, type, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&type);
  other = every(2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&other);
  check("an element of a type that is freed", buffer, 3, 5);
#ifdef HAS_PERSISTENT
  type = every(3);
  MPI_Bcast_init(buffer, 1, type, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&type);
  other = every(2);
  for (int round = 0; round < 3; round++) {
    fill(buffer, 3, rank == 0 ? round : -1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("an element of a persistent bcast", buffer, 3, round);
  }
  MPI_Request_free(&request);
  MPI_Type_free(&other);
#endif
}

/* Rank 0 names its buffers by absolute addresses, the others as usual. */
static void absolute(void) {
  static int in[COUNT], out[64 * COUNT];
  MPI_Datatype types[2];
  int count = COUNT;
  const int *buffers[2] = {in, out};
  if (size > 64) return;
  for (int side = 0; side < 2; side++) {
    MPI_Aint at;
    MPI_Datatype type = MPI_INT, one;
    MPI_Get_address(buffers[side], &at);
    MPI_Type_create_struct(1, &count, &at, &type, &one);
    MPI_Type_create_resized(one, 0, COUNT * (MPI_Aint)sizeof(int), &types[side]);
    MPI_Type_commit(&types[side]);
    MPI_Type_free(&one);
  }
  for (int form = 0; form < 2; form++) {
    memset(out, -1, sizeof out);
    for (int at = 0; at < COUNT; at++) in[at] = rank * COUNT + at;
    if (rank && form == 0) MPI_Allgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD);
    else if (rank) MPI_Gather(in, COUNT, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    else if (form == 0) MPI_Allgather(MPI_BOTTOM, 1, types[0], MPI_BOTTOM, 1, types[1], MPI_COMM_WORLD);
    else MPI_Gather(MPI_BOTTOM, 1, types[0], MPI_BOTTOM, 1, types[1], 0, MPI_COMM_WORLD);
    for (int at = 0; at < size * COUNT && (form == 0 || rank == 0); at++) expect("a gathered element", out[at], at);
  }
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[1]);
}

/* Rank 0 sends the even ints of a buffer and receives its odd ones. */
static void interleaved(void) {
  static int buffer[2 * 64], sent[64], got[64];
  MPI_Datatype parts[2], one;
  int length = 1, odd = sizeof(int);
  if (size > 64) return;
  for (int part = 0; part < 2; part++) {
    MPI_Type_create_hindexed(1, &length, &(MPI_Aint){part * odd}, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * odd, &parts[part]);
    MPI_Type_commit(&parts[part]);
    MPI_Type_free(&one);
  }
  for (int at = 0; at < size; at++) buffer[2 * at] = sent[at] = 100 * rank + at;
  if (rank == 0) MPI_Alltoall(buffer, 1, parts[0], buffer, 1, parts[1], MPI_COMM_WORLD);
  else MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (int at = 0; at < size; at++)
    expect("an element of an alltoall", rank == 0 ? buffer[2 * at + 1] : got[at], 100 * at + rank);
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  freed();
  absolute();
  interleaved();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
