// Every collective in its three forms, in place and not, on all ranks and on some, each result
// checked element by element.
// RUN: build %s
// RUN: ./collectives
// RUN: goal-run -n 4 ./collectives
// RUN: goal-run -n 3 ./collectives-cpp
// RUN: memcheck ./collectives
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5, RANKS_MAX = 8, ROOT_FROM_END = 1 };

static GOAL_Comm comm;
static int rank, size, root, checks, wrong, form, in_place;
static int in[COUNT * RANKS_MAX], out[COUNT * RANKS_MAX];

/* The input of a rank: element i of its block for another rank. */
static int value(int of, int block, int i) {
  return 100 * of + 10 * block + i + 1;
}

static void prepare(int blocks) {
  for (int block = 0; block < blocks; block++) {
    for (int i = 0; i < COUNT; i++) {
      in[block * COUNT + i] = value(rank, block, i);
    }
  }
  memset(out, 0, sizeof out);
}

static void check(const char *what, int at, int want) {
  checks++;
  if (out[at] != want) {
    if (wrong++ < 10) {
      printf("rank %d of %d: %s in form %d, place %d: out[%d] is %d, not %d\n", rank, size, what, form,
             in_place, at, out[at], want);
    }
  }
}

static int sum(int ranks, int block, int i) {
  int all = 0;
  for (int r = 0; r < ranks; r++) {
    all += value(r, block, i);
  }
  return all;
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

static void all(void) {
  int i, r, is_root = rank == root;
  void *given;
  CALL(Barrier, barrier, (comm));

  prepare(1);
  if (is_root) {
    memcpy(out, in, sizeof in);
  }
  CALL(Bcast, bcast, (out, COUNT, GOAL_INT32, root, comm));
  for (i = 0; i < COUNT; i++) {
    check("bcast", i, value(root, 0, i));
  }

  prepare(1);
  given = in_place && is_root ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Reduce, reduce, (given, is_root ? out : NULL, COUNT, GOAL_INT32, GOAL_ADD, root, comm));
  for (i = 0; is_root && i < COUNT; i++) {
    check("reduce", i, sum(size, 0, i));
  }

  prepare(1);
  given = in_place ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Allreduce, allreduce, (given, out, COUNT, GOAL_INT32, GOAL_ADD, comm));
  for (i = 0; i < COUNT; i++) {
    check("allreduce", i, sum(size, 0, i));
  }

  prepare(1);
  given = in_place && is_root ? memcpy(out + rank * COUNT, in, COUNT * sizeof(int)), GOAL_IN_PLACE : in;
  CALL(Gather, gather, (given, is_root ? out : NULL, COUNT, GOAL_INT32, root, comm));
  for (i = 0; is_root && i < COUNT * size; i++) {
    check("gather", i, value(i / COUNT, 0, i % COUNT));
  }

  prepare(1);
  given = in_place ? memcpy(out + rank * COUNT, in, COUNT * sizeof(int)), GOAL_IN_PLACE : in;
  CALL(Allgather, allgather, (given, out, COUNT, GOAL_INT32, comm));
  for (i = 0; i < COUNT * size; i++) {
    check("allgather", i, value(i / COUNT, 0, i % COUNT));
  }

  prepare(size);
  given = in_place && is_root ? GOAL_IN_PLACE : out;
  CALL(Scatter, scatter, (is_root ? in : NULL, given, COUNT, GOAL_INT32, root, comm));
  for (i = 0; given == out && i < COUNT; i++) {
    check("scatter", i, value(root, rank, i));
  }

  prepare(size);
  given = in_place ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Alltoall, alltoall, (given, out, COUNT, GOAL_INT32, comm));
  for (r = 0; r < size; r++) {
    for (i = 0; i < COUNT; i++) {
      check("alltoall", r * COUNT + i, value(r, rank, i));
    }
  }

  prepare(size);
  given = in_place ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Reduce_scatter_block, reduce_scatter_block, (given, out, COUNT, GOAL_INT32, GOAL_ADD, comm));
  for (i = 0; i < COUNT; i++) {
    check("reduce_scatter_block", i, sum(size, rank, i));
  }

  prepare(1);
  given = in_place ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Scan, scan, (given, out, COUNT, GOAL_INT32, GOAL_ADD, comm));
  for (i = 0; i < COUNT; i++) {
    check("scan", i, sum(rank + 1, 0, i));
  }

  prepare(1);
  given = in_place ? memcpy(out, in, sizeof in), GOAL_IN_PLACE : in;
  CALL(Exscan, exscan, (given, out, COUNT, GOAL_INT32, GOAL_ADD, comm));
  for (i = 0; rank > 0 && i < COUNT; i++) {
    check("exscan", i, sum(rank, 0, i));
  }
}

/* buf2 = buf1 then buf2, as digits: associative, and does not commute. */
static void then(void *buf1, size_t s1, void *buf2, size_t s2) {
  (void)s1;
  for (size_t at = 0; at + 16 <= s2; at += 16) {
    char joined[32] = "";
    strncpy(joined, (char *)buf1 + at, 15);
    strncat(joined, (char *)buf2 + at, 15);
    memcpy((char *)buf2 + at, joined, 16);
  }
}

static void by_function(void) {
  char own[16] = "", joined[16] = "", want[16] = "";
  int fid = GOAL_Reg_func(NULL, then);
  own[0] = (char)('a' + rank);
  for (int r = 0; r < size; r++) {
    want[r] = (char)('a' + r);
  }
  done("allreduce", GOAL_Allreduce(own, joined, 16, GOAL_UINT8, GOAL_USER_OP(fid), comm));
  checks++;
  if (strcmp(joined, want) != 0) {
    printf("rank %d: %s, not %s\n", rank, joined, want);
    wrong++;
  }
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
    root = size - ROOT_FROM_END;
    for (form = 0; form < 3; form++) {
      for (in_place = 0; in_place < 2; in_place++) {
        for (int twice = 0; twice < 2; twice++) {
          all();
        }
      }
    }
    by_function();
    if (pass == 1) {
      GOAL_Comm_free(comm);
    }
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  GOAL_Allreduce(GOAL_IN_PLACE, &checks, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (GOAL_MyRank() == 0) {
    printf("%d ranks: %d of %d results are wrong\n", world, wrong, checks);
  }
  return GOAL_Finalize() != 0;
}
