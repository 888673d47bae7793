// Programs whose schedules are in the kernel, and what goes wrong there. The arguments are a part
// and a file for it. hosts.rs runs this on several hosts.
// RUN: build %s
// RUN: goal-run -n 2 ./kernel order
#define _XOPEN_SOURCE 700
#include <goal.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static int failed(const char *what) {
  printf("rank %d: %s: %s\n", rank, what, GOAL_Last_error());
  return 1;
}

/* Says how a schedule runs. */
static void tell(GOAL_Schedule schedule) {
  if (rank == 0 || schedule == NULL) {
    printf("%s\n", GOAL_IsOffloaded(schedule) ? "in the kernel" : GOAL_Offload_reason(schedule));
    fflush(stdout);
  }
}

/* Stops this process behind the start of a long schedule. The first look afterwards finds that it
 * has ended. */
static int stop(const char *file) {
  int64_t memory[3] = {0, 0, rank + 1};
  GOAL_Schedule schedule = GOAL_Load(file, GOAL_COMM_WORLD, memory, sizeof memory);
  tell(schedule);
  /* When a run has ended here, all ranks have loaded the file and need no message of a process. */
  if (GOAL_Wait(GOAL_Run(schedule)) != GOAL_SUCCESS) {
    return failed("the first run");
  }
  for (int round = 0; round < 2; round++) {
    memory[0] = 0;
    GOAL_Handle run = GOAL_Run(schedule);
    raise(SIGSTOP);
    if (GOAL_Test(run) != 1) {
      return failed("it has not ended");
    }
    if (memory[2] != rank + 1 || (rank == 0 && memory[0] != 200 * size * (size + 1) / 2)) {
      printf("rank %d: %lld\n", rank, (long long)memory[0]);
      return 1;
    }
  }
  return 0;
}

/* All ranks prepare the same schedules, but not in the same order. */
static int order(void) {
  int numbers[2] = {rank == 0 ? 7 : 0, 1}, sum = 0;
  GOAL_Schedule bcast = NULL, reduce = NULL;
  for (int part = 0; part < 2; part++) {
    if ((rank == 0) == (part == 0)) {
      bcast = GOAL_Bcast_init(&numbers[0], 1, GOAL_INT32, 0, GOAL_COMM_WORLD);
    } else {
      reduce = GOAL_Reduce_init(&numbers[1], &sum, 1, GOAL_INT32, GOAL_ADD, 0, GOAL_COMM_WORLD);
    }
  }
  tell(bcast);
  if (GOAL_Sched_run(bcast) != 0 || GOAL_Sched_run(reduce) != 0) {
    return failed("order");
  }
  return numbers[0] != 7 || (rank == 0 && sum != size);
}

/* Rank 0 starts nothing, and waits for a message that nobody sends. */
static int stuck(void) {
  int in = 1, out = 0;
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  tell(schedule);
  if (rank == 0) {
    GOAL_Graph graph = GOAL_CreateGraph();
    GOAL_Recv(graph, &out, sizeof out, 1, 9, GOAL_USERSPACE);
    schedule = GOAL_Compile(graph);
  }
  return GOAL_Wait(GOAL_Run(schedule)) != GOAL_ERR_STUCK;
}

/* Runs for as long as it may. */
static int forever(void) {
  int in = 1, out = 0;
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  tell(schedule);
  while (GOAL_Wait(GOAL_Run(schedule)) == 0) {
    if (out != size) {
      return failed("the sum");
    }
  }
  return 1;
}

/* Runs long messages until rank 0 has done so for some seconds, if there is no error before. */
static int lasts(int seconds) {
  enum { COUNT = 4096 };
  static int in[COUNT], out[COUNT];
  time_t began = time(NULL);
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(in, out, COUNT, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  tell(schedule);
  for (int round = 0; out[0] == 0; round++) {
    in[0] = rank == 0 && time(NULL) - began >= seconds;
    in[COUNT - 1] = round;
    if (GOAL_Wait(GOAL_Run(schedule)) != GOAL_SUCCESS) {
      return 1;
    }
    if (out[COUNT - 1] != size * round) {
      return failed("the sum");
    }
  }
  return 0;
}

/* An action of a file fails. */
static int fail(const char *file) {
  GOAL_Schedule schedule = GOAL_Load(file, GOAL_COMM_WORLD, NULL, 0);
  tell(schedule);
  return GOAL_Wait(GOAL_Run(schedule)) == 0;
}

/* Rank 0 ends, and the others run a schedule once more. */
static int more(void) {
  int in = 1, out = 0;
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  tell(schedule);
  if (GOAL_Sched_run(schedule) != 0) {
    return failed("the first run");
  }
  return rank > 0 && GOAL_Sched_run(schedule) != GOAL_ERR_STUCK;
}

/* A child of a rank starts and ends nothing. */
static int forked(void) {
  int in = rank + 1, out = 0, status;
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(&in, &out, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  tell(schedule);
  for (int round = 0; round < 20; round++) {
    GOAL_Handle run = GOAL_Run(schedule);
    pid_t child = fork();
    if (child == 0) {
      _exit(GOAL_Run(schedule) != NULL || GOAL_Wait(run) != GOAL_ERR_INIT);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
      return failed("the child");
    }
    if (GOAL_Wait(run) != 0 || out != size * (size + 1) / 2) {
      return failed("the sum");
    }
  }
  return 0;
}

static GOAL_Comm comms[6];

/* Prepares and runs a schedule of a communicator of the thread's own. */
static void *threads_part(void *number) {
  int in[3] = {rank, 1, 2}, out[3];
  GOAL_Schedule schedule =
      GOAL_Allreduce_init(in, out, 3, GOAL_INT32, GOAL_ADD, comms[(intptr_t)number]);
  for (int round = 0; round < 50; round++) {
    if (GOAL_Sched_run(schedule) != 0 || out[1] != size || out[0] != size * (size - 1) / 2) {
      failed("a thread");
      return NULL;
    }
  }
  GOAL_FreeSchedule(schedule);
  return number;
}

static int threads(void) {
  int ranks[64];
  pthread_t all[6];
  void *ended;
  for (int r = 0; r < size; r++) {
    ranks[r] = r;
  }
  for (intptr_t t = 0; t < 6; t++) {
    comms[t] = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, size);
  }
  for (intptr_t t = 0; t < 6; t++) {
    pthread_create(&all[t], NULL, threads_part, (void *)t);
  }
  int wrong = 0;
  for (intptr_t t = 0; t < 6; t++) {
    pthread_join(all[t], &ended);
    wrong += ended != (void *)t;
  }
  return wrong;
}

/* The actions of a file take their time. */
static int slow(const char *file) {
  GOAL_Schedule schedule = GOAL_Load(file, GOAL_COMM_WORLD, NULL, 0);
  tell(schedule);
  return GOAL_Sched_run(schedule) == 0 ? 0 : failed("slow");
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  int wrong = strcmp(part, "stop") == 0      ? stop(file)
              : strcmp(part, "order") == 0   ? order()
              : strcmp(part, "stuck") == 0   ? stuck()
              : strcmp(part, "forever") == 0 ? forever()
              : strcmp(part, "lasts") == 0   ? lasts(atoi(file))
              : strcmp(part, "fail") == 0    ? fail(file)
              : strcmp(part, "slow") == 0    ? slow(file)
              : strcmp(part, "more") == 0    ? more()
              : strcmp(part, "fork") == 0    ? forked()
              : strcmp(part, "threads") == 0 ? threads()
                                             : failed("there is no such part");
  return GOAL_Finalize() != GOAL_SUCCESS || wrong;
}
