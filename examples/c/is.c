// A sort of integers in buckets, as the benchmark IS of the NAS Parallel Benchmarks:
// is [S|W|A] [-n ITERATIONS] [-t]
// RUN: cp -r %d/inputs . && build %s
// RUN: ./is && goal-run -n 4 ./is
// RUN: goal-run -n 3 --progress thread ./is-cpp W -n 2
//
// Each rank has a part of the keys, and counts those of each bucket. The counts of all ranks are
// summed by a schedule while the rank puts its keys in the order of buckets. The sums tell which
// rank gets which buckets, so that all get about as many keys. The ranks exchange the numbers of
// keys by a schedule that is prepared once, and then the keys, in blocks of these sizes. At last
// each counts its keys. -t prints the time of an iteration. Keys are those of the NAS benchmark,
// and two of them change in each iteration.
//
// In the end the ranks' keys must follow each other, and have the same number and the same
// checksum, of places and keys, as rank 0 finds alone.
#define _POSIX_C_SOURCE 200112L
#include "inputs/run.h"
#include "inputs/nas.h"

#ifdef COMMUNICATION /* A benchmark puts the functions of another library in the place of these. */
#include COMMUNICATION
#else
#include <goal.h>

typedef GOAL_Schedule Operation;
typedef GOAL_Handle Running;

static int rank, ranks;

static void check(int is_good) {
  if (!is_good) {
    fprintf(stderr, "rank %d: %s\n", rank, GOAL_Last_error());
    exit(1);
  }
}

static void begin(void) {
  check(GOAL_Init() == GOAL_SUCCESS);
  rank = GOAL_MyRank();
  ranks = GOAL_GroupSize();
}

static void end(void) { check(GOAL_Finalize() == GOAL_SUCCESS); }

