/* Threads that send and receive at the same time, if the library lets them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 50

static int rank, ranks;

static void *work(void *argument) {
  int tag = (int)(long)argument, round;
  for (round = 0; round < ROUNDS; round++) {
    int out = round, in = -1;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (in != round) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  int provided, batch;
  long at;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (batch = 0; batch < 2; batch++) {
    if (provided < MPI_THREAD_MULTIPLE) {
      work((void *)0);
      continue;
    }
    for (at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, work, (void *)at);
    for (at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
