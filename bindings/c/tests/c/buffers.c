// Declared buffers that a run replaces, memory that ranks share, wildcards and start dependencies.
// RUN: build %s
// RUN: ./buffers
// RUN: goal-run -n 4 ./buffers
// RUN: goal-run -n 2 ./buffers-cpp
// RUN: memcheck ./buffers
#include <goal.h>
#include <stdio.h>
#include <string.h>

#define US GOAL_USERSPACE
enum { BYTES = 100000 };

int main(void) {
  int rank, size, failed = 0, extensions = 0;
  char *out, *in, *other;
  void *buffers[2];
  GOAL_Graph graph;
  GOAL_Vertex send, recv;
  GOAL_Schedule schedule;
  if (GOAL_Init() != 0) {
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  out = (char *)GOAL_Alloc(BYTES);
  in = (char *)GOAL_Alloc(BYTES);
  other = (char *)GOAL_Alloc(BYTES);
  if (out == NULL || in == NULL || other == NULL || ((uintptr_t)in & 63) != 0) {
    puts(GOAL_Last_error());
    return 1;
  }
  graph = GOAL_CreateGraph();
  failed += GOAL_Declare(graph, out, BYTES) != 0;
  failed += GOAL_Declare(graph, in, BYTES) != 1;
  send = GOAL_Send(graph, out, BYTES, (rank + 1) % size, 5, US);
  recv = GOAL_Recv(graph, in, BYTES, GOAL_ANY_SOURCE, GOAL_ANY_TAG, US);
  failed += GOAL_IRequires(graph, recv, send) != 0;
  schedule = GOAL_Compile(graph);
  for (int i = 0; i < 3; i++) {
    memset(out, 'a' + i, BYTES);
    memset(in, 0, BYTES);
    failed += GOAL_Sched_run(schedule) != 0 || in[0] != 'a' + i || in[BYTES - 1] != 'a' + i;
    buffers[0] = in;
    buffers[1] = other;
    failed += GOAL_Wait(GOAL_RunOn(schedule, buffers, 2)) != 0 || other[BYTES - 1] != 'a' + i;
    buffers[1] = NULL;
    failed += GOAL_RunOn(schedule, buffers, 2) != NULL || GOAL_Last_error_code() != GOAL_ERR_BUFFER;
  }
  failed += GOAL_FreeSchedule(schedule) != 0 || GOAL_FreeGraph(graph) != 0;
  failed += GOAL_Free(out) != 0 || GOAL_Free(in) != 0 || GOAL_Free(other) != 0 || GOAL_Free(NULL) != 0;
  for (int i = -1; i < 20; i++) {
    extensions += GOAL_IsExtensionAvailable((GOAL_ExtensionId)i);
  }
  failed += GOAL_IsExtensionAvailable(GOAL_EXT_LINK) != 1 || extensions != 17;
  failed += strcmp(GOAL_Error_string(GOAL_SUCCESS), "success") != 0;
  failed += strcmp(GOAL_Error_string(GOAL_ERR_RANK), "there is no such rank") != 0;
  failed += strcmp(GOAL_Error_string(-99), "there is no such code") != 0;
  if (failed != 0 || rank == 0) {
    printf("%d failures\n", failed);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
