// A rank with a thread that is in no call of the library is not stuck: it may act. The launcher says
// who waits for what if nothing moves, and ends the job only if it is asked to.
// RUN: build %s
// RUN: told() { sed 's/number [0-9]*/number N/; s/tag [0-9]*/tag N/' err; rm err; }
// RUN: after_report() {
// RUN:   : >err
// RUN:   goal-run --timeout 60 --stuck tell,0.2 "$@" 2>err & job=$!
// RUN:   while kill -0 $job 2>/dev/null && ! grep -q 'nothing moves' err; do sleep 0.02; done
// RUN:   touch go; wait $job; rm go; told
// RUN: }
// RUN: goal-run -n 2 --timeout 60 ./others sleeps
// RUN: goal-run -n 2 --timeout 60 --progress thread ./others sleeps
// RUN: goal-run -n 2 --timeout 60 --wait spin ./others sleeps
// RUN: after_report -n 2 ./others awaits
// RUN: after_report -n 2 --progress thread ./others awaits
// RUN: after_report -n 2 ./others tests
// RUN: goal-run -n 2 --timeout 60 --stuck end,0.2 ./others joins 2>err || echo $?; told
// RUN: goal-run -n 2 --timeout 60 --stuck end,0.2 ./others tests 2>err || echo $?; told
// RUN: goal-run -n 2 --timeout 60 ./others ended 2>err || echo $?; told
// RUN: ./others self 2>err || echo $?; told
// RUN: if unshare -rpf --mount-proc true 2>/dev/null; then ns="unshare -rpf --mount-proc"; fi
// RUN: after_report -n 2 $ns ./others awaits >/dev/null
// RUN: goal-run -n 2 --timeout 60 $ns ./others sleeps
// RUN: goal-run -n 2 --timeout 60 $ns ./others ended 2>err || echo $?; told
// RUN: goal-run -n 2 --timeout 60 setsid --wait ./others left 2>/dev/null || echo $?
// RUN: for i in $(seq 200); do
// RUN:   case $(ps -o stat= -p $(cat left)) in ''|Z*) echo gone; break ;; esac; sleep 0.02
// RUN: done
#define _DEFAULT_SOURCE
#include <goal.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static GOAL_Comm first, second;

static void barrier(GOAL_Comm comm) {
  int code = GOAL_Barrier(comm);
  if (code != 0 && code != GOAL_ERR_STUCK) {
    fprintf(stderr, "GOAL_Barrier: %s\n", GOAL_Last_error());
  }
}

/* Takes part in a barrier late. It has never called the library before. */
static void *late(void *arg) {
  usleep(700000);
  barrier(first);
  return arg;
}

static void *now(void *arg) {
  barrier(*(GOAL_Comm *)arg);
  return NULL;
}

static void *nothing(void *arg) {
  return arg;
}

static void until_told(void) {
  while (access("go", F_OK) != 0) {
    usleep(1000);
  }
}

/* Starts a receive that the other rank never sends. */
static GOAL_Handle never(void) {
  static int number;
  GOAL_Graph graph = GOAL_CreateGraph();
  int size = GOAL_GroupSize();
  GOAL_Recv(graph, &number, sizeof number, (GOAL_MyRank() + 1) % size, 3, GOAL_USERSPACE);
  return GOAL_Run(GOAL_Compile(graph));
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "";
  int both[2] = {0, 1}, me, code;
  pthread_t thread;
  if (GOAL_Init() != 0) {
    return 9;
  }
  me = GOAL_MyRank();
  if (strcmp(part, "self") == 0) {
    return GOAL_Wait(never()) == GOAL_ERR_STUCK ? 3 : 1;
  }
  first = GOAL_Comm_create(GOAL_COMM_WORLD, both, 2);
  second = GOAL_Comm_create(GOAL_COMM_WORLD, both, 2);
  if (strcmp(part, "sleeps") == 0) {
    if (me == 1) {
      pthread_create(&thread, NULL, late, NULL);
      barrier(GOAL_COMM_WORLD);
      pthread_join(thread, NULL);
    } else {
      barrier(first);
      barrier(GOAL_COMM_WORLD);
    }
  } else if (strcmp(part, "awaits") == 0) {
    /* A thread of each rank waits for what the first thread of the other one does when it is told. */
    pthread_create(&thread, NULL, now, me == 0 ? &first : &second);
    until_told();
    barrier(me == 0 ? second : first);
    pthread_join(thread, NULL);
  } else if (strcmp(part, "joins") == 0) {
    if (me == 0) {
      pthread_create(&thread, NULL, now, &first);
      pthread_join(thread, NULL);
    }
  } else if (strcmp(part, "tests") == 0) {
    /* Rank 0 tests in vain until rank 1 is told. */
    if (me == 0) {
      GOAL_Handle run = GOAL_Run(GOAL_Barrier_init(first));
      while ((code = GOAL_Test(run)) == 0) {
        usleep(1000);
      }
      if (code != 1) {
        return code == GOAL_ERR_STUCK ? 0 : 1;
      }
      barrier(second);
    } else {
      pthread_create(&thread, NULL, now, &second);
      until_told();
      barrier(first);
      pthread_join(thread, NULL);
    }
  } else if (strcmp(part, "left") == 0) {
    /* A rank that has left its process group ends with the job. */
    if (me == 0) {
      FILE *file = fopen("left", "w");
      fprintf(file, "%d", (int)getpid());
      fclose(file);
    }
    barrier(first);
    if (me == 1) {
      _exit(3);
    }
    GOAL_Wait(never());
    for (;;) {
      pause();
    }
  } else {
    /* A thread that has ended does not act. */
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    code = GOAL_Wait(never());
    return code == GOAL_ERR_STUCK ? 0 : 1;
  }
  return GOAL_Finalize() != 0;
}
