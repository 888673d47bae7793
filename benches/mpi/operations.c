/* Times an operation of MPI: operations OPERATION FILE PROCESSORS MEMORIES WAYS TABLE CASE...
   FILE is a page of zeros for the barrier before everything that is timed. PROCESSORS are the processors that the ranks must be bound
   to, as 0,1, or "-" where ranks share processors. MEMORIES are kinds of memory, as alloc,window: "malloc" is aligned_alloc's, "alloc"
   MPI_Alloc_mem's, "window" a window of memory that the ranks share. WAYS are those of calls.h, as blocking,persistent. TABLE is
   the file of a replay, or "-". A case is BYTES:ROUNDS:WARM:TIMES. In each round every rank writes
   its operands, all meet, the operation is performed TIMES times, which is timed, and each rank reads and checks its results. For each
   case, kind of memory and way, rank 0 prints
     "BYTES MEMORY WAY FIRST LATER", or "BYTES MEMORY WAY wrong" if a result was wrong,
   the nanoseconds of an operation in the first round and the mean of the rounds behind the first WARM ones, averaged over the ranks, less
   what it takes to read the clock; for a ping-pong half of rank 0's time. It prints at the end, since whoever reads would take time from the ranks. */
#define _GNU_SOURCE
#include "calls.h"
#include "meeting.h"
#include "operands.h"
#include "replay.h"
#include <sched.h>
#include <stdarg.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

/* The nanoseconds that a time takes which is read twice. */
static double clock_cost_ns(void) {
  enum { READS = 20000 };
  double total = 0;
  for (int i = 0; i < READS; ++i) {
    double begin = now_ns();
    total += now_ns() - begin;
  }
  return total / READS;
}

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "rank %d: ", rank);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

/* The processor of a rank in a list such as 0,1. */
static int processor(const char *list, int of) {
  while (of-- > 0) {
    list = strchr(list, ',');
    if (!list) return -1;
    ++list;
  }
  return atoi(list);
}

/* Binds this rank to its processor before the library starts, for launchers that place ranks which
   share processors in another order. */
static void bind_to_processor(const char *list) {
  const char *text = getenv("OMPI_COMM_WORLD_RANK");
  if (!text) text = getenv("PMI_RANK");
  int number = text ? processor(list, atoi(text)) : -1;
  if (number < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(number, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* Fails if this rank is not bound to its processor. */
static void check_placement(const char *list) {
  cpu_set_t may;
  sched_getaffinity(0, sizeof may, &may);
  for (int of = 0; of < ranks; ++of)
    if (!CPU_ISSET(processor(list, of), &may) == (processor(list, of) == processor(list, rank)))
      fail("is not bound as it should be, to one of the processors %s: it may use %d, now %d", list, CPU_COUNT(&may), sched_getcpu());
}

/* Returns 1 if some ranks have the same processor. */
static int is_crowded(const char *list) {
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < a; ++b)
      if (processor(list, a) == processor(list, b)) return 1;
  return 0;
}

static MPI_Win windows[2];

static char *memory(const char *kind, size_t bytes, int which) {
  char *at = NULL;
  bytes = (bytes + 4095) & ~4095ul;
  if (!strcmp(kind, "malloc")) {
    at = aligned_alloc(4096, bytes);
  } else if (!strcmp(kind, "alloc")) {
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &at);
  } else if (!strcmp(kind, "window")) {
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &windows[which]);
  }
  if (!at) fail("no memory of the kind %s", kind);
  memset(at, 0, bytes);
  return at;
}

static void release(const char *kind, char *at, int which) {
  if (!strcmp(kind, "malloc")) free(at);
  else if (!strcmp(kind, "alloc")) MPI_Free_mem(at);
  else MPI_Win_free(&windows[which]);
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
  long n, rounds, warm, times;
  if (sscanf(text, "%ld:%ld:%ld:%ld", &n, &rounds, &warm, &times) != 4) fail("no case: %s", text);
  long blocks = operation == HALO ? ROWS + 2 : ranks;
  long bytes = (operation == REPLAY ? replay_bytes : n * blocks) + 64;
  in = memory(kind, bytes, 0);
  out = memory(kind, operation == REPLAY ? 64 : bytes, 1);
  for (enum way way = 0; way < WAYS; ++way) {
    if (!lists(ways, way_names[way]) || !prepare(operation, way, n)) continue;
    double first = 0, total = 0;
    int wrong = 0, any;
    for (long round = 0; round < rounds; ++round) {
      if (operation == REPLAY) replay_write();
      else write_operands(operation, n, round);
      meeting_wait(m, ranks, crowded);
      double begin = now_ns();
      if (operation == REPLAY) replay(way);
      else for (long k = 0; k < times; ++k) call(operation, way, n);
      double end = now_ns();
      /* Of ranks that share a processor one begins while the other waits for it. */
      double took = (crowded ? meeting_span(m, rank, ranks, begin, end) : end - begin) - clock_ns;
      if (round == 0) first = took;
      if (round >= warm) total += took;
      wrong |= operation == REPLAY ? !replay_is_right() : !results_are_right(operation, n, round, times);
    }
    release_kept();
    double mine[2] = {first / times, total / (rounds - warm) / times}, sums[2];
    MPI_Reduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) mine[i] = operation == PINGPONG ? mine[i] / 2 : sums[i] / ranks;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    char *at = printed + printed_len;
    size_t room = sizeof printed - printed_len;
    if (any) printed_len += snprintf(at, room, "%ld %s %s wrong\n", n, kind, way_names[way]);
    else printed_len += snprintf(at, room, "%ld %s %s %.1f %.1f\n", n, kind, way_names[way], mine[0], mine[1]);
  }
  /* No rank may still read the memory of another. */
  MPI_Barrier(MPI_COMM_WORLD);
  release(kind, in, 0);
  release(kind, out, 1);
}

int main(int argc, char **argv) {
  int is_bound = strcmp(argv[3], "-") != 0;
  if (is_bound) bind_to_processor(argv[3]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum operation operation = operation_named(argv[1]);
  meeting *m = meeting_open(argv[2]);
  if (is_bound) check_placement(argv[3]);
  int crowded = !is_bound || is_crowded(argv[3]);
  clock_ns = clock_cost_ns();
  if (operation == REPLAY && !replay_read(argv[6])) fail("no replay in %s", argv[6]);
  for (int i = 7; i < argc; ++i) {
    char kinds[64], *kind, *rest = kinds;
    snprintf(kinds, sizeof kinds, "%s", argv[4]);
    while ((kind = strsep(&rest, ","))) measure(operation, m, crowded, kind, argv[5], argv[i]);
  }
  if (rank == 0) fputs(printed, stdout);
  MPI_Finalize();
  return 0;
}
