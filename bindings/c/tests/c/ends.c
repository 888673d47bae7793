// Notices of ends: any, all, functions that are called, and descriptors.
// RUN: build %s
// RUN: ./ends
// RUN: goal-run -n 2 ./ends-cpp
// RUN: goal-run -n 2 --progress thread ./ends
// RUN: memcheck ./ends
#include <dirent.h>
#include <goal.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define US GOAL_USERSPACE

static volatile int called;
static int failed;

static void note(GOAL_Handle handle, void *arg) {
  if (GOAL_Test(handle) != 1) {
    failed++;
  }
  called += *(int *)arg;
}

static void expect(const char *what, int got, int want) {
  if (got != want) {
    printf("%s: %d, not %d: %s\n", what, got, want, GOAL_Last_error());
    failed++;
  }
}

/* Waits until a thread of this process with this name blocks signals. Returns 0; 1 if none does. */
static int takes_signals(const char *name) {
  for (int tries = 0; tries < 5000; tries++) {
    DIR *threads = opendir("/proc/self/task");
    struct dirent *thread;
    int blocks = 0;
    while ((thread = readdir(threads)) != NULL) {
      char path[300], line[200] = "";
      FILE *status;
      snprintf(path, sizeof path, "/proc/self/task/%s/status", thread->d_name);
      status = fopen(path, "r");
      if (status == NULL || fgets(line, sizeof line, status) == NULL ||
          strstr(line, name) == NULL) {
        line[0] = 0;
      }
      while (line[0] != 0 && fgets(line, sizeof line, status) != NULL) {
        unsigned long long blocked;
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1) {
          /* SIGINT and SIGALRM. */
          blocks = (blocked & 0x2002) == 0x2002;
          break;
        }
      }
      if (status != NULL) {
        fclose(status);
      }
    }
    closedir(threads);
    if (blocks) {
      return 0;
    }
    poll(NULL, 0, 1);
  }
  return 1;
}

/* The thread that looks at a run for a descriptor gets none of the program's signals. */
static void descriptors_without_signals(void) {
  int ranks[2] = {0, 1};
  GOAL_Comm pair = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, 2);
  if (GOAL_MyRank() == 0) {
    struct pollfd event = {-1, POLLIN, 0};
    event.fd = GOAL_Eventfd(GOAL_Ibarrier(GOAL_COMM_WORLD));
    expect("signals", takes_signals("goal-events"), 0);
    expect("barrier", GOAL_Barrier(pair), 0);
    expect("poll", poll(&event, 1, -1), 1);
    close(event.fd);
  } else {
    expect("barrier", GOAL_Barrier(pair), 0);
    expect("barrier", GOAL_Barrier(GOAL_COMM_WORLD), 0);
  }
  expect("free", GOAL_Comm_free(pair), 0);
}

int main(void) {
  int in[3], out[3] = {1, 2, 3}, index = 7, hundred = 100;
  GOAL_Handle runs[3], rest[3];
  GOAL_Schedule schedules[3];
  struct pollfd event;
  uint64_t count = 0;
  if (GOAL_Init() != 0) {
    return 1;
  }
  for (int i = 0; i < 3; i++) {
    GOAL_Graph graph = GOAL_CreateGraph();
    int size = GOAL_GroupSize(), rank = GOAL_MyRank();
    GOAL_Send(graph, &out[i], 4, (rank + 1) % size, i, US);
    GOAL_Recv(graph, &in[i], 4, (rank + size - 1) % size, i, US);
    schedules[i] = GOAL_Compile(graph);
    GOAL_FreeGraph(graph);
  }
  for (int i = 0; i < 3; i++) {
    runs[i] = rest[i] = GOAL_Run(schedules[i]);
  }
  /* Each is found once. */
  for (int i = 0, found = 0; i < 3; i++) {
    expect("waitany", GOAL_Waitany(3, rest, &index), 0);
    found |= 1 << index;
    if (rest[index] != GOAL_HANDLE_NULL) {
      failed++;
    }
    if (i == 2) {
      expect("found", found, 7);
    }
  }
  expect("waitany of none", GOAL_Waitany(3, rest, &index), 0);
  expect("index of none", index, GOAL_UNDEFINED);
  expect("testany of none", GOAL_Testany(3, rest, &index), 1);
  expect("index of none", index, GOAL_UNDEFINED);
  expect("waitall", GOAL_Waitall(3, runs), 0);
  expect("testall", GOAL_Testall(3, runs), 1);
  expect("testall of none", GOAL_Testall(0, NULL), 1);
  expect("testany", GOAL_Testany(3, runs, &index), 1);
  expect("sum", in[0] + in[1] + in[2], 6);

  /* Two functions of a run, and one of a run that has ended. */
  runs[0] = GOAL_Run(schedules[0]);
  expect("on_end", GOAL_On_end(runs[0], note, &hundred), 0);
  expect("on_end", GOAL_On_end(runs[0], note, &out[1]), 0);
  expect("wait", GOAL_Wait(runs[0]), 0);
  expect("on_end", GOAL_On_end(runs[0], note, &out[2]), 0);
  while (GOAL_Test(runs[0]) == 1 && called < 105) {
  }
  expect("called", called, 105);

  /* A descriptor, without another call until it is readable. */
  runs[1] = GOAL_Run(schedules[1]);
  event.fd = GOAL_Eventfd(runs[1]);
  event.events = POLLIN;
  expect("poll", poll(&event, 1, -1), 1);
  expect("read", (int)read(event.fd, &count, 8), 8);
  expect("count", (int)count, 1);
  expect("test", GOAL_Test(runs[1]), 1);
  close(event.fd);
  event.fd = GOAL_Eventfd(runs[1]);
  expect("poll of an end", poll(&event, 1, 0), 1);
  close(event.fd);

  if (GOAL_GroupSize() == 2) {
    descriptors_without_signals();
  }

  /* Modes of progress. */
  for (int i = 0; i < 4; i++) {
    GOAL_Progress mode = i % 2 == 0 ? GOAL_PROGRESS_THREAD : GOAL_PROGRESS_CALLER;
    expect("set", GOAL_Set_progress(mode), 0);
    expect("get", GOAL_Get_progress(), (int)mode);
    expect("run", GOAL_Sched_run(schedules[2]), 0);
  }
  for (int i = 0; i < 3; i++) {
    expect("free", GOAL_FreeSchedule(schedules[i]), 0);
  }
  if (failed == 0 && GOAL_MyRank() == 0) {
    puts("as they should be");
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
