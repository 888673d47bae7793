// A rank that sends from unmapped memory, or receives into it, ends by the signal of a bad access.
// No other rank counts as lost. With the argument `receive`, the memory can't be written. It is run
// over TCP, where the system reads and writes the memory of the program.
// RUN: build %s
#define _DEFAULT_SOURCE
#include <goal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 4 << 20 };

int main(int argc, char **argv) {
  int receives = argc > 1 && !strcmp(argv[1], "receive");
  int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
  char *bytes = (char *)mmap(NULL, BYTES, access, kind, -1, 0);
  GOAL_Graph graph;
  int me;
  if (GOAL_Init() != 0 || bytes == MAP_FAILED) {
    return 1;
  }
  me = GOAL_MyRank();
  graph = GOAL_CreateGraph();
  if (me == 0) {
    GOAL_Send(graph, bytes, BYTES, 1, 1, GOAL_USERSPACE);
  } else {
    GOAL_Recv(graph, bytes, BYTES, 0, 1, GOAL_USERSPACE);
  }
  if (me == receives) {
    mprotect(bytes, BYTES, receives ? PROT_READ : PROT_NONE);
  }
  GOAL_Wait(GOAL_Run(GOAL_Compile(graph)));
  printf("rank %d went on\n", me);
  return GOAL_Finalize() != 0;
}
