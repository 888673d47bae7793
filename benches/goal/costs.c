/* Measures the cost of calls of libgoal for a program that starts a schedule again and again:
   costs FILE PROCESSORS SAMPLES
   FILE and PROCESSORS are as for overlap.c. With one rank the schedule copies 8 bytes. With more
   ranks it sends 8 bytes to the next rank and receives 8 bytes from the one before. Each rank
   prints "rank COST NANOSECONDS" for each cost. The time is the median of SAMPLES samples, each the
   mean of many calls:
     run       GOAL_Run, less what it takes to read the clock
     ended     GOAL_Test of a run that has ended
     waiting   GOAL_Test of a run that waits for a message
     whole     GOAL_Run and GOAL_Wait together, with what writes the 8 bytes before and reads them after
     trip      as whole, for a schedule of one round trip of 8 bytes between 2 ranks
     trips     as whole, for a schedule of 16 round trips
     linked-trip, linked-trips   as these, for schedules that GOAL_Link has linked */
#define _GNU_SOURCE
#include "group.h"
#include "clock.h"
#include "meeting.h"
#include "placement.h"
#include <stdint.h>

enum { CALLS = 1000, STARTS = 10000 };
enum cost { RUN, ENDED, WAITING, WHOLE, TRIP, TRIPS, LINKED_TRIP, LINKED_TRIPS, COSTS };
static const char *const names[COSTS] = {"run", "ended", "waiting", "whole", "trip", "trips", "linked-trip", "linked-trips"};

/* The round trips of a schedule. */
static int trips_of(int cost) { return cost == TRIP || cost == LINKED_TRIP ? 1 : 16; }

static uint64_t given, got;
static meeting *m;
static int crowded;

static GOAL_Schedule compiled(int source, int dest) {
  GOAL_Graph graph = GOAL_CreateGraph();
  if (ranks == 1) {
    GOAL_LocalOp(graph, &given, NULL, &got, GOAL_COPY, GOAL_UINT, 64, 1, GOAL_USERSPACE, GOAL_USERSPACE, GOAL_USERSPACE);
  } else {
    if (dest >= 0) GOAL_Send(graph, &given, sizeof given, dest, 0, GOAL_USERSPACE);
    if (source >= 0) GOAL_Recv(graph, &got, sizeof got, source, 0, GOAL_USERSPACE);
  }
  GOAL_Schedule schedule = GOAL_Compile(graph);
  group_expect(schedule && GOAL_FreeGraph(graph) == GOAL_SUCCESS && GOAL_MakeScheduleReusable(schedule) == GOAL_SUCCESS);
  return schedule;
}

/* Round trips from rank 0 to rank 1 and back, one after the other. */
static GOAL_Schedule round_trips(int count) {
  GOAL_Graph graph = GOAL_CreateGraph();
  GOAL_Vertex before = GOAL_INVALID_VERTEX;
  for (int trip = 0; trip < count; ++trip) {
    for (int way = 0; way < 2; ++way) {
      GOAL_Vertex next = way == rank ? GOAL_Send(graph, rank ? &got : &given, sizeof got, 1 - rank, trip, GOAL_USERSPACE)
                                     : GOAL_Recv(graph, &got, sizeof got, 1 - rank, trip, GOAL_USERSPACE);
      if (before != GOAL_INVALID_VERTEX) group_expect(GOAL_Requires(graph, before, next) == GOAL_SUCCESS);
      before = next;
    }
  }
  GOAL_Schedule schedule = GOAL_Compile(graph);
  group_expect(schedule && GOAL_FreeGraph(graph) == GOAL_SUCCESS);
  return schedule;
}

/* Rank 0 writes a number, and both ranks check what came. */
static double travel(GOAL_Schedule schedule, int trips) {
  int wrong = 0, runs = CALLS / trips;
  meeting_wait(m, ranks, crowded);
  double begin = now_ns();
  for (uint64_t k = 1; k <= (uint64_t)runs; ++k) {
    given = k;
    group_expect(GOAL_Wait(GOAL_Run(schedule)) == GOAL_SUCCESS);
    wrong |= got != k;
  }
  if (wrong) fail("received another number than was sent");
  return (now_ns() - begin) / runs;
}

