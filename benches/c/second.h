/* A second thread of each rank, which tests now and then for the end of a barrier. group.h comes before. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SECOND_US = 100 };
static pthread_t second;
static atomic_int second_ends;
static group_request second_waits;
static group_comm second_comms[2];

static void *second_thread(void *unused) {
  while (!atomic_load(&second_ends)) {
    group_test(&second_waits);
    usleep(SECOND_US);
  }
  return unused;
}

/* Rank 0 is missing in the first barrier until the end, and the others in the second one. */
static void second_begin(void) {
  group_more(second_comms);
  second_waits = group_ibarrier(second_comms[rank == 0]);
  if (pthread_create(&second, NULL, second_thread, NULL)) group_abort(5);
}

static void second_end(void) {
  atomic_store(&second_ends, 1);
  pthread_join(second, NULL);
  group_request other = group_ibarrier(second_comms[rank != 0]);
  group_wait(&other);
  group_wait(&second_waits);
  group_free(second_comms[0]);
  group_free(second_comms[1]);
}
