// Objects that are made and freed again and again leave nothing behind: memory does not grow.
// RUN: build %s
// RUN: printf 'rank 0 { init 0 = Int32 7 s: send 0,4 to 1 }\nrank 1 { recv 0,4 from 0 }\n' > two.goal
// RUN: goalc build two.goal -o two.nisa
// RUN: goal-run -n 2 ./lifetimes
// RUN: goal-run -n 2 --progress thread ./lifetimes
#include <goal.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US GOAL_USERSPACE

enum { WARM = 300, TIMES = 1500 };
/* A leak of 16 bytes a turn exceeds the first. The second and third have whole pages. */
enum { HEAP_MOST = 16 * TIMES, PAGES_MOST = 128 << 10 };

static int rank, size, all[16], failed, in = 1, out;
static char words[64];

static void check(int is_right, const char *what) {
  if (!is_right) {
    printf("rank %d: %s: %s\n", rank, what, GOAL_Last_error());
    failed++;
  }
}

#define CHECK(condition) check(condition, #condition)

static GOAL_Comm make(void) {
  return GOAL_Comm_create(GOAL_COMM_WORLD, all, size);
}

static GOAL_Graph ring(GOAL_Comm comm) {
  GOAL_Graph graph = GOAL_CreateGraphOn(comm);
  GOAL_Recv(graph, &out, 4, (rank + size - 1) % size, 0, US);
  GOAL_Send(graph, &in, 4, (rank + 1) % size, 0, US);
  return graph;
}

static void communicator(void) {
  GOAL_Comm comm = make();
  CHECK(comm != NULL && GOAL_Comm_free(comm) == 0);
}

static void blocking(void) {
  GOAL_Comm comm = make();
  CHECK(GOAL_Barrier(comm) == 0);
  CHECK(GOAL_Allreduce(&in, &out, 1, GOAL_INT32, GOAL_ADD, comm) == 0);
  CHECK(GOAL_Comm_free(comm) == 0);
}

/* The run goes on when its communicator is freed. */
static void freed_before_its_run_ends(void) {
  GOAL_Comm comm = make();
  GOAL_Handle run = GOAL_Iallreduce(&in, &out, 1, GOAL_INT32, GOAL_ADD, comm);
  CHECK(GOAL_Comm_free(comm) == 0);
  CHECK(GOAL_Wait(run) == 0);
}

static void prepared(void) {
  GOAL_Comm comm = make();
  GOAL_Schedule barrier = GOAL_Barrier_init(comm), never = GOAL_Barrier_init(comm);
  CHECK(GOAL_Sched_run(barrier) == 0 && GOAL_Sched_run(barrier) == 0);
  CHECK(GOAL_FreeSchedule(never) == 0 && GOAL_FreeSchedule(barrier) == 0);
  CHECK(GOAL_Comm_free(comm) == 0);
}

static void graph(void) {
  GOAL_Comm comm = make();
  GOAL_Graph made = ring(comm);
  GOAL_Schedule schedule = GOAL_Compile(made);
  /* Schedules outlive their communicator. */
  CHECK(GOAL_Comm_free(comm) == 0);
  CHECK(GOAL_Sched_run(schedule) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(made) == 0);
}

static void several_runs(void) {
  GOAL_Graph made = ring(GOAL_COMM_WORLD);
  GOAL_Schedule schedule = GOAL_Compile(made);
  GOAL_Handle runs[2];
  runs[0] = GOAL_Run(schedule);
  runs[1] = GOAL_Run(schedule);
  CHECK(GOAL_Waitall(2, runs) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(made) == 0);
}

static void declared(void) {
  static char other[64];
  void *buffers[1];
  GOAL_Graph made = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  buffers[0] = other;
  GOAL_Declare(made, words, sizeof words);
  GOAL_AllocateScratchpad(made, 64);
  GOAL_Requires(made, GOAL_LocalOp(made, words, NULL, GOAL_OFFSET(0), GOAL_COPY, GOAL_UINT, 8, 64, US, US, GOAL_SCRATCHPAD),
                GOAL_LocalOp(made, GOAL_OFFSET(0), NULL, words, GOAL_COPY, GOAL_UINT, 8, 64, GOAL_SCRATCHPAD, US, US));
  schedule = GOAL_Compile(made);
  CHECK(GOAL_Wait(GOAL_RunOn(schedule, buffers, 1)) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(made) == 0);
}

/* A receive from any rank has a matching space of another kind. */
static void any_source(void) {
  GOAL_Comm comm = make();
  GOAL_Graph made = GOAL_CreateGraphOn(comm);
  GOAL_Schedule schedule;
  GOAL_Recv(made, &out, 4, GOAL_ANY_SOURCE, GOAL_ANY_TAG, US);
  GOAL_Send(made, &in, 4, (rank + 1) % size, 3, US);
  schedule = GOAL_Compile(made);
  CHECK(GOAL_Sched_run(schedule) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(made) == 0);
  CHECK(GOAL_Comm_free(comm) == 0);
}

static void neighbours(void) {
  int others[1], got = 0;
  GOAL_Comm comm;
  others[0] = 1 - rank;
  comm = GOAL_Comm_create_graph(GOAL_COMM_WORLD, others, 1, others, 1);
  CHECK(GOAL_Neighbor_allgather(&in, &got, 1, GOAL_INT32, comm) == 0 && got == 1);
  CHECK(GOAL_Comm_free(comm) == 0);
}

