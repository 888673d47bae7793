// Schedules of the program are linked (GOAL_Link): they run as in the engine, and the library tells
// why others are not. Each part runs in both modes of progress.
// RUN: build %s
// RUN: printf 'rank 0 { send 0,8 to 1\nrecv 8,8 from 1 }\nrank 1 { send 0,8 to 0\nrecv 8,8 from 0 }\n' > 2.goal
// RUN: printf 'rank 0 { send 0,8 to 1\nrecv 8,8 from 2 }\nrank 1 { send 0,8 to 2\nrecv 8,8 from 0 }\n' > 3.goal
// RUN: printf 'rank 2 { send 0,8 to 0\nrecv 8,8 from 1 }\n' >> 3.goal
// RUN: for n in 2 3; do goalc build $n.goal -o $n.nisa; done
// RUN: for n in 2 3; do echo $n ranks; goal-run -n $n --timeout 60 ./link; done
// RUN: echo thread; goal-run -n 3 --timeout 60 --progress thread ./link-cpp
// RUN: echo unlinked; goal-run -n 2 --timeout 60 --no-links ./link
// RUN: echo alone; ./link
// RUN: mkfifo to0 to1; echo passes on; goal-run -n 2 --timeout 60 ./link passes
// RUN: for how in schedule collective; do
// RUN:   echo $how; goal-run -n 2 --timeout 60 ./link $how >$how.txt 2>&1 || echo fails
// RUN:   grep -o 'called allreduce\|started a[a-z]* linked schedule\|all ranks must.*' $how.txt | sort -u
// RUN: done
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <goal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, failures;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      failures++;                                                                            \
      printf("rank %d, line %d: %s; %s\n", rank, __LINE__, #condition, GOAL_Last_error());   \
    }                                                                                        \
  } while (0)

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

/* Lets rank 0 say what GOAL_Link returned. */
static int told(const char *name, GOAL_Schedule schedule, int is) {
  const char *why = GOAL_Link_reason(schedule);
  CHECK(is >= 0 && why != NULL && (is == 1) == (*why == '\0'));
  if (rank == 0) printf("%s: %s\n", name, is == 1 ? "linked" : why);
  return is;
}

static int linked(const char *name, GOAL_Schedule schedule) {
  return told(name, schedule, GOAL_Link(schedule, GOAL_COMM_WORLD));
}

static GOAL_Schedule compiled(GOAL_Graph graph) {
  GOAL_Schedule schedule = GOAL_Compile(graph);
  CHECK(schedule != NULL && GOAL_FreeGraph(graph) == 0);
  return schedule;
}

/* 8 bytes to the rank on the right, and 8 bytes from the one on the left. */
static GOAL_Graph ring_on(int64_t *mine, int64_t *theirs, int tag) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Declare(graph, mine, 8);
  GOAL_Declare(graph, theirs, 8);
  GOAL_Send(graph, mine, 8, right(), tag, GOAL_USERSPACE);
  GOAL_Recv(graph, theirs, 8, left(), tag, GOAL_USERSPACE);
  return graph;
}

static void ring(void) {
  int64_t numbers[2][2] = {{0, 0}, {0, 0}};
  GOAL_Schedule schedule = compiled(ring_on(&numbers[0][0], &numbers[0][1], 3));
  int step;
  linked("ring", schedule);
  for (step = 0; step < 1000; step++) {
    int64_t *own = numbers[step % 5 == 0];
    void *buffers[2];
    GOAL_Handle run;
    buffers[0] = &own[0];
    buffers[1] = &own[1];
    own[0] = 1000 * rank + step;
    own[1] = -1;
    if (step % 3 == 0) {
      run = own == numbers[0] ? GOAL_Run(schedule) : GOAL_RunOn(schedule, buffers, 2);
      while (GOAL_Test(run) == 0) continue;
    } else if (own == numbers[0]) {
      CHECK(GOAL_Sched_run(schedule) == 0);
    } else {
      CHECK(GOAL_Wait(GOAL_RunOn(schedule, buffers, 2)) == 0);
    }
    CHECK(own[1] == 1000 * left() + step);
  }
  CHECK(GOAL_FreeSchedule(schedule) == 0);
}

