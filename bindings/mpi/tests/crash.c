/* A rank that the environment names crashes, while the others wait for it in a collective. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  if (getenv("CRASH")) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
