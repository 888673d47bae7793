// Collectives with blocks of different sizes at places of their own, in their three forms, in place
// and not, for every root, on all ranks and on some. Each element of each output is checked, also
// those in gaps between blocks.
// RUN: build %s
// RUN: ./lists
// RUN: goal-run -n 2 ./lists
// RUN: goal-run -n 3 ./lists-cpp
// RUN: goal-run -n 4 ./lists
// RUN: goal-run -n 5 ./lists
// RUN: memcheck ./lists
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 8, SPACE = 64, NONE = -7 };

static GOAL_Comm comm;
static int rank, size, root, checks, wrong, form, in_place;
static int in[SPACE], out[SPACE], want[SPACE];
static int64_t counts[RANKS_MAX], places[RANKS_MAX], sent[RANKS_MAX], from_places[RANKS_MAX];

/* The elements of a rank's block: 2, 0, 3, 1, 2, ... */
static int64_t count_of(int r) {
  static const int64_t all[4] = {2, 0, 3, 1};
  return all[r % 4];
}

/* The elements from one rank to another one. In place both send each other the same number. */
static int64_t count_between(int from, int to) {
  return in_place ? (from + to) % 3 : (from + 2 * to + 1) % 3;
}

static int value(int of, int block, int i) {
  return 100 * of + 10 * block + i + 1;
}

/* Places in the order of ranks backwards, with a gap in front of each. They differ by rank. */
static void spread(const int64_t *of, int64_t *at) {
  int64_t next = rank % 2;
  for (int r = size - 1; r >= 0; r--) {
    next++;
    /* The place of a block without elements counts for nothing. */
    at[r] = of[r] == 0 ? INT64_MIN : next;
    next += of[r];
  }
}

static void clear(void) {
  for (int i = 0; i < SPACE; i++) {
    in[i] = out[i] = want[i] = NONE;
  }
}

static void check(const char *what) {
  for (int i = 0; i < SPACE; i++) {
    checks++;
    if (out[i] != want[i] && wrong++ < 10) {
      printf("rank %d of %d: %s in form %d, in place %d, root %d: out[%d] is %d, not %d\n", rank, size,
             what, form, in_place, root, i, out[i], want[i]);
    }
  }
}

static void done(const char *what, int code) {
  if (code != 0) {
    printf("%s: %s\n", what, GOAL_Last_error());
    exit(1);
  }
}

static int run(GOAL_Schedule schedule) {
  int code = schedule == NULL ? -1 : GOAL_Sched_run(schedule);
  return code != 0 ? code : GOAL_FreeSchedule(schedule);
}