static void of_another(void) {
  int one[1];
  GOAL_Comm comm = make(), own;
  one[0] = rank;
  own = GOAL_Comm_create(comm, one, 1);
  CHECK(GOAL_Comm_free(comm) == 0);
  CHECK(GOAL_Barrier(own) == 0 && GOAL_Comm_free(own) == 0);
}

static void file(void) {
  int number[2] = {0, 0};
  GOAL_Comm comm = make();
  GOAL_Schedule own = GOAL_Load("two.nisa", comm, NULL, 0);
  GOAL_Schedule given = GOAL_Load("two.nisa", comm, number, sizeof number);
  CHECK(GOAL_Sched_run(own) == 0 && GOAL_Sched_run(given) == 0);
  /* Rank 0 only sends: it must not run ahead, as its messages take memory of rank 1. */
  CHECK(GOAL_Barrier(comm) == 0);
  CHECK(GOAL_FreeSchedule(own) == 0 && GOAL_FreeSchedule(given) == 0);
  CHECK(GOAL_Comm_free(comm) == 0);
}

static void note(GOAL_Handle handle, void *arg) {
  (void)handle;
  __atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void ends(void) {
  static int called;
  GOAL_Handle run = GOAL_Ibarrier(GOAL_COMM_WORLD);
  called = 0;
  CHECK(GOAL_On_end(run, note, &called) == 0 && GOAL_On_end(run, note, &called) == 0);
  CHECK(GOAL_Wait(run) == 0);
  /* The rank's thread may be in one of them. */
  while (__atomic_load_n(&called, __ATOMIC_SEQ_CST) < 2) {
    CHECK(GOAL_Test(run) == 1);
  }
}

static void memory(void) {
  void *block = GOAL_Alloc(1000), *large = GOAL_Alloc(100000);
  CHECK(block != NULL && large != NULL && GOAL_Free(block) == 0 && GOAL_Free(large) == 0);
}

static void errors(void) {
  CHECK(GOAL_Comm_create(GOAL_COMM_WORLD, all, 0) == NULL);
  CHECK(GOAL_Load("/nowhere", GOAL_COMM_WORLD, NULL, 0) == NULL);
}

static void function(void *buf1, size_t s1, void *buf2, size_t s2) {
  memcpy(buf2, buf1, s1 < s2 ? s1 : s2);
}

static void functions(void) {
  GOAL_Graph made = GOAL_CreateGraph();
  int fid = GOAL_Reg_func(made, function);
  GOAL_Schedule schedule;
  CHECK(fid >= 0 && GOAL_Allow_func(fid) == 0);
  GOAL_Exec(made, fid, &in, 4, &out, 4, US, US);
  schedule = GOAL_Compile(made);
  CHECK(GOAL_Sched_run(schedule) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeGraph(made) == 0);
}

struct use {
  size_t heap;
  long pages[2];
};

/* Returns the bytes that malloc has given out, and those of pages: own, and shared with ranks. */
static struct use in_use(void) {
  static char line[256];
  struct use use = {0, {0, 0}};
  FILE *status = fopen("/proc/self/status", "r");
  use.heap = mallinfo2().uordblks;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    sscanf(line, "RssAnon: %ld", &use.pages[0]);
    sscanf(line, "RssShmem: %ld", &use.pages[1]);
  }
  if (status != NULL) {
    fclose(status);
  }
  return use;
}

static const struct {
  const char *name;
  void (*turn)(void);
} kinds[] = {
    {"communicator", communicator},
    {"blocking", blocking},
    {"freed before its run ends", freed_before_its_run_ends},
    {"prepared", prepared},
    {"graph", graph},
    {"several runs", several_runs},
    {"declared", declared},
    {"any source", any_source},
    {"neighbours", neighbours},
    {"of another", of_another},
    {"file", file},
    {"ends", ends},
    {"memory", memory},
    {"errors", errors},
    {"functions", functions},
};

int main(void) {
  if (GOAL_Init() != 0) {
    return 1;
  }
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  for (int i = 0; i < size; i++) {
    all[i] = i;
  }
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
    struct use before, after;
    long heap, own, shared;
    for (int time = 0; time < WARM; time++) {
      kinds[kind].turn();
    }
    before = in_use();
    for (int time = 0; time < TIMES; time++) {
      kinds[kind].turn();
    }
    after = in_use();
    heap = (long)after.heap - (long)before.heap;
    own = (after.pages[0] - before.pages[0]) * 1024;
    shared = (after.pages[1] - before.pages[1]) * 1024;
    if (heap > HEAP_MOST || own > PAGES_MOST || shared > PAGES_MOST || failed != 0) {
      printf("rank %d: %s: %d turns leave %ld bytes, %ld of own pages and %ld of shared ones\n",
             rank, kinds[kind].name, TIMES, heap, own, shared);
      fflush(stdout);
      failed++;
      break;
    }
  }
  if (rank == 0 && failed == 0) {
    puts("nothing is left");
  }
  return GOAL_Finalize() != 0 || failed != 0;
}
