/* Arrays of requests of schedules and of MPI, orders that differ between communicators, and
 * persistent collectives where the MPI library has them. */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

static int rank, size, faults;

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  faults++;
  printf("rank %d: %s is %d, and not %d\n", rank, what, got, wanted);
}

/* Three requests of a ring and a sum, completed in one of several ways. */
static void mixed(int way, MPI_Comm comm) {
  int one = 1, sum = 0, got = -1, left = (rank + size - 1) % size, right = (rank + 1) % size;
  int index, flag = 0, done, indices[4], rest = 3;
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[4];
  MPI_Irecv(&got, 1, MPI_INT, left, 5, comm, &requests[0]);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
  MPI_Isend(&rank, 1, MPI_INT, right, 5, comm, &requests[3]);
  switch (way) {
    case 0: MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); break;
    case 1: while (!flag) MPI_Testall(4, requests, &flag, statuses); break;
    case 2: for (; rest; rest--) MPI_Waitany(4, requests, &index, &status); break;
    case 3: while (rest) MPI_Testany(4, requests, &index, &flag, &status), rest -= flag; break;
    case 4: for (; rest > 0; rest -= done) MPI_Waitsome(4, requests, &done, indices, statuses); break;
    case 5: for (; rest > 0; rest -= done) MPI_Testsome(4, requests, &done, indices, statuses); break;
    case 6: for (int at = 3; at >= 0; at--) MPI_Wait(&requests[at], &status); break;
    case 7:
      for (int at = 0; at < 4; at++)
        for (flag = 0; !flag;) MPI_Test(&requests[at], &flag, MPI_STATUS_IGNORE);
      break;
    case 8:
      while (!flag) MPI_Request_get_status(requests[2], &flag, &status);
      MPI_Waitall(4, requests, statuses);
      break;
  }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (way == 9) {
    while (!flag) MPI_Request_get_status_all(4, requests, &flag, statuses);
    MPI_Waitall(4, requests, statuses);
  }
  if (way == 10) {
    while (!flag) MPI_Request_get_status_any(1, &requests[2], &index, &flag, &status);
    MPI_Waitall(4, requests, statuses);
  }
  if (way == 11) {
    for (done = 0; done <= 0;) MPI_Request_get_status_some(1, &requests[2], &done, indices, statuses);
    MPI_Waitall(4, requests, statuses);
  }
#else
  if (way > 8) MPI_Waitall(4, requests, statuses);
#endif
  for (int at = 0; at < 4; at++) expect("a request that has ended", requests[at] == MPI_REQUEST_NULL, 1);
  expect("the sum", sum, size);
  expect("the message", got, left);
}

/* Ranks may start collectives on two communicators in different orders. */
static void orders(void) {
  MPI_Comm comms[2];
  MPI_Request requests[2];
  int values[2] = {0, 0}, first = rank % 2;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  if (rank == 0) values[0] = 10, values[1] = 11;
  for (int at = 0; at < 2; at++) {
    int which = at ? 1 - first : first;
    MPI_Ibcast(&values[which], 1, MPI_INT, 0, comms[which], &requests[which]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect("the value of the first communicator", values[0], 10);
  expect("the value of the second communicator", values[1], 11);
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
}

/* Many collectives at once. */
static void many(void) {
  enum { COUNT = 100 };
  static int one[COUNT], sum[COUNT];
  MPI_Request requests[COUNT];
  for (int at = 0; at < COUNT; at++) {
    one[at] = at;
    MPI_Iallreduce(&one[at], &sum[at], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[at]);
  }
  MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
  for (int at = 0; at < COUNT; at++) expect("a sum of many", sum[at], at * size);
}

static void persistent(void) {
#ifdef HAS_PERSISTENT
  int one = rank, sum = 0, word = 0;
  MPI_Request requests[3];
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  for (int round = 0; round < 10; round++) {
    one = rank + round, sum = -1, word = rank == 0 ? round : -1;
    MPI_Startall(2, requests);
    MPI_Start(&requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect("the sum of a persistent allreduce", sum, size * (size - 1) / 2 + size * round);
    expect("the value of a persistent bcast", word, round);
  }
  for (int at = 0; at < 3; at++) MPI_Request_free(&requests[at]);
  /* The order of preparation counts, and not that of starts. */
  word = rank == 0 ? 7 : -1;
  MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Start(&requests[rank % 2]);
  MPI_Start(&requests[1 - rank % 2]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect("the value of a bcast that starts in another order", word, 7);
  for (int at = 0; at < 2; at++) MPI_Request_free(&requests[at]);
#endif
}

/* Errors of arguments are MPI's own. MPICH may be built without a check of arguments. */
static void errors(void) {
#ifdef OMPI_MAJOR_VERSION
  int value = 0, class = 0, rc;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  rc = MPI_Bcast(&value, 1, MPI_INT, size, comm);
  MPI_Error_class(rc, &class);
  expect("the class of a wrong root", class, MPI_ERR_ROOT);
  rc = MPI_Allreduce(MPI_IN_PLACE, &value, -1, MPI_INT, MPI_SUM, comm);
  MPI_Error_class(rc, &class);
  expect("the class of a wrong count", class, MPI_ERR_COUNT);
  MPI_Comm_free(&comm);
#endif
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int way = 0; way < 12; way++) mixed(way, MPI_COMM_WORLD);
  orders();
  many();
  persistent();
  errors();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
