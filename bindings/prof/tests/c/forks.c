/* A rank forks while another thread calls MPI. The child calls MPI as well, which is an error, and ends in
 * the ways of the first argument. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stops;

static void *calls(void *argument) {
  int out = 0, in;
  while (!stops)
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  int provided, at, status, failed = 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) pthread_create(&thread, NULL, calls, NULL);
  for (at = 0; at < 40; at++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20); /* One that hangs ends by a signal. */
      if (!strcmp(way, "call")) {
        MPI_Request request = MPI_REQUEST_NULL;
        for (at = 0; at < 20000; at++) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Pcontrol(2);
      }
      if (!strcmp(way, "_exit")) _exit(0);
      if (!strcmp(way, "quick")) quick_exit(0);
      exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) failed++;
  }
  stops = 1;
  if (provided == MPI_THREAD_MULTIPLE) pthread_join(thread, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (failed) fprintf(stderr, "%d children failed\n", failed);
  return failed ? 3 : 0;
}