/* The ranks write a number, exchange it and check what came, again and again. */
static void start(GOAL_Schedule schedule, double *run, double *whole, double clock_ns) {
  int before = (rank + ranks - 1) % ranks;
  double starts = 0;
  for (uint64_t k = 1; k <= CALLS; ++k) {
    given = k * ranks + rank;
    meeting_wait(m, ranks, crowded);
    double begin = now_ns();
    GOAL_Handle handle = GOAL_Run(schedule);
    starts += now_ns() - begin;
    group_expect(GOAL_Wait(handle) == GOAL_SUCCESS);
    if (got != k * ranks + before) fail("received %lu instead of %lu", (unsigned long)got, (unsigned long)(k * ranks + before));
  }
  *run = starts / CALLS - clock_ns;
  meeting_wait(m, ranks, crowded);
  double begin = now_ns();
  int wrong = 0;
  for (uint64_t k = 1; k <= STARTS; ++k) {
    given = k * ranks + rank;
    group_expect(GOAL_Wait(GOAL_Run(schedule)) == GOAL_SUCCESS);
    wrong |= got != k * ranks + before;
  }
  if (wrong) fail("received another number than was sent");
  *whole = (now_ns() - begin) / STARTS;
}

/* GOAL_Test that returns `expected`. */
static double test(GOAL_Handle handle, int expected) {
  double begin = now_ns();
  for (int k = 0; k < CALLS; ++k)
    if (GOAL_Test(handle) != expected) fail("GOAL_Test did not return %d", expected);
  return (now_ns() - begin) / CALLS;
}

/* Each rank in turn sends, once the others have tested in vain. */
static double test_in_vain(GOAL_Schedule const *schedules) {
  double took = 0;
  for (int sender = 0; sender < ranks; ++sender) {
    if (rank == sender) {
      meeting_wait(m, ranks, crowded);
      group_expect(GOAL_Wait(GOAL_Run(schedules[sender])) == GOAL_SUCCESS);
    } else {
      GOAL_Handle handle = GOAL_Run(schedules[sender]);
      took = test(handle, 0);
      meeting_wait(m, ranks, crowded);
      group_expect(GOAL_Wait(handle) == GOAL_SUCCESS);
    }
  }
  return took;
}

int main(int argc, char **argv) {
  enum { RANKS = 2 };
  group_begin(&argc, &argv);
  m = meeting_open(argv[1]);
  check_placement(argv[2]);
  crowded = is_crowded(argv[2]);
  int samples = atoi(argv[3]);
  if (ranks > RANKS) fail("%d ranks: at most %d", ranks, RANKS);
  double *times = calloc(COSTS * samples, sizeof *times);
  GOAL_Schedule schedule = compiled((rank + ranks - 1) % ranks, (rank + 1) % ranks), vain[RANKS] = {NULL};
  for (int sender = 0; ranks > 1 && sender < ranks; ++sender)
    vain[sender] = rank == sender ? compiled(-1, 1 - rank) : compiled(sender, -1);
  GOAL_Schedule trips[COSTS] = {NULL};
  for (int cost = TRIP; ranks > 1 && cost < COSTS; ++cost) {
    trips[cost] = round_trips(trips_of(cost));
    /* The thread of a rank passes on no message of a linked schedule, so these are not linked there. */
    if (cost >= LINKED_TRIP && GOAL_Link(trips[cost], GOAL_COMM_WORLD) != 1) trips[cost] = NULL;
  }
  double clock_ns = clock_cost_ns();
  for (int sample = -1; sample < samples; ++sample) {
    double of[COSTS] = {0};
    start(schedule, &of[RUN], &of[WHOLE], clock_ns);
    GOAL_Handle handle = GOAL_Run(schedule);
    group_expect(GOAL_Wait(handle) == GOAL_SUCCESS);
    of[ENDED] = test(handle, 1);
    if (ranks > 1) of[WAITING] = test_in_vain(vain);
    for (int cost = TRIP; cost < COSTS; ++cost)
      if (trips[cost]) of[cost] = travel(trips[cost], trips_of(cost));
    for (int cost = 0; cost < COSTS && sample >= 0; ++cost) times[cost * samples + sample] = of[cost];
  }
  for (int cost = 0; cost < COSTS; ++cost)
    if (cost < TRIP ? cost != WAITING || ranks > 1 : trips[cost] != NULL) printf("%d %s %.1f\n", rank, names[cost], median(times + cost * samples, samples));
  group_end();
  return 0;
}
