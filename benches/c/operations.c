/* Times an operation of a library, MPI or libgoal: operations OPERATION FILE PROCESSORS MEMORIES WAYS TABLE MANNER CASE...
   FILE is a page of zeros for the barrier before everything that is timed. PROCESSORS are the processors that the ranks must be bound
   to, as 0,1, or "-" where ranks share processors. MEMORIES are kinds of memory (group.h), as alloc,window. WAYS are those of operation.h,
   as blocking,persistent. TABLE is the file of a replay, or "-". A case is BYTES:ROUNDS:WARM:TIMES. In each round every rank writes
   its operands, all meet, the operation is performed TIMES times, which is timed, and each rank reads and checks its results.
   MANNER is "-" or has some of these words, as row=100,float64:
     row=TIMES     the operation is performed TIMES times, and other operands are written before each
     late=NS       one rank, each in turn, begins so much later
     cold=BYTES    each rank changes so many bytes of its own before it writes its operands
     second-thread another thread of each rank calls the library too (second.h)
     float64       reductions add floats
   For each case, kind of memory and way, rank 0 prints
     "BYTES MEMORY WAY FIRST LATER SPAN", or "BYTES MEMORY WAY wrong" if a result was wrong.
   FIRST is the nanoseconds of an operation in the first round, LATER the mean of the rounds behind the first WARM ones. SPAN is their mean
   of the time from the last rank's beginning to the last one's end. What it takes to read the clock is taken off. The first two are
     the mean over the ranks, or
     from the first rank's beginning to the last one's end, if ranks share processors and for operations in a row and a mix, or
     half of rank 0's time, for a ping-pong, or
     of ranks that are not late, the time behind the late one's beginning, or all of their call if it ended before.
   It prints at the end, since whoever reads would take time from the ranks. */
#define _GNU_SOURCE
#include "group.h"
#include "calls.h"
#include "clock.h"
#include "meeting.h"
#include "operands.h"
#include "mix.h"
#include "placement.h"
#include "replay.h"
#include "second.h"

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

/* The manner of the operations. */
static struct { long row, late, cold; int second_thread; } manner;
static char *cold;

static void read_manner(const char *text) {
  static const struct { const char *name; long *value; } numbers[] = {{"row=", &manner.row}, {"late=", &manner.late}, {"cold=", &manner.cold}};
  char words[256], *word, *rest = words;
  snprintf(words, sizeof words, "%s", text);
  while ((word = strsep(&rest, ",")))
    for (int i = 0; i < 3; ++i)
      if (!strncmp(word, numbers[i].name, strlen(numbers[i].name))) *numbers[i].value = atol(word + strlen(numbers[i].name));
  manner.second_thread = lists(text, "second-thread");
  adds_floats = lists(text, "float64");
}

/* When each round began and ended on this rank, and on the first or last of all. */
static double *begins, *ends, *first_begins, *last_begins, *last_ends;

/* The nanoseconds of a round for this rank, and of its span. The rank that is late has none. */
static void figures(enum operation operation, int crowded, long round, double *own, double *span) {
  double begin = begins[round], late = last_begins[round];
  *span = last_ends[round] - late - clock_ns;
  *own = ends[round] - begin - clock_ns;
  if (manner.late) *own = round % ranks == rank ? 0 : ends[round] - (late < ends[round] ? late : begin) - clock_ns;
  else if (crowded || manner.row || operation >= MIX) *own = last_ends[round] - first_begins[round] - clock_ns;
}

/* Fills `mine` with the time of the first round, and the means of those behind the first `warm` ones. */
static void all_figures(enum operation operation, int crowded, long rounds, long warm, double mine[3]) {
  group_largest(begins, last_begins, rounds);
  group_largest(ends, last_ends, rounds);
  double *negative = calloc(rounds, sizeof *negative);
  for (long round = 0; round < rounds; ++round) negative[round] = -begins[round];
  group_largest(negative, first_begins, rounds);
  for (long round = 0; round < rounds; ++round) {
    double own, span;
    first_begins[round] = -first_begins[round];
    figures(operation, crowded, round, &own, &span);
    if (round == 0) mine[0] = own;
    if (round >= warm) mine[1] += own / (rounds - warm), mine[2] += span / (rounds - warm);
  }
  free(negative);
}

