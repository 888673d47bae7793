// Threads of a rank exclude each other, also if a filter of system calls forbids membarrier: before
// the rank joins the group, or afterwards.
// RUN: build %s
// RUN: for when in never before after; do
// RUN:   ./forbidden $when
// RUN:   goal-run -n 2 --timeout 60 ./forbidden $when
// RUN:   goal-run -n 2 --timeout 60 --progress thread ./forbidden-cpp $when
// RUN: done
#include <errno.h>
#include <goal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { THREADS = 2, TIMES = 200 };

static int forbid(void) {
  struct sock_filter filter[4];
  struct sock_fprog program;
  const struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  const struct sock_filter is_it = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1);
  const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[0] = load;
  filter[1] = is_it;
  filter[2] = refuse;
  filter[3] = allow;
  program.len = 4;
  program.filter = filter;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int failed[THREADS], numbers[THREADS];
static GOAL_Comm comms[THREADS];

static void *work(void *arg) {
  int number = *(int *)arg, time;
  for (time = 0; time < TIMES; time++) {
    int sum = time;
    failed[number] += GOAL_Allreduce(GOAL_IN_PLACE, &sum, 1, GOAL_INT32, GOAL_ADD, comms[number]) != 0;
    failed[number] += sum != time * GOAL_Comm_size(comms[number]);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  int ranks[] = {0, 1}, i;
  const char *when = argc > 1 ? argv[1] : "never";
  if (strcmp(when, "before") == 0 && forbid() != 0) {
    return 8;
  }
  if (GOAL_Init() != 0) {
    return 1;
  }
  if (strcmp(when, "after") == 0 && forbid() != 0) {
    return 8;
  }
  for (i = 0; i < THREADS; i++) {
    comms[i] = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, GOAL_GroupSize());
    numbers[i] = i;
  }
  pthread_create(&thread, NULL, work, &numbers[1]);
  work(&numbers[0]);
  pthread_join(thread, NULL);
  if (GOAL_MyRank() == 0) {
    printf("%s: %d failures\n", when, failed[0] + failed[1]);
  }
  return GOAL_Finalize() != 0 || failed[0] + failed[1] != 0;
}
