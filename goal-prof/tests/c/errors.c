/* Calls that fail, by the first argument: a message is cut, an argument is wrong, or the error handler leaves
 * the call by longjmp. The program goes on. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...) { longjmp(back, 1); }

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  int out[8] = {0}, in[8];
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Init(&argc, &argv);
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
