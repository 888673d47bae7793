/* Times an operation of a library, MPI or libgoal: operations OPERATION FILE PROCESSORS MEMORIES WAYS TABLE CASE...
   FILE is a page of zeros for the barrier before everything that is timed. PROCESSORS are the processors that the ranks must be bound
   to, as 0,1, or "-" where ranks share processors. MEMORIES are kinds of memory (group.h), as alloc,window. WAYS are those of operation.h, as blocking,persistent. TABLE is
   the file of a replay, or "-". A case is BYTES:ROUNDS:WARM:TIMES:ROW. In each round every rank writes
   its operands, all meet, the operation is performed TIMES times, which is timed, and each rank reads and checks its results. If ROW is not 0,
   the operation is performed ROW times instead, other operands are written before each, and what is timed is the time from the first
   rank's beginning to the last one's end. For each
   case, kind of memory and way, rank 0 prints
     "BYTES MEMORY WAY FIRST LATER", or "BYTES MEMORY WAY wrong" if a result was wrong,
   the nanoseconds of an operation in the first round and the mean of the rounds behind the first WARM ones, averaged over the ranks, less
   what it takes to read the clock; for a ping-pong half of rank 0's time. It prints at the end, since whoever reads would take time from the ranks. */
#define _GNU_SOURCE
#include "group.h"
#include "calls.h"
#include "clock.h"
#include "meeting.h"
#include "operands.h"
#include "placement.h"
#include "replay.h"

static char *memory(const char *kind, size_t bytes, int which) {
  bytes = (bytes + 4095) & ~4095ul;
  char *at = group_memory(kind, bytes, which);
  if (!at) fail("no memory of the kind %s", kind);
  memset(at, 0, bytes);
  return at;
}

static double clock_ns;
static char printed[1 << 16];
static size_t printed_len;

/* Returns 1 if the list, as x,y, has the word. */
static int lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (; list; list = strchr(list, ','), list = list ? list + 1 : NULL)
    if (!strncmp(list, word, length) && (!list[length] || list[length] == ',')) return 1;
  return 0;
}

static void measure(enum operation operation, meeting *m, int crowded, const char *kind, const char *ways, const char *text) {
  long n, rounds, warm, times, row;
  if (sscanf(text, "%ld:%ld:%ld:%ld:%ld", &n, &rounds, &warm, &times, &row) != 5) fail("no case: %s", text);
  long blocks = operation == HALO ? ROWS + 2 : ranks;
  long bytes = (operation == REPLAY ? replay_bytes : n * blocks) + 64;
  in = memory(kind, bytes, 0);
  out = memory(kind, operation == REPLAY ? 64 : bytes, 1);
  for (enum way way = 0; way < WAYS; ++way) {
    if (!lists(ways, way_names[way]) || !prepare(operation, way, n)) continue;
    double first = 0, total = 0;
    int wrong = 0;
    if (row) times = row;
    for (long round = 0; round < rounds; ++round) {
      long operands = row ? round * row : round;
      if (operation == REPLAY) replay_write();
      else write_operands(operation, n, operands);
      meeting_wait(m, ranks, crowded);
      double begin = now_ns();
      if (operation == REPLAY) replay(way);
      else for (long k = 0; k < times; ++k) {
        if (row && k) write_operands(operation, n, ++operands);
        call(operation, way, n);
      }
      double end = now_ns();
      /* Of ranks that share a processor one begins while the other waits for it. */
      double took = (crowded || row ? meeting_span(m, rank, ranks, begin, end) : end - begin) - clock_ns;
      if (round == 0) first = took;
      if (round >= warm) total += took;
      wrong |= operation == REPLAY ? !replay_is_right() : !results_are_right(operation, n, operands, times);
    }
    release_kept();
    double mine[2] = {first / times, total / (rounds - warm) / times}, sums[2];
    group_sums(mine, sums, 2);
    for (int i = 0; i < 2; ++i) mine[i] = operation == PINGPONG ? mine[i] / 2 : sums[i] / ranks;
    char *at = printed + printed_len;
    size_t room = sizeof printed - printed_len;
    if (group_most(wrong)) printed_len += snprintf(at, room, "%ld %s %s wrong\n", n, kind, way_names[way]);
    else printed_len += snprintf(at, room, "%ld %s %s %.1f %.1f\n", n, kind, way_names[way], mine[0], mine[1]);
  }
  /* No rank may still read the memory of another. */
  group_barrier();
  group_release(kind, in, 0);
  group_release(kind, out, 1);
}

int main(int argc, char **argv) {
  bind_to_processor(argv[3]);
  group_begin(&argc, &argv);
  enum operation operation = operation_named(argv[1]);
  meeting *m = meeting_open(argv[2]);
  check_placement(argv[3]);
  int crowded = is_crowded(argv[3]);
  clock_ns = clock_cost_ns();
  if (operation == REPLAY && !replay_read(argv[6])) fail("no replay in %s", argv[6]);
  for (int i = 7; i < argc; ++i) {
    char kinds[64], *kind, *rest = kinds;
    snprintf(kinds, sizeof kinds, "%s", argv[4]);
    while ((kind = strsep(&rest, ","))) measure(operation, m, crowded, kind, argv[5], argv[i]);
  }
  if (rank == 0) fputs(printed, stdout);
  group_end();
  return 0;
}
