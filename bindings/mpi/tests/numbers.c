/* Communicators that are made of each other. Short blocks on some are left to MPI, and long ones on the
 * others run as schedules. A root that waits for a late rank must not take one for the other. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LONG (1 << 20)
#define MANY 8
static int rank, faults;
static char *buffer;

static void broadcast(MPI_Comm comm, int bytes) {
  buffer[bytes - 1] = rank == 0 ? 7 : 0;
  MPI_Bcast(buffer, bytes, MPI_BYTE, 0, comm);
  if (buffer[bytes - 1] != 7) faults++;
}

/* A rank alone fails to make a communicator. MPICH may be built without a look at arguments. */
static void fail_alone(MPI_Comm comm) {
#ifdef OPEN_MPI
  MPI_Comm none;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == 0 && MPI_Comm_split(comm, -7, 0, &none) == MPI_SUCCESS) faults++;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
#else
  (void)comm;
#endif
}

/* Two copies are made of each first copy. Those with a bit in their place have short blocks. */
static void family(int bit) {
  MPI_Comm made[MANY], parent = MPI_COMM_WORLD;
  for (int at = 0; at < MANY; at++) {
    if (at == 4) fail_alone(parent);
    MPI_Comm_dup(parent, &made[at]);
    if (at % 2 == 1) parent = made[at - 1];
  }
  for (int at = 0; at < MANY; at++)
    if (at & bit) broadcast(made[at], 4);
  for (int at = 0; at < MANY; at++) {
    if (at & bit) continue;
    if (rank == 1) usleep(100000);
    broadcast(made[at], LONG);
  }
  for (int at = 0; at < MANY; at++) MPI_Comm_free(&made[at]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  buffer = calloc(1, LONG);
  for (int bit = 1; bit < MANY; bit *= 2) family(bit);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && faults) printf("faults: %d\n", faults);
  free(buffer);
  MPI_Finalize();
  return faults != 0;
}
