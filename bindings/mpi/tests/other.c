/* A program that says that it runs with another MPI library. The wrappers must leave all to MPI. */
#include <mpi.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length) {
#ifdef OPEN_MPI
  strcpy(version, "MPICH Version:\t1.2.3\nMPICH Device:\tnone\n");
#else
  strcpy(version, "Open MPI v1.2.3, package: none\n");
#endif
  *length = (int)strlen(version);
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  int one = 1, sum = 0, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != size;
}
