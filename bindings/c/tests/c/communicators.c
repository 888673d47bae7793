// Short collectives are linked on communicators of any ranks in any order. The communicators overlap,
// are more than there are boards for, are made and freed over and over, or are made after a loss.
// RUN: build %s
// RUN: goal-run -n 5 --timeout 120 ./communicators overlap
// RUN: goal-run -n 5 --timeout 120 --no-links ./communicators overlap
// RUN: goal-run -n 5 --timeout 120 --wait block ./communicators-cpp overlap
// RUN: goal-run -n 3 --timeout 120 --progress thread ./communicators overlap
// RUN: goal-run -n 4 --timeout 120 ./communicators again
// RUN: goal-run -n 3 --timeout 120 --wait block ./communicators again
// RUN: goal-run -n 4 --timeout 120 ./communicators many
// RUN: goal-run -n 3 --timeout 120 ./communicators ahead
// RUN: goal-run -n 2 --timeout 120 ./communicators grow
// RUN: goal-run -n 5 --timeout 120 --survive ./communicators loss 2>/dev/null
// RUN: echo linked:
// RUN: for how in overlap again; do
// RUN:   goal-run -n 5 --timeout 120 ./communicators $how differ 2>&1 | grep -o 'rank 4 called bcast.*' | sort -u
// RUN: done
// RUN: goal-run -n 2 --timeout 120 ./communicators grow differ 2>&1 | grep -o 'rank 2 called bcast.*' | sort -u
// RUN: goal-run -n 5 --timeout 120 --survive ./communicators loss differ 2>&1 | grep -o 'rank 4 called bcast.*' | sort -u
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <goal.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 8, COUNT = 3, ROUNDS = 40, MANY = 40, OPEN = 4 };

static int failed;

static void check(int is_right, const char *what) {
  if (!is_right) {
    printf("rank %d: %s (%s)\n", GOAL_MyRank(), what, GOAL_Last_error());
    fflush(stdout);
    failed++;
  }
}

/* A communicator of some ranks of another one, on the ranks that belong to it. */
struct comm {
  GOAL_Comm comm;
  int rank, size;
};

static struct comm make(GOAL_Comm parent, const int *ranks, int size) {
  struct comm made = {NULL, -1, size};
  int at;
  for (at = 0; at < size; at++)
    if (ranks[at] == GOAL_Comm_rank(parent)) made.rank = at;
  if (made.rank >= 0) {
    made.comm = GOAL_Comm_create(parent, ranks, size);
    check(made.comm != NULL, "GOAL_Comm_create");
  }
  return made;
}

static void release(struct comm *comm) {
  if (comm->comm != NULL) check(GOAL_Comm_free(comm->comm) == 0, "GOAL_Comm_free");
  comm->comm = NULL;
}

static int64_t value(int step, int rank, int at) { return (int64_t)step * 1000003 + rank * 7919 + at; }

static int64_t sum(int step, int size, int at) {
  int64_t all = 0;
  int rank;
  for (rank = 0; rank < size; rank++) all += value(step, rank, at);
  return all;
}

/* Starts an allreduce and a bcast as calls, and an allgather as a schedule, and checks all results. */
static void exchange(const struct comm *c, int step) {
  int64_t in[COUNT], out[OPEN][COUNT], all[COUNT * RANKS], sent[COUNT];
  GOAL_Handle runs[OPEN + 2];
  GOAL_Schedule gather;
  int at, open, root = step % c->size;
  if (c->comm == NULL) return;
  for (at = 0; at < COUNT; at++) {
    in[at] = value(step, c->rank, at);
    sent[at] = c->rank == root ? value(step, root, at) : -1;
  }
  check(GOAL_Barrier(c->comm) == 0, "a barrier");
  for (open = 0; open < OPEN; open++)
    runs[open] = GOAL_Iallreduce(in, out[open], COUNT, GOAL_INT64, GOAL_ADD, c->comm);
  runs[OPEN] = GOAL_Ibcast(sent, COUNT, GOAL_INT64, root, c->comm);
  gather = GOAL_Allgather_init(in, all, COUNT, GOAL_INT64, c->comm);
  runs[OPEN + 1] = GOAL_Run(gather);
  check(GOAL_Waitall(OPEN + 2, runs) == 0, "the runs of a communicator");
  check(GOAL_Wait(GOAL_Run(gather)) == 0, "a run again");
  check(GOAL_FreeSchedule(gather) == 0, "GOAL_FreeSchedule");
  for (at = 0; at < COUNT; at++) {
    for (open = 0; open < OPEN; open++) check(out[open][at] == sum(step, c->size, at), "a sum");
    check(sent[at] == value(step, root, at), "a bcast");
  }
  for (at = 0; at < COUNT * c->size; at++)
    check(all[at] == value(step, at / COUNT, at % COUNT), "a block of an allgather");
}

/* Communicators of three and four ranks, of neighbours, and of all ranks in two orders. */
static int make_all(GOAL_Comm parent, struct comm *made) {
  int size = GOAL_Comm_size(parent), ranks[2 * RANKS], at, few, number = 0;
  for (at = 0; at < 2 * size; at++) ranks[at] = at % size;
  for (few = 2; few <= 4 && few <= size; few++)
    for (at = 0; at < size && few < size; at++) made[number++] = make(parent, ranks + at, few);
  made[number++] = make(parent, ranks, size);
  for (at = 0; at < size; at++) ranks[at] = size - 1 - at;
  made[number++] = make(parent, ranks, size);
  return number;
}

