/* Threads whose messages have one tag and different sizes. The program orders them by a lock, which the
 * profiler does not see. One rank has one thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 3
#define ROUNDS 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rank, sent, received;
static char buffer[THREADS][ROUNDS * THREADS + 1];

static void *receive(void *argument) {
  int round, at = (int)(long)argument;
  for (round = 0; round < ROUNDS; round++) {
    MPI_Request request;
    MPI_Status status;
    int size, got;
    pthread_mutex_lock(&lock);
    size = received++;
    if (round % 3 == 0) {
      MPI_Recv(buffer[at], size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status);
      pthread_mutex_unlock(&lock);
    } else {
      MPI_Irecv(buffer[at], size, MPI_CHAR, round % 2 ? 0 : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
      pthread_mutex_unlock(&lock);
      MPI_Wait(&request, &status);
    }
    MPI_Get_count(&status, MPI_CHAR, &got);
    if (got != size) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Send(buffer[at], at, MPI_CHAR, 0, 10 + at, MPI_COMM_WORLD);
  }
  return NULL;
}

static void *send(void *argument) {
  int round, at = (int)(long)argument;
  for (round = 0; round < ROUNDS; round++) {
    MPI_Request request;
    pthread_mutex_lock(&lock);
    MPI_Isend(buffer[at], sent++, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&lock);
    MPI_Recv(buffer[at], THREADS, MPI_CHAR, 1, 10 + at, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  int provided;
  long at;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2)
    for (at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, rank ? receive : send, (void *)at);
  if (rank < 2)
    for (at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
