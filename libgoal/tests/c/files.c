// Schedules from files and from bytes, on memory of the program or their own, for all ranks or some.
// RUN: build %s
// RUN: printf 'rank 0 { init 0 = Int32 7 s: send 0,4 to 1 }\nrank 1 { recv 0,4 from 0 }\n' > two.goal
// RUN: goalc build two.goal -o two.nisa
// RUN: goal-run -n 2 ./files
// RUN: goal-run -n 3 ./files-cpp
#include <goal.h>
#include <stdio.h>

int main(void) {
  static char bytes[65536];
  int number[2] = {0, 0}, ranks[2] = {1, 0}, rank, failed = 0;
  size_t length;
  FILE *file = fopen("two.nisa", "rb");
  GOAL_Schedule own, given, small;
  GOAL_Comm pair;
  if (file == NULL || GOAL_Init() != 0) {
    return 1;
  }
  length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  rank = GOAL_MyRank();
  if (rank < 2) {
    pair = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, 2);
    own = GOAL_Load("two.nisa", pair, NULL, 0);
    failed += GOAL_Sched_run(own) != 0;
    /* Rank 1 of the group is rank 0 of the pair. */
    number[0] = rank == 1 ? 4711 : 0;
    given = GOAL_LoadMemory(bytes, length, pair, number, sizeof number);
    failed += GOAL_Sched_run(given) != 0 || number[0] != 4711;
    small = GOAL_LoadMemory(bytes, length, pair, number, 2);
    failed += small != NULL || GOAL_Last_error_code() != GOAL_ERR_BUFFER;
    if (GOAL_GroupSize() == 3) {
      failed += GOAL_Load("two.nisa", GOAL_COMM_WORLD, NULL, 0) != NULL ||
                GOAL_Last_error_code() != GOAL_ERR_FILE;
    }
    failed += GOAL_FreeSchedule(own) != 0 || GOAL_FreeSchedule(given) != 0;
  }
  if (failed != 0) {
    printf("rank %d: %d failures, %s\n", rank, failed, GOAL_Last_error());
  } else if (rank == 0) {
    printf("%d\n", number[0]);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