/* A round trip of 8 bytes between the ranks 0 and 1. */
static GOAL_Schedule ping_pong(int64_t *number) {
  GOAL_Graph graph = GOAL_CreateGraph();
  if (rank < 2 && size > 1) {
    GOAL_Vertex sends = GOAL_Send(graph, number, 8, 1 - rank, rank, GOAL_USERSPACE);
    GOAL_Vertex receives = GOAL_Recv(graph, number, 8, 1 - rank, 1 - rank, GOAL_USERSPACE);
    if (rank == 0) GOAL_Requires(graph, sends, receives);
    if (rank == 1) GOAL_Requires(graph, receives, sends);
  }
  return compiled(graph);
}

static void round_trips(void) {
  int64_t number = 0;
  GOAL_Schedule schedule = ping_pong(&number);
  int step;
  linked("round trip", schedule);
  for (step = 0; step < 1000; step++) {
    number = rank == 0 ? step : -1;
    CHECK(GOAL_Sched_run(schedule) == 0);
    CHECK(number == (rank < 2 ? step : -1));
  }
  /* Linked already, and with the same schedules. */
  CHECK(GOAL_Link(schedule, GOAL_COMM_WORLD) == (*GOAL_Link_reason(schedule) == '\0'));
  CHECK(GOAL_FreeSchedule(schedule) == 0);
}

/* Each rank sums the numbers of its neighbours and its own, twice. Four runs are open at a time. */
static void stencil(void) {
  enum { OPEN = 4 };
  int64_t own[OPEN], first[OPEN], second[OPEN];
  GOAL_Schedule schedules[OPEN];
  GOAL_Handle runs[OPEN];
  int step, at, is = 0;
  for (at = 0; at < OPEN; at++) {
    GOAL_Graph graph = GOAL_CreateGraph();
    int64_t *from = &own[at], *to = &first[at];
    GOAL_Vertex before = GOAL_INVALID_VERTEX;
    int round;
    GOAL_AllocateScratchpad(graph, 32);
    for (round = 0; round < 2; round++) {
      char *place = (char *)(uintptr_t)(16 * round);
      GOAL_Vertex parts[5];
      int part;
      parts[0] = GOAL_Send(graph, from, 8, right(), 2 * round, GOAL_USERSPACE);
      parts[1] = GOAL_Send(graph, from, 8, left(), 2 * round + 1, GOAL_USERSPACE);
      parts[2] = GOAL_Recv(graph, place, 8, left(), 2 * round, GOAL_SCRATCHPAD);
      parts[3] = GOAL_Recv(graph, place + 8, 8, right(), 2 * round + 1, GOAL_SCRATCHPAD);
      parts[4] = GOAL_LocalOp(graph, from, place, to, GOAL_ADD, GOAL_SINT, 64, 1, GOAL_USERSPACE,
                              GOAL_SCRATCHPAD, GOAL_USERSPACE);
      for (part = 0; part < 2 && round > 0; part++) GOAL_Requires(graph, before, parts[part]);
      if (round > 0) GOAL_Requires(graph, before, parts[4]);
      GOAL_Requires(graph, parts[2], parts[4]);
      before = GOAL_LocalOp(graph, to, place + 8, to, GOAL_ADD, GOAL_SINT, 64, 1, GOAL_USERSPACE,
                            GOAL_SCRATCHPAD, GOAL_USERSPACE);
      GOAL_Requires(graph, parts[3], before);
      GOAL_Requires(graph, parts[4], before);
      from = &first[at];
      to = &second[at];
    }
    schedules[at] = compiled(graph);
    is += at == 0 ? linked("stencil", schedules[at]) : GOAL_Link(schedules[at], GOAL_COMM_WORLD);
  }
  CHECK(is == 0 || is == OPEN);
  for (step = 0; step < 300; step++) {
    for (at = 0; at < OPEN; at++) {
      own[at] = 100 * step + 7 * rank + at;
      runs[at] = GOAL_Run(schedules[at]);
    }
    for (at = OPEN - 1; at >= 0; at--) {
      int64_t sum = 0, around[5];
      int k;
      CHECK(GOAL_Wait(runs[at]) == 0);
      for (k = 0; k < 5; k++) around[k] = 100 * step + 7 * ((rank + 2 * size + k - 2) % size) + at;
      for (k = 1; k < 4; k++) sum += around[k - 1] + around[k] + around[k + 1];
      CHECK(second[at] == sum);
    }
  }
  for (at = 0; at < OPEN; at++) CHECK(GOAL_FreeSchedule(schedules[at]) == 0);
}

