// Schedules from files and from bytes, on memory of the program or their own, for all ranks or some.
// RUN: build %s
// RUN: printf 'rank 0 { init 0 = Int32 7 s: send 0,4 to 1 }\nrank 1 { recv 0,4 from 0 }\n' > two.goal
// RUN: goalc build two.goal -o two.nisa
// RUN: printf 'num_ranks 2\nrank * { init 0 = Int32 7\nexec user 0 with 0,4 4,4 }\n' > calls.goal
// RUN: goalc build calls.goal -o calls.nisa
// RUN: printf 'num_ranks 2\nrank * { exec copyInt8 with 0,1 200000000000,1 }\n' > large.goal
// RUN: goalc build --max-memory 300000000000 large.goal -o large.nisa
// RUN: mkfifo fifo
// RUN: goal-run -n 2 ./files
// RUN: goal-run -n 3 ./files-cpp
#include <goal.h>
#include <stdio.h>

static int calls;

static void counted(void *buf1, size_t s1, void *buf2, size_t s2) {
  calls += s1 == 4 && s2 == 4 && *(int *)buf1 == 7 && *(int *)buf2 == 0;
}

/* A file that comes from somebody else. Returns the number of failures. */
static int others(GOAL_Comm pair) {
  int failed = 0, fid;
  GOAL_Schedule schedule;
  failed += GOAL_Load("fifo", pair, NULL, 0) != NULL || GOAL_Last_error_code() != GOAL_ERR_FILE;
  failed += GOAL_Load(".", pair, NULL, 0) != NULL || GOAL_Last_error_code() != GOAL_ERR_FILE;
  failed += GOAL_Load("large.nisa", pair, NULL, 0) != NULL || GOAL_Last_error_code() != GOAL_ERR_LIMIT;
  failed += GOAL_Load("calls.nisa", pair, NULL, 0) != NULL || GOAL_Last_error_code() != GOAL_ERR_OP;
  failed += GOAL_Allow_func(0) != GOAL_ERR_OP || GOAL_Allow_func(-1) != GOAL_ERR_OP;
  fid = GOAL_Reg_func(NULL, counted);
  failed += fid != 0 || GOAL_Load("calls.nisa", pair, NULL, 0) != NULL;
  failed += GOAL_Allow_func(fid) != 0 || GOAL_Allow_func(fid) != 0;
  schedule = GOAL_Load("calls.nisa", pair, NULL, 0);
  failed += GOAL_Sched_run(schedule) != 0 || calls != 1;
  return failed + (GOAL_FreeSchedule(schedule) != 0);
}

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
    failed += others(pair);
    failed += GOAL_FreeSchedule(own) != 0 || GOAL_FreeSchedule(given) != 0;
  }
  if (failed != 0) {
    printf("rank %d: %d failures, %s\n", rank, failed, GOAL_Last_error());
  } else if (rank == 0) {
    printf("%d\n", number[0]);
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
