/* Calls that fail, by the first argument: a message is cut, an argument is wrong, or the error handler leaves
 * the call by longjmp. It also leaves a call of a thread, which goes on or waits, or a receive of a
 * thread. The program goes on. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;
static const char *way;
static pthread_barrier_t both;

static void jump(MPI_Comm *comm, int *code, ...) { longjmp(back, 1); }

/* Leaves the start of a message, or a receive whose message is cut. */
static void *work(void *unused) {
  int out[8] = {0}, in[8];
  MPI_Request request;
  if (setjmp(back) == 0) {
    if (!strcmp(way, "receive")) {
      MPI_Isend(out, 8, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
      MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
      MPI_Isend(out, 1, MPI_INT, 5, 1, MPI_COMM_SELF, &request);
    }
  }
  if (!strcmp(way, "goes on"))
    MPI_Sendrecv(out, 1, MPI_INT, 0, 3, in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  pthread_barrier_wait(&both);
  if (!strcmp(way, "waits")) pthread_barrier_wait(&both);
  return NULL;
}

static void thread(void) {
  pthread_t thread;
  int out[8] = {0}, in[8];
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  pthread_barrier_wait(&both);
  for (int at = 0; at < 3; at++)
    MPI_Sendrecv(out, 1, MPI_INT, 0, 2, in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (!strcmp(way, "waits")) pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  int out[8] = {0}, in[8], level;
  MPI_Errhandler handler;
  MPI_Request request;
  way = argc > 1 ? argv[1] : "";
  if (!strcmp(way, "goes on") || !strcmp(way, "waits") || !strcmp(way, "receive")) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) {
      MPI_Finalize();
      return 77;
    }
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    thread();
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (!strcmp(way, "cut") || !strcmp(way, "wait")) {
    MPI_Isend(out, 8, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    if (!strcmp(way, "cut")) {
      MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
      MPI_Request two[2] = {MPI_REQUEST_NULL};
      MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &two[1]);
      MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (!strcmp(way, "argument")) MPI_Send(out, 1, MPI_INT, 5, 1, MPI_COMM_SELF);
  if (!strcmp(way, "jump")) {
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    if (setjmp(back) == 0) MPI_Send(out, 1, MPI_INT, 5, 1, MPI_COMM_SELF);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Sendrecv(out, 1, MPI_INT, 0, 2, in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Finalize();
  puts("the program has ended");
  return 0;
}
