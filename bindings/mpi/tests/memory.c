/* Rank 1, the root, has no memory for a copy of its elements. The others wait for it, so the error handlers
 * of all ranks must be told. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define COUNT (4 << 20)
static int rank, told;

static void tell(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  told++;
}

/* Lets the process have no more than a little memory, and returns the limit before. */
static rlim_t limit_memory(void) {
  struct rlimit limit;
  rlim_t before;
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) exit(2);
  fclose(file);
  getrlimit(RLIMIT_AS, &limit);
  before = limit.rlim_cur;
  limit.rlim_cur = (rlim_t)pages * 4096 + (1 << 20);
  setrlimit(RLIMIT_AS, &limit);
  return before;
}

int main(int argc, char **argv) {
  struct rlimit limit;
  int all = 0, *buffer = calloc(2 * COUNT, sizeof *buffer);
  MPI_Errhandler handler;
  MPI_Datatype every_other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(tell, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  getrlimit(RLIMIT_AS, &limit);
  if (rank == 1) {
    limit.rlim_cur = limit_memory();
    MPI_Bcast(buffer, 1, every_other, 1, MPI_COMM_WORLD);
    setrlimit(RLIMIT_AS, &limit);
  } else {
    MPI_Bcast(buffer, COUNT, MPI_INT, 1, MPI_COMM_WORLD);
  }
  /* MPI itself goes on. The group of libgoal has failed, and does not let the job end well. */
  PMPI_Allreduce(&told, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, all > 0 ? 7 : 8);
}
