// An exception does not pass through the library: it ends the process at once.
// RUN: build %s
// RUN: ./throws-cpp callback 2>/dev/null
// RUN: ./throws-cpp function 2>/dev/null
// RUN: goal-run -n 2 ./throws-cpp idle 2>/dev/null | cat
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <goal.h>
#include <unistd.h>

static void throws_at_end(GOAL_Handle, void *) { throw 1; }

static void throws_in_run(void *, size_t, void *, size_t) { throw 2; }

static void throws_while_idle() { throw 3; }

/* Waits for a message that never comes. */
static void wait_for_ever() {
  static char bytes[8];
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Recv(graph, bytes, 8, 1 - GOAL_MyRank(), 5, GOAL_USERSPACE);
  GOAL_Wait(GOAL_Run(GOAL_Compile(graph)));
}

extern "C" void aborted(int) {
  const char text[] = "aborted\n";
  _exit(write(1, text, sizeof text - 1) < 0);
}

int main(int, char **arguments) {
  GOAL_Init();
  std::signal(SIGABRT, aborted);
  int number = 0;
  try {
    if (std::strcmp(arguments[1], "idle") == 0) {
      if (GOAL_MyRank() == 0) {
        GOAL_Set_idle(throws_while_idle);
      }
      wait_for_ever();
      return 1;
    }
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
