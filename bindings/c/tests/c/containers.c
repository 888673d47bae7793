// Ranks exchange large blocks of their own memory, which lies at the same addresses in all of them.
// So a copy from another process than the peer's is not refused. `tests/containers.rs` starts them
// in namespaces of their own.
// RUN: build %s
// RUN: goal-run -n 3 --timeout 60 ./containers
// RUN: goal-run -n 2 --timeout 60 --progress thread ./containers-cpp thread
#define _DEFAULT_SOURCE
#include <goal.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ELEMENTS = 1000000 };

static int *at(uintptr_t address) {
  void *memory = mmap((void *)address, ELEMENTS * sizeof(int), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return memory == MAP_FAILED ? NULL : (int *)memory;
}

/* Processor time, so that the other ranks come to their receives meanwhile. */
static void compute(double seconds) {
  clock_t since = clock();
  while ((double)(clock() - since) < seconds * CLOCKS_PER_SEC) {
  }
}

static GOAL_Comm others;

/* Computes for long before its rank goes on. */
static void *computes(void *unused) {
  int one = 1, sum = 0;
  compute(1.5);
  GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, others);
  return unused;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int *in, *out, me, size, round, i, wrong = 0;
  if (GOAL_Init() != 0) {
    printf("%s\n", GOAL_Last_error());
    return 1;
  }
  me = GOAL_MyRank();
  size = GOAL_GroupSize();
  in = at(0x300000000000);
  out = at(0x310000000000);
  if (!strcmp(how, "stuck")) {
    GOAL_Graph graph = GOAL_CreateGraph();
    GOAL_Recv(graph, in, 4, (me + 1) % size, 0, GOAL_USERSPACE);
    return GOAL_Wait(GOAL_Run(GOAL_Compile(graph))) != 0;
  }
  for (round = 0; round < 2; round++) {
    GOAL_Handle run;
    for (i = 0; i < ELEMENTS; i++) {
      in[i] = me == 0 ? 7 * round + i : -1;
    }
    run = GOAL_Ibcast(in, ELEMENTS, GOAL_INT32, 0, GOAL_COMM_WORLD);
    if (me == 0) {
      compute(0.1);
    }
    wrong += GOAL_Wait(run) != 0;
    for (i = 0; i < ELEMENTS; i++) {
      wrong += in[i] != 7 * round + i;
      in[i] = me + i;
      out[i] = 0;
    }
    run = GOAL_Iallreduce(in, out, ELEMENTS, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
    if (me == size - 1) {
      compute(0.1);
    }
    wrong += GOAL_Wait(run) != 0;
    for (i = 0; i < ELEMENTS; i++) {
      wrong += out[i] != size * i + size * (size - 1) / 2;
    }
  }
  if (!strcmp(how, "thread")) {
    int all[64], sum = 0, one = 1;
    pthread_t thread;
    for (i = 0; i < size; i++) {
      all[i] = i;
    }
    others = GOAL_Comm_create(GOAL_COMM_WORLD, all, size);
    if (me == 0) {
      pthread_create(&thread, NULL, computes, NULL);
    } else {
      GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, others);
    }
    wrong += GOAL_Barrier(GOAL_COMM_WORLD) != 0;
    if (me == 0) {
      pthread_join(thread, NULL);
    }
  }
  if (!strcmp(how, "long")) {
    sleep(4);
  }
  printf("%d wrong\n", wrong);
  return GOAL_Finalize() != 0 || wrong != 0;
}