static void file(void) {
  int64_t numbers[2];
  char path[16];
  GOAL_Schedule own, given;
  int step;
  sprintf(path, "%d.nisa", size);
  given = GOAL_Load(path, GOAL_COMM_WORLD, numbers, sizeof numbers);
  own = GOAL_Load(path, GOAL_COMM_WORLD, NULL, 0);
  linked("file", given);
  linked("file on memory of its own", own);
  for (step = 0; step < 100; step++) {
    numbers[0] = step - 7 * rank;
    CHECK(GOAL_Sched_run(given) == 0 && numbers[1] == step - 7 * left());
    CHECK(GOAL_Sched_run(own) == 0);
  }
  CHECK(GOAL_FreeSchedule(given) == 0 && GOAL_FreeSchedule(own) == 0);
}

/* A prepared collective that the library does not link by itself, on another communicator. */
static void collective(void) {
  int64_t mine = 0, theirs = 0;
  int from = left(), to = right(), step;
  GOAL_Comm comm = GOAL_Comm_create_graph(GOAL_COMM_WORLD, &from, 1, &to, 1);
  GOAL_Schedule schedule = GOAL_Neighbor_allgather_init(&mine, &theirs, 1, GOAL_INT64, comm);
  told("collective of neighbours", schedule, GOAL_Link(schedule, comm));
  for (step = 0; step < 100; step++) {
    mine = 100 * rank + step;
    CHECK(GOAL_Sched_run(schedule) == 0 && theirs == 100 * from + step);
  }
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_Comm_free(comm) == 0);
}

/* Schedules that are not linked run as before. */
static void refused(void) {
  static int64_t mine[70], theirs[70];
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  int at;
  GOAL_Send(graph, mine, 8, right(), 3, GOAL_USERSPACE);
  GOAL_Recv(graph, theirs, 8, rank == size - 1 ? GOAL_ANY_SOURCE : left(), 3, GOAL_USERSPACE);
  schedule = compiled(graph);
  CHECK(linked("wildcard", schedule) == 0);
  mine[0] = rank;
  CHECK(GOAL_Sched_run(schedule) == 0 && theirs[0] == left() && GOAL_FreeSchedule(schedule) == 0);
  graph = GOAL_CreateGraph();
  for (at = 0; at < 40 - 8 * rank; at++) {
    GOAL_Send(graph, &mine[at], 8, right(), at, GOAL_USERSPACE);
  }
  for (at = 0; at < 40 - 8 * left(); at++) {
    GOAL_Recv(graph, &theirs[at], 8, left(), at, GOAL_USERSPACE);
  }
  schedule = compiled(graph);
  linked("many actions", schedule);
  CHECK(GOAL_Sched_run(schedule) == 0 && GOAL_FreeSchedule(schedule) == 0);
  graph = GOAL_CreateGraph();
  GOAL_Send(graph, mine, 8, right(), rank == 0, GOAL_USERSPACE);
  schedule = compiled(graph);
  CHECK(linked("no receive", schedule) == 0 && GOAL_FreeSchedule(schedule) == 0);
}

/* A rank with an error gets it, and the others get its text as the reason. */
static void wrong(void) {
  int64_t mine = rank, theirs = 0, others = 0;
  int is_last = rank == size - 1, all[16], at, is;
  GOAL_Schedule schedule = compiled(ring_on(&mine, &theirs, 3)), late;
  GOAL_Comm twin;
  GOAL_Handle run = GOAL_HANDLE_NULL;
  for (at = 0; at < size; at++) all[at] = at;
  twin = GOAL_Comm_create(GOAL_COMM_WORLD, all, size);
  CHECK(GOAL_Link(is_last ? NULL : schedule, GOAL_COMM_WORLD) == (is_last ? GOAL_ERR_HANDLE : 0));
  if (rank == 0) printf("NULL: %s\n", GOAL_Link_reason(schedule));
  CHECK(GOAL_Link(schedule, twin) < 0);
  if (rank == 0) printf("another communicator: %s\n", GOAL_Last_error());
  CHECK(GOAL_Link(schedule, NULL) == GOAL_ERR_HANDLE && GOAL_Link_reason(NULL) == NULL);
  is = GOAL_Link(schedule, GOAL_COMM_WORLD);
  /* The ranks have linked it with each other, so it fits no other schedule. */
  late = compiled(ring_on(&mine, &others, 4));
  if (is == 1) {
    CHECK(GOAL_Link(is_last ? late : schedule, GOAL_COMM_WORLD) == (is_last ? 0 : GOAL_ERR_ARG));
    if (rank == 0) printf("linked with others: %s\n", GOAL_Last_error());
  }
  CHECK(GOAL_Sched_run(schedule) == 0 && theirs == left());
  if (is_last) run = GOAL_Run(late);
  at = GOAL_Link(late, GOAL_COMM_WORLD);
  CHECK(at == (is_last && is ? GOAL_ERR_BUSY : 0));
  if (is && rank == 0) printf("it runs: %s\n", GOAL_Link_reason(late));
  if (!is_last) run = GOAL_Run(late);
  CHECK(GOAL_Wait(run) == 0 && others == left());
  CHECK(GOAL_Link(late, GOAL_COMM_WORLD) == is && GOAL_Sched_run(late) == 0);
  CHECK(GOAL_FreeSchedule(schedule) == 0 && GOAL_FreeSchedule(late) == 0);
  CHECK(GOAL_Comm_free(twin) == 0);
}