/* Performs what is timed. Returns 1 if a result was wrong that is not looked at later. */
static int perform(enum operation operation, enum way way, long n, long times, long *operands) {
  if (operation >= MIX) return mix(way, times);
  if (operation == REPLAY) replay(way);
  else for (long k = 0; k < times; ++k) {
    if (manner.row && k) write_operands(operation, n, ++*operands);
    call(operation, way, n);
  }
  return 0;
}

static void measure_way(enum operation operation, meeting *m, int crowded, const char *kind, enum way way, const char *text) {
  long n, rounds, warm, times;
  if (sscanf(text, "%ld:%ld:%ld:%ld", &n, &rounds, &warm, &times) != 4) fail("no case: %s", text);
  int wrong = 0;
  if (manner.row) times = manner.row;
  double **arrays[] = {&begins, &ends, &first_begins, &last_begins, &last_ends};
  for (int i = 0; i < 5; ++i) memset(*arrays[i] = malloc(rounds * sizeof(double)), 1, rounds * sizeof(double));
  for (long round = 0; round < rounds; ++round) {
    long operands = manner.row ? round * manner.row : round;
    for (long i = 0; i < manner.cold; i += 64) ++cold[i];
    if (operation == REPLAY) replay_write();
    else write_operands(operation, n, operands);
    meeting_wait(m, ranks, crowded);
    double begin = now_ns();
    if (manner.late && round % ranks == rank)
      for (double until = begin + manner.late; begin < until;) begin = now_ns();
    wrong |= perform(operation, way, n, times, &operands);
    ends[round] = now_ns();
    begins[round] = begin;
    wrong |= operation == REPLAY ? !replay_is_right() : !results_are_right(operation, n, operands, times);
  }
  double mine[3] = {0}, sums[3];
  all_figures(operation, crowded, rounds, warm, mine);
  for (int i = 0; i < 5; ++i) free(*arrays[i]);
  group_sums(mine, sums, 3);
  int means = manner.late ? ranks - 1 : ranks;
  for (int i = 0; i < 3; ++i) {
    if (operation == PINGPONG) mine[i] /= 2;
    else mine[i] = sums[i] / (i == 2 ? ranks : means);
    mine[i] /= times;
  }
  char *at = printed + printed_len;
  size_t room = sizeof printed - printed_len;
  if (group_most(wrong)) printed_len += snprintf(at, room, "%ld %s %s wrong\n", n, kind, way_names[way]);
  else printed_len += snprintf(at, room, "%ld %s %s %.1f %.1f %.1f\n", n, kind, way_names[way], mine[0], mine[1], mine[2]);
}

static void measure(enum operation operation, meeting *m, int crowded, const char *kind, const char *ways, const char *text) {
  long n = atol(text), blocks = operation == HALO ? ROWS + 2 : ranks;
  long bytes = (operation == REPLAY ? replay_bytes : operation >= MIX ? (long)MIXED * MIX_BYTES * ranks : n * blocks) + 64;
  char *own_in = in = memory(kind, bytes, 0), *own_out = out = memory(kind, operation == REPLAY ? 64 : bytes, 1);
  for (enum way way = 0; way < WAYS; ++way) {
    if (!lists(ways, way_names[way])) continue;
    if (operation >= MIX ? mix_prepare(operation, way) : prepare(operation, way, n)) measure_way(operation, m, crowded, kind, way, text);
    if (operation >= MIX) mix_release(operation, own_in, own_out);
    else release_kept();
  }
  /* No rank may still read the memory of another. */
  group_barrier();
  group_release(kind, own_in, 0);
  group_release(kind, own_out, 1);
}

int main(int argc, char **argv) {
  bind_to_processor(argv[3]);
  read_manner(argv[7]);
  group_begin_with(&argc, &argv, manner.second_thread);
  comm = GROUP_WORLD;
  enum operation operation = operation_named(argv[1]);
  meeting *m = meeting_open(argv[2]);
  check_placement(argv[3]);
  int crowded = is_crowded(argv[3]);
  clock_ns = clock_cost_ns();
  if (operation == REPLAY && !replay_read(argv[6])) fail("no replay in %s", argv[6]);
  if (manner.cold) cold = memory("malloc", manner.cold, 0);
  if (manner.second_thread) second_begin();
  for (int i = 8; i < argc; ++i) {
    char kinds[64], *kind, *rest = kinds;
    snprintf(kinds, sizeof kinds, "%s", argv[4]);
    while ((kind = strsep(&rest, ","))) measure(operation, m, crowded, kind, argv[5], argv[i]);
  }
  if (manner.second_thread) second_end();
  if (rank == 0) fputs(printed, stdout);
  group_end();
  return 0;
}
