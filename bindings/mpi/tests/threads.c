/* Threads that call collectives at once, each on communicators of its own, which they also make at
 * once, and prepare persistent ones. Ends with status 77 if the MPI library has no MPI_THREAD_MULTIPLE. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 40
static int rank, size, faults;
static MPI_Comm comms[THREADS];

static void expect(const char *what, int got, int wanted) {
  if (got == wanted) return;
  __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
  printf("rank %d: %s is %d, and not %d\n", rank, what, got, wanted);
}

static void *work(void *argument) {
  int own = *(int *)argument, in[100], out[100], word;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Comm made;
    MPI_Request requests[2];
    MPI_Comm_dup(comms[own], &made);
    for (int at = 0; at < 100; at++) in[at] = 1000 * own + round + at;
    MPI_Allreduce(in, out, 100, MPI_INT, MPI_SUM, made);
    expect("a sum", out[99], size * in[99]);
    word = rank == 0 ? in[0] : -1;
    MPI_Ibcast(&word, 1, MPI_INT, 0, made, &requests[0]);
    MPI_Iallreduce(in, out, 100, MPI_INT, MPI_MAX, comms[own], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect("a maximum", out[99], in[99]);
    expect("a word", word, in[0]);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
  }
  return NULL;
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static int words[2], sums[2];
static MPI_Request prepared[2];

static void *prepare(void *argument) {
  int own = *(int *)argument;
  /* The first one is surely the earlier one at rank 0. */
  if (rank == 0 && own == 1) usleep(200000);
  words[own] = 10 * own + 1;
  MPI_Allreduce_init(&words[own], &sums[own], 1, MPI_INT, MPI_SUM, comms[own], MPI_INFO_NULL, &prepared[own]);
  return NULL;
}

/* Rank 0 prepares both at once, and the others the second one before the first one. */
static void persistent(void) {
  int numbers[2] = {0, 1};
  pthread_t threads[2];
  if (rank == 0) {
    for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, prepare, &numbers[at]);
    for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);
  } else {
    for (int at = 1; at >= 0; at--) prepare(&numbers[at]);
  }
  MPI_Startall(2, prepared);
  MPI_Waitall(2, prepared, MPI_STATUSES_IGNORE);
  for (int at = 0; at < 2; at++) {
    expect("a sum of a persistent collective", sums[at], size * (10 * at + 1));
    MPI_Request_free(&prepared[at]);
  }
}
#else
static void persistent(void) {
  if (rank == 0) puts("skipped: this library has no persistent collectives");
}
#endif

int main(int argc, char **argv) {
  int level, numbers[THREADS];
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < THREADS; at++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
  for (int at = 0; at < THREADS; at++) {
    /* Ranks start them in different orders. */
    numbers[at] = (at + rank) % THREADS;
    pthread_create(&threads[at], NULL, work, &numbers[at]);
  }
  for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
  persistent();
  for (int at = 0; at < THREADS; at++) MPI_Comm_free(&comms[at]);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
