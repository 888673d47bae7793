/* A program that runs with an MPI library of another name: the function of the library is replaced. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length) {
  strcpy(version, "Other MPI is no name\n");
#ifdef OPEN_MPI
  strcpy(version, "MPICH Version:      9.8.7\nMPICH Release date: never\n");
#else
  strcpy(version, "Open MPI v9.8.7, package: none, ident: 9.8.7");
#endif
  *length = (int)strlen(version);
  return MPI_SUCCESS;
}

static int (*const by_address)(MPI_Comm) = MPI_Barrier;

int main(int argc, char **argv) {
  int sum = 1, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  by_address(MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == ranks ? 0 : 3;
}
