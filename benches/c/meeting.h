/* The barrier before every timed operation, over a file that all ranks map: as goal_shm::Barrier. */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  _Alignas(64) _Atomic uint32_t arrived;
  _Alignas(64) _Atomic uint32_t round;
} meeting;
_Static_assert(sizeof(meeting) <= 4096, "one page");

static meeting *meeting_open(const char *path) {
  int fd = open(path, O_RDWR);
  void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || at == MAP_FAILED) {
    perror(path);
    exit(1);
  }
  return at;
}

static void meeting_wait(meeting *m, uint32_t ranks, int crowded) {
  uint32_t round = atomic_load(&m->round);
  if (atomic_fetch_add(&m->arrived, 1) + 1 == ranks) {
    atomic_store(&m->arrived, 0);
    atomic_store(&m->round, round + 1);
    return;
  }
  while (atomic_load(&m->round) == round)
    if (crowded) sched_yield();
}