/* Rank `odd` calls another collective than the others on `comm`. Its call need not wait. */
static int differ(GOAL_Comm comm, GOAL_Comm all, int odd) {
  int64_t in[COUNT] = {0}, out[COUNT];
  if (comm != NULL && GOAL_MyRank() == odd) {
    if (GOAL_Bcast(in, COUNT, GOAL_INT64, GOAL_Comm_rank(comm), comm) != 0) puts(GOAL_Last_error());
  } else if (comm != NULL) {
    GOAL_Allreduce(in, out, COUNT, GOAL_INT64, GOAL_ADD, comm);
  }
  GOAL_Barrier(all);
  return 1;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "overlap";
  int differs = argc > 2, step = 0, round, at, size, number;
  const int reversed[3] = {4, 2, 0};
  struct comm made[MANY];
  GOAL_Comm all = GOAL_COMM_WORLD;
  if (GOAL_Init() != 0) return puts(GOAL_Last_error()), 1;
  size = GOAL_GroupSize();
  if (strcmp(how, "grow") == 0) {
    /* The new rank begins here, too. */
    if (GOAL_Comm_size(all) < 3) all = GOAL_Spawn(NULL, NULL, 1, 0, all);
    if (all == NULL) return puts(GOAL_Last_error()), 1;
  }
  if (strcmp(how, "loss") == 0) {
    const int pair[2] = {0, 1};
    struct comm old[MANY], lost;
    number = make_all(all, old);
    for (at = 0; at < number; at++) exchange(&old[at], step++);
    /* One rank has made this communicator when the others learn of the loss. */
    if (GOAL_MyRank() == 0) check(GOAL_Comm_create(all, pair, 2) != NULL, "GOAL_Comm_create");
    lost = make(all, reversed, 3);
    /* Nobody is in an exchange any more when the rank is lost. */
    while (GOAL_Barrier(all) == 0)
      if (GOAL_MyRank() == 3) raise(SIGKILL);
    check(GOAL_Last_error_code() == GOAL_ERR_RANK_LOST, "another error than the loss");
    all = GOAL_Comm_shrink(all);
    check(all != NULL, "GOAL_Comm_shrink");
    /* Communicators without the lost rank go on, in the engine. */
    exchange(&lost, 7);
    made[0] = make(all, pair, 2);
    exchange(&made[0], 8);
    release(&made[0]);
    for (at = 0; at < number; at++) release(&old[at]);
    release(&lost);
  }
  if (strcmp(how, "ahead") == 0) {
    /* The root of a bcast frees the communicator while the others have not begun. */
    for (round = 0; round < ROUNDS; round++) {
      const int ranks[3] = {2, 0, 1};
      int64_t sent[COUNT] = {round, -round, 7};
      made[0] = make(all, ranks, 3);
      if (GOAL_MyRank() != 2) memset(sent, 0, sizeof sent);
      if (GOAL_MyRank() == round % 2 && round % 5 == 0) usleep(3000);
      for (at = 0; at < 10; at++)
        check(GOAL_Bcast(sent, COUNT, GOAL_INT64, 0, made[0].comm) == 0, "a bcast");
      check(sent[0] == round && sent[1] == -round && sent[2] == 7, "what was sent");
      release(&made[0]);
    }
  } else if (strcmp(how, "many") == 0) {
    /* More communicators than there are boards for. */
    for (round = 0; round < 3; round++) {
      const int ranks[4] = {3, 0, 2, 1};
      for (at = 0; at < MANY; at++) made[at] = make(all, ranks, 4);
      for (at = 0; at < MANY; at++) exchange(&made[at], step++);
      for (at = MANY; at-- > 0;) exchange(&made[at], step++);
      for (at = 0; at < MANY; at++) release(&made[(at + GOAL_MyRank()) % MANY]);
    }
  } else {
    int rounds = strcmp(how, "again") == 0 ? ROUNDS : 2, kept;
    for (round = 0; round < rounds; round++) {
      number = make_all(all, made);
      for (kept = 0; kept < 2; kept++)
        for (at = 0; at < number; at++) exchange(&made[at], step++);
      for (at = 0; at < number; at++) release(&made[at]);
    }
  }
  if (differs) {
    int last = strcmp(how, "grow") == 0 ? 2 : 4;
    /* After the loss of rank 3, rank 4 has another number. */
    const int left[3] = {3, 2, 0}, grown[2] = {2, 0};
    const int *ranks = strcmp(how, "loss") == 0 ? left : last == 2 ? grown : reversed;
    /* All ranks have freed the others, so there are boards for this one. */
    check(GOAL_Barrier(all) == 0, "the last barrier");
    made[0] = make(all, ranks, last == 2 ? 2 : 3);
    return differ(made[0].comm, all, last);
  }
  check(GOAL_Allreduce(&failed, &at, 1, GOAL_INT32, GOAL_ADD, all) == 0, "the last sum");
  if (GOAL_Comm_rank(all) == 0) printf("%s on %d ranks: %d failed\n", how, size, at);
  return GOAL_Finalize() != 0 || at;
}
