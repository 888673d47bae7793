// All ranks of a communicator get an error if the job can't grow. The error names the remedy, and
// the group goes on.
// RUN: build %s
// RUN: goal-run -n 2 ./growth
// RUN: ./growth alone
#include <goal.h>
#include <stdio.h>
#include <string.h>

static void told(const char *what, GOAL_Comm comm) {
  printf("%s: %s%s\n", what, comm == 0 ? "" : "a communicator", comm == 0 ? GOAL_Last_error() : "");
}

int main(int argc, char **argv) {
  int failed = 0, sum = 0, one = 1;
  char word[] = "word", *arguments[] = {word, NULL};
  (void)argv;
  failed += GOAL_Joining() != GOAL_ERR_INIT || GOAL_Leave() != GOAL_ERR_INIT;
  if (GOAL_Init() != 0) {
    return 1;
  }
  failed += GOAL_Has_joined() != 0 || GOAL_Joining() != 0;
  if (argc > 1) {
    told("alone", GOAL_Spawn(NULL, NULL, 1, 0, GOAL_COMM_WORLD));
    failed += GOAL_Last_error_code() != GOAL_ERR_UNSUPPORTED;
    return GOAL_Leave() != 0 || failed;
  }
  if (GOAL_MyRank() == 1) {
    /* The arguments of others than the root don't count. */
    failed += GOAL_Spawn("", NULL, -3, 2, GOAL_COMM_WORLD) != 0;
    told("root", 0);
    failed += GOAL_Last_error_code() != GOAL_ERR_RANK;
    told("handle", GOAL_Spawn(NULL, NULL, 1, 0, 0));
    told("n", GOAL_Spawn("", NULL, -3, 0, GOAL_COMM_WORLD));
    failed += GOAL_Last_error_code() != GOAL_ERR_COUNT;
    told("argv", GOAL_Spawn("", NULL, -3, 0, GOAL_COMM_WORLD));
    told("command", GOAL_Spawn(NULL, NULL, 1, 0, GOAL_COMM_WORLD));
    told("missing", GOAL_Spawn(NULL, NULL, 1, 0, GOAL_COMM_WORLD));
    failed += GOAL_Last_error_code() != GOAL_ERR_SYSTEM;
    told("room", GOAL_Spawn(NULL, NULL, 1, 0, GOAL_COMM_WORLD));
    failed += GOAL_Last_error_code() != GOAL_ERR_LIMIT;
    told("accept", GOAL_Accept(GOAL_COMM_WORLD));
    failed += GOAL_Last_error_code() != GOAL_ERR_ARG;
  } else {
    failed += GOAL_Spawn(NULL, NULL, 0, 0, GOAL_COMM_WORLD) != 0;
    failed += GOAL_Spawn(NULL, arguments, 1, 0, GOAL_COMM_WORLD) != 0;
    failed += GOAL_Spawn("", NULL, 1, 0, GOAL_COMM_WORLD) != 0;
    failed += GOAL_Spawn("no-such-program", arguments, 1, 0, GOAL_COMM_WORLD) != 0;
    failed += GOAL_Spawn(NULL, NULL, 65, 0, GOAL_COMM_WORLD) != 0;
    failed += GOAL_Accept(GOAL_COMM_WORLD) != 0;
  }
  failed += GOAL_Allreduce(&one, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) != 0 || sum != 2;
  return GOAL_Finalize() != 0 || failed;
}
