// A thread that calls the library alone makes no other thread pass a fence, in each mode of
// progress. The first call of another thread makes all threads do so, once. The program counts
// these calls of membarrier by a filter of system calls.
// RUN: build %s
// RUN: goal-run -n 2 --timeout 60 ./alone
// RUN: goal-run -n 2 --timeout 60 --progress thread ./alone
// RUN: goal-run -n 2 --timeout 60 --progress node ./alone-cpp
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <goal.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { TIMES = 200 };

static volatile sig_atomic_t fences;

/* Counts the call, and lets it return an error. */
static void count(int signal, siginfo_t *info, void *context) {
  ucontext_t *at = (ucontext_t *)context;
  (void)signal, (void)info, (void)at;
  fences++;
#if defined(__x86_64__)
  at->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
  at->uc_mcontext.regs[0] = (unsigned long)-EPERM;
#endif
}

/* Lets the fences of all threads of this process be counted. */
static int watch(void) {
  struct sock_filter filter[6];
  struct sock_fprog program;
  const struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  const struct sock_filter is_it = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 3);
  const struct sock_filter command = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
  const struct sock_filter is_fence = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 1);
  const struct sock_filter trap = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = count;
  action.sa_flags = SA_SIGINFO;
  filter[0] = load;
  filter[1] = is_it;
  filter[2] = command;
  filter[3] = is_fence;
  filter[4] = trap;
  filter[5] = allow;
  program.len = 6;
  program.filter = filter;
  return sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* True if the library can use such fences here. */
static int has_fences(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
#else
  return 0;
#endif
}

static void *work(void *failed) {
  int time, sum;
  GOAL_Schedule barrier = GOAL_Barrier_init(GOAL_COMM_WORLD);
  for (time = 0; time < TIMES; time++) {
    sum = time;
    *(int *)failed += GOAL_Wait(GOAL_Run(barrier)) != 0;
    *(int *)failed += GOAL_Allreduce(GOAL_IN_PLACE, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) != 0;
    *(int *)failed += sum != time * GOAL_GroupSize();
  }
  *(int *)failed += GOAL_FreeSchedule(barrier) != 0;
  return NULL;
}

int main(void) {
  pthread_t thread;
  int failed = 0;
  if (GOAL_Init() != 0 || watch() != 0) {
    return 1;
  }
  work(&failed);
  failed += fences != 0;
  pthread_create(&thread, NULL, work, &failed);
  pthread_join(thread, NULL);
  work(&failed);
  failed += fences != has_fences();
  if (GOAL_MyRank() == 0) {
    printf("%d failures\n", failed);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
