// A filter of system calls forbids what has another way. The numbers of calls are those of x86-64.
// RUN: build %s
// RUN: printf 'rank 0 { send 4b to 1 }\nrank 1 { recv 4b from 0 }\n' >pair.goal
// RUN: if [ "$(uname -m)" = x86_64 ]; then waitid=247 clock_nanosleep=230 prlimit64=302; fi
// RUN: for call in ${waitid:-1000} ${clock_nanosleep:-1000} ${prlimit64:-1000}; do
// RUN:   ./denied $call goal-run --timeout 20 pair.goal | sed 's/,.*//'
// RUN:   ./denied $call goal-run --timeout 20 -n 2 ./denied
// RUN:   ./denied $call goal-run --timeout 20 -n 2 ./denied 3 2>/dev/null || echo $?
// RUN: done
#define _DEFAULT_SOURCE
#include <errno.h>
#include <goal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Forbids a call in this process and what it executes. */
static int forbid(unsigned number) {
  struct sock_filter filter[4];
  struct sock_fprog program;
  const struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
  const struct sock_filter is_it = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
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

int main(int argc, char **argv) {
  int rank;
  if (argc > 2) {
    if (forbid((unsigned)atoi(argv[1])) != 0) {
      return 8;
    }
    execvp(argv[2], argv + 2);
    return 9;
  }
  if (GOAL_Init() != 0 || GOAL_Barrier(GOAL_COMM_WORLD) != 0) {
    return 1;
  }
  rank = GOAL_MyRank();
  if (argc > 1 && rank == 1) {
    return atoi(argv[1]);
  }
  return GOAL_Finalize() != 0;
}
