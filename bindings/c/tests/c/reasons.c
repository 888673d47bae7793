// Reasons of GOAL_Link name what the program has to change, and errors name their first cause.
// RUN: build %s
// RUN: echo alone; ./reasons
// RUN: for n in 2 17; do echo $n ranks; goal-run -n $n --timeout 60 ./reasons; done
// RUN: echo unlinked; goal-run -n 2 --timeout 60 --no-links ./reasons-cpp
// RUN: goal-run -n 2 --timeout 60 --no-links ./reasons graph 2>&1 | grep -o 'recv number .*'
// RUN: goal-run -n 2 --timeout 60 --no-links ./reasons allreduce 2>&1 | sed 's/.* \(allreduce: recv number 0\).*;/\1 ...;/' | sort -u
#include <goal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define US GOAL_USERSPACE

static int64_t words[1 << 16];
static int rank, size, failures;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      failures++;                                                                            \
      printf("rank %d, line %d: %s; %s\n", rank, __LINE__, #condition, GOAL_Last_error());   \
    }                                                                                        \
  } while (0)

static void told(const char *name, GOAL_Graph graph) {
  GOAL_Schedule schedule = GOAL_Compile(graph);
  CHECK(GOAL_Link(schedule, GOAL_COMM_WORLD) == 0);
  if (rank == 0) printf("%s: %s\n", name, GOAL_Link_reason(schedule));
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(graph) == 0);
}

/* Rank 0 sends bytes to rank 1, which receives others, or none if they are negative. */
static GOAL_Graph message(int sent, int received) {
  GOAL_Graph graph = GOAL_CreateGraph();
  if (rank == 0 && sent >= 0) GOAL_Send(graph, words, sent, 1, 7, US);
  if (rank == 1 && received >= 0) GOAL_Recv(graph, words, received, 0, 7, US);
  return graph;
}

static GOAL_Graph local(GOAL_Op op, GOAL_MemType mem) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_AllocateScratchpad(graph, 8);
  GOAL_LocalOp(graph, words, words + 1, mem == US ? words : GOAL_OFFSET(0), op, GOAL_SINT, 64, 1, US,
               US, mem);
  return graph;
}

/* A schedule that is linked, and one that the engine runs, while they run. */
static void busy(void) {
  GOAL_Graph graph = message(8, 8), scratch = local(GOAL_ADD, GOAL_SCRATCHPAD);
  GOAL_Schedule schedule = GOAL_Compile(graph), local_one = GOAL_Compile(scratch);
  int is = GOAL_Link(schedule, GOAL_COMM_WORLD), is_linked;
  GOAL_Handle run = GOAL_HANDLE_NULL;
  /* A schedule with a scratchpad is linked, too. */
  CHECK(GOAL_Link(local_one, GOAL_COMM_WORLD) == is);
  if (rank == 1) run = GOAL_Run(schedule);
  is_linked = GOAL_Link(schedule, GOAL_COMM_WORLD);
  if (rank == 0) run = GOAL_Run(schedule);
  CHECK(GOAL_Wait(run) == 0);
  if (rank == 0) printf("while it runs: %d, %d\n", is, is_linked);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(graph) == 0);
  CHECK(GOAL_FreeSchedule(local_one) == 0 && GOAL_FreeGraph(scratch) == 0);
}

/* The error of GOAL_Compile is in each text up to that of GOAL_Wait. */
static void first_cause(void) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  GOAL_Handle run;
  char text[512];
  GOAL_Recv(graph, NULL, 8, rank, 0, GOAL_SCRATCHPAD);
  schedule = GOAL_Compile(graph);
  CHECK(GOAL_Link(schedule, GOAL_COMM_WORLD) == GOAL_ERR_HANDLE);
  strncpy(text, GOAL_Last_error(), sizeof text - 1);
  text[sizeof text - 1] = '\0';
  CHECK(GOAL_Link_reason(schedule) == NULL && GOAL_Offload_reason(schedule) == NULL);
  CHECK(strcmp(text, GOAL_Last_error()) == 0 && GOAL_Last_error_code() == GOAL_ERR_HANDLE);
  run = GOAL_Run(schedule);
  CHECK(GOAL_Wait(run) == GOAL_ERR_HANDLE);
  if (rank == 0) printf("%s\n%s\n", text, GOAL_Last_error());
  CHECK(GOAL_FreeGraph(graph) == 0);
}

int main(int argc, char **argv) {
  if (GOAL_Init() != 0) return 1;
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  if (argc > 1 && strcmp(argv[1], "graph") == 0) {
    return GOAL_Wait(GOAL_Run(GOAL_Compile(message(16, 4)))) == 0 && GOAL_Finalize() == 0;
  } else if (argc > 1) {
    int64_t sum[4];
    int code = GOAL_Allreduce(words, sum, rank == 0 ? 4 : 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD);
    return code == 0 && GOAL_Finalize() == 0;
  }
  told("another size", message(16, 4));
  if (size == 2) {
    told("no receive", message(8, -1));
    told("no send", message(-1, 8));
    told("long", message((256 << 10) + 1, (256 << 10) + 1));
    told("division", local(GOAL_DIV, US));
    told("time", local(GOAL_WTIME, US));
    busy();
  }
  first_cause();
  return GOAL_Finalize() != 0 || failures != 0;
}
