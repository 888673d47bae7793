/* Programs with sessions: only those, one after the other, and together with MPI_Init, by the first argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void ring(MPI_Comm comm) {
  int rank, ranks, in = -1, sum = 1;
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, comm, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (in != (rank + ranks - 1) % ranks || sum != ranks) abort();
}

static void session(void (*within)(void)) {
  MPI_Session session;
  MPI_Group group, part;
  MPI_Comm comm, copy, half;
  int rank, range[1][3] = {{0, 0, 1}};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  ring(comm);
  MPI_Comm_dup(comm, &copy);
  ring(copy);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(copy, rank % 2, -rank, &half);
  ring(half);
  MPI_Group_range_incl(group, 1, range, &part);
  if (rank == 0) {
    MPI_Comm alone;
    MPI_Comm_create_from_group(part, "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &alone);
    ring(alone);
    MPI_Comm_free(&alone);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&group);
  if (within) within();
  ring(comm);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void finish(void) { MPI_Finalize(); }
static void use_world(void) {
  MPI_Init(NULL, NULL);
  ring(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  if (!strcmp(way, "world")) {
    MPI_Init(&argc, &argv);
    ring(MPI_COMM_WORLD);
    session(NULL);
    ring(MPI_COMM_WORLD);
    MPI_Finalize();
  } else if (!strcmp(way, "before")) {
    MPI_Init(&argc, &argv);
    ring(MPI_COMM_WORLD);
    session(finish);
  } else if (!strcmp(way, "behind")) {
    session(use_world);
    ring(MPI_COMM_WORLD);
    MPI_Finalize();
  } else {
    session(NULL);
    if (!strcmp(way, "twice")) session(NULL);
  }
  puts("the program has ended");
  return 0;
}
#else
int main(void) { return 77; }
#endif
