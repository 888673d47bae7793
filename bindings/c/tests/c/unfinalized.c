// A program that leaves without GOAL_Finalize has not come to its end. That is so even if all ranks
// leave at once. goal-run ends with 4, or with the status or signal that ended the program.
// RUN: build %s
// RUN: run() { status=0; goal-run --timeout 60 -n $2 ./unfinalized $1 2> said || status=$?; echo "$1: $status"; grep -q "rank [0-9]* (./unfinalized) [ew]" said || cat said; }
// RUN: for n in 1 2 3 8; do for way in exit return _exit exec thread; do run $way $n; done; done
// RUN: for turn in 1 2 3 4 5 6 7 8 9 10 11 12; do run return 2; done | sort | uniq
// RUN: run status 2
// RUN: run abort 3
#define _DEFAULT_SOURCE
#include <goal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *sleep_a_moment(void *arg) {
  usleep(1000);
  return arg;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "return";
  if (GOAL_Init() != 0) {
    return 1;
  }
  if (strcmp(way, "exit") == 0) {
    exit(0);
  } else if (strcmp(way, "_exit") == 0) {
    _exit(0);
  } else if (strcmp(way, "exec") == 0) {
    execl("/bin/true", "true", (char *)NULL);
  } else if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_a_moment, NULL);
    pthread_exit(NULL);
  } else if (strcmp(way, "status") == 0) {
    return 3;
  } else if (strcmp(way, "abort") == 0) {
    abort();
  }
  return 0;
}