/* A collective in the form that is tested. */
#define CALL(name, start, arguments)                                           \
  done(#name, form == 0   ? GOAL_##name arguments                              \
              : form == 1 ? GOAL_Wait(GOAL_I##start arguments)                 \
                          : run(GOAL_##name##_init arguments))

/* Sets the own block of a gather in `in` or, in place, in `out`, and what is wanted of all. */
static void prepare_gather(int has_output, const int64_t *at) {
  clear();
  for (int i = 0; i < count_of(rank); i++) {
    in[i] = value(rank, 0, i);
    if (has_output && in_place) {
      out[at[rank] + i] = in[i];
    }
  }
  for (int r = 0; has_output && r < size; r++) {
    for (int i = 0; i < count_of(r); i++) {
      want[at[r] + i] = value(r, 0, i);
    }
  }
}

static void gathers(void) {
  int is_root = rank == root;
  int64_t packed[RANKS_MAX], next = 0;
  void *given;
  spread(counts, places);
  prepare_gather(is_root, places);
  given = in_place && is_root ? GOAL_IN_PLACE : in;
  CALL(Gatherv, gatherv, (given, count_of(rank), is_root ? out : NULL, is_root ? counts : NULL,
                          is_root ? places : NULL, GOAL_INT32, root, comm));
  check("gatherv");

  prepare_gather(1, places);
  given = in_place ? GOAL_IN_PLACE : in;
  CALL(Allgatherv, allgatherv, (given, count_of(rank), out, counts, places, GOAL_INT32, comm));
  check("allgatherv");

  for (int r = 0; r < size; r++) {
    packed[r] = next;
    next += counts[r];
  }
  prepare_gather(1, packed);
  CALL(Allgatherv, allgatherv, (given, count_of(rank), out, counts, NULL, GOAL_INT32, comm));
  check("allgatherv without displacements");
}

static void scatter(void) {
  int is_root = rank == root;
  void *given = in_place && is_root ? GOAL_IN_PLACE : out;
  clear();
  spread(counts, places);
  for (int r = 0; is_root && r < size; r++) {
    for (int i = 0; i < counts[r]; i++) {
      in[places[r] + i] = value(root, r, i);
    }
  }
  for (int i = 0; given == out && i < count_of(rank); i++) {
    want[i] = value(root, rank, i);
  }
  CALL(Scatterv, scatterv, (is_root ? in : NULL, is_root ? counts : NULL, is_root ? places : NULL,
                            given, count_of(rank), GOAL_INT32, root, comm));
  check("scatterv");
}

static void alltoall(void) {
  int64_t got[RANKS_MAX];
  clear();
  for (int r = 0; r < size; r++) {
    sent[r] = count_between(rank, r);
    got[r] = count_between(r, rank);
  }
  spread(sent, from_places);
  spread(got, places);
  for (int r = 0; r < size; r++) {
    for (int i = 0; i < sent[r]; i++) {
      (in_place ? out : in)[from_places[r] + i] = value(rank, r, i);
    }
    for (int i = 0; i < got[r]; i++) {
      want[places[r] + i] = value(r, rank, i);
    }
  }
  if (in_place) {
    CALL(Alltoallv, alltoallv, (GOAL_IN_PLACE, NULL, NULL, out, got, places, GOAL_INT32, comm));
  } else {
    CALL(Alltoallv, alltoallv, (in, sent, from_places, out, got, places, GOAL_INT32, comm));
  }
  check("alltoallv");
}

static void reduce_scatter(void) {
  int at = 0;
  clear();
  for (int block = 0; block < size; block++) {
    for (int i = 0; i < counts[block]; i++, at++) {
      in[at] = value(rank, block, i);
    }
  }
  for (int i = 0; i < count_of(rank); i++) {
    want[i] = 0;
    for (int r = 0; r < size; r++) {
      want[i] += value(r, rank, i);
    }
  }
  if (in_place) {
    memcpy(out, in, sizeof in);
    /* The rest of the input may be anything afterwards. */
  }
  CALL(Reduce_scatter, reduce_scatter,
       (in_place ? GOAL_IN_PLACE : in, out, counts, GOAL_INT32, GOAL_ADD, comm));
  for (int i = (int)count_of(rank); in_place && i < at; i++) {
    out[i] = NONE;
  }
  check("reduce_scatter");
}

/* Nobody has anything. */
static void nothing(void) {
  int64_t zeros[RANKS_MAX] = {0};
  clear();
  CALL(Gatherv, gatherv, (NULL, 0, NULL, zeros, NULL, GOAL_INT32, root, comm));
  CALL(Scatterv, scatterv, (NULL, zeros, zeros, NULL, 0, GOAL_INT32, root, comm));
  CALL(Allgatherv, allgatherv, (NULL, 0, NULL, zeros, NULL, GOAL_INT32, comm));
  CALL(Alltoallv, alltoallv, (NULL, zeros, NULL, NULL, zeros, NULL, GOAL_INT32, comm));
  CALL(Reduce_scatter, reduce_scatter, (NULL, NULL, zeros, GOAL_INT32, GOAL_ADD, comm));
}

/* One schedule on other buffers, and lists that the caller changes after the call. */
static void again(void) {
  GOAL_Schedule schedule;
  void *buffers[2];
  spread(counts, places);
  prepare_gather(1, places);
  schedule = GOAL_Allgatherv_init(NULL, count_of(rank), NULL, counts, places, GOAL_INT32, comm);
  memset(places, 0, sizeof places);
  for (int time = 0; time < 2; time++) {
    for (int i = 0; i < SPACE; i++) {
      out[i] = NONE;
    }
    buffers[0] = in;
    buffers[1] = out;
    done("RunOn", GOAL_Wait(GOAL_RunOn(schedule, buffers, 2)));
    check("allgatherv on other buffers");
  }
  done("FreeSchedule", GOAL_FreeSchedule(schedule));
}

int main(void) {
  int list[RANKS_MAX], n = 0, world;
  if (GOAL_Init() != 0) {
    return 1;
  }
  world = GOAL_GroupSize();
  /* The second communicator has the ranks in the other order, without the last one. */
  for (int r = world - 1; r >= 0; r--) {
    if (r != world - 1 || world == 1) {
      list[n++] = r;
    }
  }
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1 && world > 1 && GOAL_MyRank() == world - 1) {
      break;
    }
    comm = pass == 0 ? GOAL_COMM_WORLD : GOAL_Comm_create(GOAL_COMM_WORLD, list, n);
    rank = GOAL_Comm_rank(comm);
    size = GOAL_Comm_size(comm);
    for (int r = 0; r < size; r++) {
      counts[r] = count_of(r);
    }
    for (form = 0; form < 3; form++) {
      for (in_place = 0; in_place < 2; in_place++) {
        for (root = 0; root < size; root++) {
          gathers();
          scatter();
        }
        root = 0;
        for (int twice = 0; twice < 2; twice++) {
          alltoall();
          reduce_scatter();
        }
        nothing();
      }
      in_place = 0;
      again();
    }
    if (pass == 1) {
      GOAL_Comm_free(comm);
    }
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  GOAL_Allreduce(GOAL_IN_PLACE, &checks, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (GOAL_MyRank() == 0) {
    printf("%d ranks: %d of %d elements are wrong\n", world, wrong, checks);
  }
  return GOAL_Finalize() != 0;
}