static void tell(const char *to) {
  int fd = open(to, O_RDWR);
  CHECK(fd >= 0 && write(fd, "x", 1) == 1);
}

static void hear(const char *from) {
  char letter;
  int fd = open(from, O_RDWR);
  CHECK(fd >= 0 && read(fd, &letter, 1) == 1);
}

/* Rank 1 passes on what it has received when it starts another schedule. */
static void passes(void) {
  int64_t number = 0, other = 0;
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Schedule trip = ping_pong(&number), one_way;
  GOAL_Handle run;
  int step;
  if (rank == 1) GOAL_Send(graph, &other, 8, 0, 0, GOAL_USERSPACE);
  if (rank == 0) GOAL_Recv(graph, &other, 8, 1, 0, GOAL_USERSPACE);
  one_way = compiled(graph);
  CHECK(GOAL_Link(trip, GOAL_COMM_WORLD) == 1 && GOAL_Link(one_way, GOAL_COMM_WORLD) == 1);
  for (step = 0; step < 3; step++) {
    CHECK(GOAL_Sched_run(trip) == 0 && GOAL_Sched_run(one_way) == 0);
  }
  if (rank == 1) {
    run = GOAL_Run(trip);
    tell("to0");
    hear("to1");
    CHECK(GOAL_Sched_run(one_way) == 0);
    hear("to1");
    CHECK(GOAL_Wait(run) == 0);
  } else {
    hear("to0");
    run = GOAL_Run(trip);
    tell("to1");
    CHECK(GOAL_Wait(run) == 0);
    tell("to1");
    CHECK(GOAL_Sched_run(one_way) == 0);
  }
  if (rank == 0) printf("it has come back\n");
}

/* Ranks that start different schedules get an error. */
static int differs(int is_schedule) {
  int64_t mine = 1, theirs = 0;
  GOAL_Schedule first = compiled(ring_on(&mine, &theirs, 3)), second = compiled(ring_on(&mine, &theirs, 4));
  int code;
  CHECK(GOAL_Link(first, GOAL_COMM_WORLD) == 1 && GOAL_Link(second, GOAL_COMM_WORLD) == 1);
  CHECK(GOAL_Sched_run(first) == 0 && GOAL_Sched_run(second) == 0);
  if (rank == 0) {
    code = GOAL_Sched_run(first);
  } else {
    code = is_schedule ? GOAL_Sched_run(second)
                       : GOAL_Allreduce(&mine, &theirs, 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD);
  }
  return code == 0;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "all";
  if (GOAL_Init() != 0) return 1;
  rank = GOAL_MyRank();
  size = GOAL_GroupSize();
  if (strcmp(how, "passes") == 0) {
    passes();
  } else if (strcmp(how, "all") != 0) {
    return differs(strcmp(how, "schedule") == 0);
  } else if (size == 1) {
    linked("alone", ping_pong(NULL));
    CHECK(GOAL_Link(NULL, GOAL_COMM_WORLD) == GOAL_ERR_HANDLE);
  } else {
    ring();
    round_trips();
    stencil();
    file();
    collective();
    refused();
    wrong();
  }
  return GOAL_Finalize() != 0 || failures != 0;
}
