// An exception does not pass through the library: it ends the process at once.
// RUN: build %s
// RUN: ./throws-cpp callback 2>/dev/null
// RUN: ./throws-cpp function 2>/dev/null
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <goal.h>
#include <unistd.h>

static void throws_at_end(GOAL_Handle, void *) { throw 1; }

static void throws_in_run(void *, size_t, void *, size_t) { throw 2; }

extern "C" void aborted(int) {
  const char text[] = "aborted\n";
  _exit(write(1, text, sizeof text - 1) < 0);
}

int main(int, char **arguments) {
  GOAL_Init();
  std::signal(SIGABRT, aborted);
  int number = 0;
  try {
    GOAL_Graph graph = GOAL_CreateGraph();
    if (std::strcmp(arguments[1], "function") == 0) {
      int func = GOAL_Reg_func(graph, throws_in_run);
      GOAL_Exec(graph, func, &number, sizeof number, &number, sizeof number);
    }
    GOAL_Handle run = GOAL_Run(GOAL_Compile(graph));
    GOAL_On_end(run, throws_at_end, nullptr);
    GOAL_Wait(run);
    std::puts("it went on");
  } catch (int value) {
    std::printf("caught %d\n", value);
  }
  return number;
}
