/* The barrier before every timed operation, over a file that all ranks map: as goal_shm::Barrier, and marks behind it,
   which lie beyond the file's end but within its page. */
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
  /* When each rank began and ended. */
  _Alignas(64) struct { double begin, end; } marks[200];
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

/* Returns the time from the first rank's beginning to the last one's end. The ranks must meet before their next call. */
static double meeting_span(meeting *m, uint32_t rank, uint32_t ranks, double begin, double end) {
  m->marks[rank].begin = begin;
  m->marks[rank].end = end;
  meeting_wait(m, ranks, 1);
  for (uint32_t of = 0; of < ranks; ++of) {
    if (m->marks[of].begin < begin) begin = m->marks[of].begin;
    if (m->marks[of].end > end) end = m->marks[of].end;
  }
  return end - begin;
}