/* Prepares the sums of n numbers over the ranks. */
static Operation prepare_counts(const int32_t *mine, int32_t *total, int n) {
  Operation sum = GOAL_Allreduce_init(mine, total, n, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  check(sum != NULL);
  return sum;
}

/* Prepares an alltoall of one number from each rank to each other. */
static Operation prepare_swap(const int64_t *mine, int64_t *theirs) {
  Operation swap = GOAL_Alltoall_init(mine, theirs, 1, GOAL_INT64, GOAL_COMM_WORLD);
  check(swap != NULL);
  return swap;
}

static Running start(Operation operation) {
  Running run = GOAL_Run(operation);
  check(run != GOAL_HANDLE_NULL);
  return run;
}

static void finish(Running run) { check(GOAL_Wait(run) == GOAL_SUCCESS); }

/* Sends a block of keys to each rank, and receives one from each. */
static void exchange(const int32_t *keys, const int64_t *counts, int32_t *received,
                     const int64_t *received_counts) {
  check(GOAL_Alltoallv(keys, counts, NULL, received, received_counts, NULL, GOAL_INT32,
                       GOAL_COMM_WORLD) == GOAL_SUCCESS);
}

/* Gathers n numbers of each rank, in the order of ranks. */
static void gather(const uint64_t *mine, uint64_t *all, int n) {
  check(GOAL_Allgather(mine, all, n, GOAL_UINT64, GOAL_COMM_WORLD) == GOAL_SUCCESS);
}
#endif

enum { ITERATIONS = 10 };

/* Numbers of keys, of different keys and of buckets as powers of two. */
static const struct {
  char name;
  int keys, values, buckets;
} classes[] = {{'S', 16, 11, 9}, {'W', 20, 16, 10}, {'A', 23, 19, 10}};

/* The keys of a rank, or all of them if it works alone. */
typedef struct {
  int part, parts, first, number, most, values, buckets, shift;
  int32_t *keys, *ordered, *received; /* As generated, in the order of buckets, and of all ranks. */
  int32_t *mine, *total, *places;     /* Of each bucket. */
  int64_t *counts, *received_counts;  /* Of each rank. */
  int32_t *found; /* How often each value occurs. */
  int low, high;  /* The values of the rank's buckets: from low on, below high. */
  Operation sum, swap;
} Part;

static Part make_part(int size, int part, int parts) {
  Part m;
  memset(&m, 0, sizeof m);
  int all = 1 << classes[size].keys;
  m.part = part;
  m.parts = parts;
  m.most = all;
  m.first = (int)((int64_t)all * part / parts);
  m.number = (int)((int64_t)all * (part + 1) / parts) - m.first;
  m.values = 1 << classes[size].values;
  m.buckets = 1 << classes[size].buckets;
  m.shift = classes[size].values - classes[size].buckets;
  m.keys = (int32_t *)zeroed(m.number, sizeof *m.keys);
  m.ordered = (int32_t *)zeroed(m.number, sizeof *m.keys);
  m.received = (int32_t *)zeroed(all, sizeof *m.keys);
  m.mine = (int32_t *)zeroed(m.buckets, sizeof *m.mine);
  m.total = (int32_t *)zeroed(m.buckets, sizeof *m.total);
  m.places = (int32_t *)zeroed(m.buckets, sizeof *m.places);
  m.counts = (int64_t *)zeroed(parts, sizeof *m.counts);
  m.received_counts = (int64_t *)zeroed(parts, sizeof *m.counts);
  m.found = (int32_t *)zeroed(m.values, sizeof *m.found);
  uint64_t seed = 314159265;
  leave_out(&seed, 4 * (uint64_t)m.first);
  for (int i = 0; i < m.number; i++) {
    double sum = random_number(&seed);
    sum += random_number(&seed);
    sum += random_number(&seed);
    sum += random_number(&seed);
    m.keys[i] = (int32_t)(m.values / 4 * sum);
  }
  return m;
}

/* Puts the own keys in the order of their buckets. */
static void order(Part *m) {
  for (int b = 0, place = 0; b < m->buckets; b++) {
    m->places[b] = place;
    place += m->mine[b];
  }
  for (int i = 0; i < m->number; i++) {
    m->ordered[m->places[m->keys[i] >> m->shift]++] = m->keys[i];
  }
}

/* Gives each rank buckets until it has its share of all keys so far, and counts the keys for it. */
static void share(Part *m) {
  int64_t so_far = 0;
  memset(m->counts, 0, (size_t)m->parts * sizeof *m->counts);
  m->low = m->high = 0;
  for (int b = 0, part = 0; b < m->buckets; b++) {
    m->counts[part] += m->mine[b];
    so_far += m->total[b];
    m->low += part < m->part ? 1 << m->shift : 0;
    m->high += part <= m->part ? 1 << m->shift : 0;
    part += part + 1 < m->parts && so_far * m->parts >= (int64_t)m->most * (part + 1);
  }
}

/* Sorts: found tells how often each value from low to high occurs among all keys. */
static void sort(Part *m, int iteration) {
  int is_alone = m->parts == 1;
  int64_t number = 0;
  if (m->part == 0) {
    m->keys[iteration] = iteration;
    m->keys[iteration + ITERATIONS] = m->values - iteration;
  }
  memset(m->mine, 0, (size_t)m->buckets * sizeof *m->mine);
  for (int i = 0; i < m->number; i++) {
    m->mine[m->keys[i] >> m->shift]++;
  }
  memcpy(m->total, m->mine, (size_t)m->buckets * sizeof *m->mine);
  Running sum = is_alone ? NULL : start(m->sum);
  order(m);
  if (!is_alone) {
    finish(sum);
  }
  share(m);
  if (!is_alone) {
    finish(start(m->swap));
    exchange(m->ordered, m->counts, m->received, m->received_counts);
  }
  for (int of = 0; of < m->parts; of++) {
    number += is_alone ? m->counts[of] : m->received_counts[of];
  }
  const int32_t *keys = is_alone ? m->ordered : m->received;
  memset(m->found + m->low, 0, (size_t)(m->high - m->low) * sizeof *m->found);
  for (int64_t i = 0; i < number; i++) {
    m->found[keys[i]]++;
  }
}

static void repeat(Part *m, int iterations) {
  for (int iteration = 0; iteration < iterations; iteration++) {
    sort(m, iteration % ITERATIONS + 1);
  }
}

/* Figures of the sorted keys of a rank: their number, the least, the most, their sum, and the sum
   of each times its place among them. */
enum { NUMBER, LEAST, MOST, SUM, PLACED, FIGURES };

static void summarize(const Part *m, uint64_t *figures) {
  memset(figures, 0, FIGURES * sizeof *figures);
  for (int value = m->low; value < m->high; value++) {
    for (int times = m->found[value]; times > 0; times--) {
      figures[LEAST] = figures[NUMBER] > 0 ? figures[LEAST] : (uint64_t)value;
      figures[MOST] = (uint64_t)value;
      figures[SUM] += (uint64_t)value;
      figures[PLACED] += ++figures[NUMBER] * (uint64_t)value;
    }
  }
}

/* Returns 1 if the keys of the ranks follow each other, and have the same number and the same
   checksum, of places and keys, as those of rank 0 alone, which the other ranks do not look at. */
static int is_right(const Part *m, const Part *whole) {
  uint64_t mine[FIGURES], alone[FIGURES], number = 0, most = 0, sum = 0;
  uint64_t *all = (uint64_t *)zeroed(FIGURES * (size_t)ranks, sizeof *all);
  int follow = 1;
  summarize(m, mine);
  summarize(whole, alone);
  gather(mine, all, FIGURES);
  for (const uint64_t *of = all; of < all + FIGURES * ranks; of += FIGURES) {
    follow = follow && (of[NUMBER] == 0 || most <= of[LEAST]);
    most = of[NUMBER] > 0 ? of[MOST] : most;
    sum += number * of[SUM] + of[PLACED];
    number += of[NUMBER];
  }
  free(all);
  return follow && number == (uint64_t)m->most && (rank > 0 || sum == alone[PLACED]);
}

int main(int argc, char **argv) {
  Arguments given = arguments(argc, argv);
  int size = 0, iterations = given.iterations > 0 ? given.iterations : ITERATIONS;
  while (classes[size].name != given.size) {
    size++;
  }
  begin();
  if ((1 << classes[size].keys) / ranks <= 2 * ITERATIONS) {
    fprintf(stderr, "rank %d: there are too few keys for %d ranks; start fewer\n", rank, ranks);
    return 2;
  }
  Part part = make_part(size, rank, ranks), whole = part;
  part.sum = prepare_counts(part.mine, part.total, part.buckets);
  part.swap = prepare_swap(part.counts, part.received_counts);
  repeat(&part, 1); /* Brings the keys into the caches. */
  double started = now();
  repeat(&part, iterations);
  double seconds = now() - started;
  if (rank == 0) {
    whole = make_part(size, 0, 1);
    repeat(&whole, iterations);
  }
  int is_good = is_right(&part, &whole);
  if (rank == 0) {
    const char *are = is_good ? "are sorted as alone" : "are wrong";
    printf("%d ranks: %d keys %s\n", ranks, part.most, are);
    print_time(&given, seconds, iterations);
  }
  end();
  return rank == 0 && !is_good; /* The others would end the job before rank 0 has told. */
}
