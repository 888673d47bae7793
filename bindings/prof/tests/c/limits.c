/* A program goes on at a limit of the system, by the first argument: the size of files, memory, or its own
 * use of descriptors. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void ring(int rounds) {
  int rank, ranks, in, at;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (at = 0; at < rounds; at++)
    MPI_Sendrecv(&at, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Takes all memory but a few pages, and gives it back. */
static void without_memory(void (*call)(void)) {
  static void *taken[100000];
  struct rlimit before, limit;
  FILE *file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  int count = 0;
  size_t size;
  if (!file || fscanf(file, "%lu", &pages) != 1) exit(4);
  fclose(file);
  getrlimit(RLIMIT_AS, &before);
  limit = before;
  limit.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (20 << 20);
  setrlimit(RLIMIT_AS, &limit);
  for (size = 8 << 20; size >= 64; size /= 2)
    while (count < 100000 && (taken[count] = malloc(size))) count++;
  call();
  setrlimit(RLIMIT_AS, &before);
  while (count) free(taken[--count]);
}

#define MANY 300000
static MPI_Request requests[MANY];

/* Receives from nobody: MPI needs no memory for them, but whoever records them does. */
static void many(void) {
  int at;
  for (at = 0; at < MANY; at++)
    MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[at]);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  struct sigaction action;
  MPI_Init(&argc, &argv);
  ring(10);
  if (!strcmp(way, "files")) {
    struct rlimit limit = {100000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!strcmp(way, "none")) {
    struct rlimit limit = {0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!strcmp(way, "memory")) {
    without_memory(many);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
  }
  if (!strcmp(way, "close")) {
    /* Descriptors of MPI stay open. */
    char path[64], name[4096];
    int number;
    for (number = 3; number < 200; number++) {
      ssize_t length;
      snprintf(path, sizeof path, "/proc/self/fd/%d", number);
      length = readlink(path, name, sizeof name - 1);
      if (length < 6) continue;
      name[length] = 0;
      if (!strcmp(name + length - 5, ".goal")) close(number);
    }
  }
  ring(20000);
  sigaction(SIGXFSZ, NULL, &action);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (action.sa_handler != SIG_DFL) return 3;
  puts("the program has ended");
  return 0;
}
