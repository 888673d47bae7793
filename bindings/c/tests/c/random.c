// Random calls from a seed: collectives and graphs on several communicators, many in flight, waited
// for in any order and way, with wrong calls between. Some graphs are linked. Every result is checked.
// RUN: build %s
// RUN: ./random 8
// RUN: goal-run -n 2 ./random 4
// RUN: goal-run -n 3 ./random 4
// RUN: goal-run -n 5 ./random-cpp 2
// RUN: goal-run -n 4 --progress thread ./random 2
// RUN: goal-run -n 4 --progress node ./random 2
// RUN: memcheck ./random 1
#include <goal.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 400, COMMS = 20, FLYING = 6, RANKS = 16, COUNT = 3000 };

/* The ranks of a communicator draw the same numbers from `common`; a rank alone from `own`. */
static uint64_t common, own;
static int failures;

static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      failures++;                                                                             \
      fprintf(stderr, "rank %d, line %d: %s; %s\n", GOAL_MyRank(), __LINE__, #condition,      \
              GOAL_Last_error());                                                             \
    }                                                                                         \
  } while (0)

static struct {
  GOAL_Comm comm;
  int size, rank;
} comms[COMMS];

/* Memory of a run: from malloc, or from GOAL_Alloc. */
typedef struct {
  uint32_t *at;
  int is_shared;
} Memory;

typedef enum { BARRIER, BCAST, ALLREDUCE, REDUCE, SCAN, ALLGATHER, ALLTOALL, SHIFT, KINDS } Kind;

typedef struct {
  Kind kind;
  int comm, count, root, step;
  Memory in, out;
  GOAL_Schedule schedule;
  GOAL_Handle handle;
  int calls, fd;
} Flying;

static Flying flying[FLYING];

static Memory memory(int words) {
  Memory made;
  made.is_shared = draw(&own, 2);
  made.at = (uint32_t *)(made.is_shared ? GOAL_Alloc(4 * words + 4) : malloc(4 * words + 4));
  if (made.at == NULL) {
    CHECK(made.at != NULL);
    exit(1);
  }
  memset(made.at, 0xee, 4 * words + 4);
  return made;
}

static void release(Memory used) {
  if (used.is_shared) {
    CHECK(GOAL_Free(used.at) == 0);
  } else {
    free(used.at);
  }
}

static uint32_t word(int step, int rank, int at) {
  return (uint32_t)step * 1000003u + (uint32_t)rank * 7919u + (uint32_t)at;
}

static uint32_t sum(int step, int ranks, int at) {
  uint32_t all = 0;
  for (int rank = 0; rank < ranks; rank++) {
    all += word(step, rank, at);
  }
  return all;
}

/* A message to the next rank, added to the own words there in pieces. */
static GOAL_Schedule shift(const Flying *f) {
  GOAL_Comm comm = comms[f->comm].comm;
  int size = comms[f->comm].size, rank = comms[f->comm].rank, bytes = 4 * f->count;
  GOAL_Graph graph = GOAL_CreateGraphOn(comm);
  GOAL_Schedule schedule;
  GOAL_Vertex recv, add, before = GOAL_INVALID_VERTEX;
  int pieces = 1 + f->root;
  CHECK(GOAL_AllocateScratchpad(graph, (size_t)bytes + 4) == 0);
  GOAL_Send(graph, f->in.at, bytes, (rank + 1) % size, 5, GOAL_USERSPACE);
  recv = GOAL_Recv(graph, GOAL_OFFSET(0), bytes, (rank + size - 1) % size, 5, GOAL_SCRATCHPAD);
  for (int piece = 0; piece < pieces; piece++) {
    int from = f->count * piece / pieces, to = f->count * (piece + 1) / pieces;
    if (from == to) {
      continue;
    }
    add = GOAL_LocalOp(graph, GOAL_OFFSET(4 * from), f->in.at + from, f->out.at + from, GOAL_ADD,
                       GOAL_UINT, 32, to - from, GOAL_SCRATCHPAD, GOAL_USERSPACE, GOAL_USERSPACE);
    CHECK(GOAL_Requires(graph, recv, add) == 0);
    if (before != GOAL_INVALID_VERTEX && draw(&own, 2)) {
      CHECK(GOAL_IRequires(graph, before, add) == 0);
    }
    before = add;
  }
  schedule = GOAL_Compile(graph);
  if (f->root % 2 == 0) {
    int linked = GOAL_Link(schedule, comm);
    CHECK(linked == 0 || linked == 1);
  }
  CHECK(GOAL_FreeGraph(graph) == 0);
  CHECK(GOAL_Requires(graph, 0, 1) == GOAL_ERR_HANDLE);
  return schedule;
}

/* Starts a call in one of its forms: as one call, or as a schedule that is then started. */
#define FORMS(name, ...)                             \
  if (is_prepared) {                                 \
    f->schedule = GOAL_##name##_init(__VA_ARGS__);   \
  } else {                                           \
    f->handle = GOAL_Ilower_##name(__VA_ARGS__);   \
  }                                                  \
  break
#define GOAL_Ilower_Barrier GOAL_Ibarrier
#define GOAL_Ilower_Bcast GOAL_Ibcast
#define GOAL_Ilower_Allreduce GOAL_Iallreduce
#define GOAL_Ilower_Reduce GOAL_Ireduce
#define GOAL_Ilower_Scan GOAL_Iscan
#define GOAL_Ilower_Allgather GOAL_Iallgather
#define GOAL_Ilower_Alltoall GOAL_Ialltoall

static void start(Flying *f, int step) {
  int k = (int)draw(&common, COMMS), kind = (int)draw(&common, KINDS);
  int count = (int)(draw(&common, 3) ? draw(&common, 40) : draw(&common, COUNT));
  int root = (int)draw(&common, RANKS), is_prepared = (int)draw(&common, 2);
  int size = comms[k].size, rank = comms[k].rank;
  GOAL_Comm comm = comms[k].comm;
  void *in, *out;
  if (comm == NULL) {
    return;
  }
  f->kind = (Kind)kind;
  f->comm = k;
  f->count = count;
  f->root = root % size;
  f->step = step;
  f->schedule = NULL;
  f->calls = 0;
  f->fd = -1;
  f->in = memory(count * size);
  f->out = memory(count * size);
  for (int at = 0; at < count * size; at++) {
    f->in.at[at] = word(step, rank, at);
  }
  in = f->in.at;
  out = f->out.at;
  switch (f->kind) {
  case BARRIER: FORMS(Barrier, comm);
  case BCAST: FORMS(Bcast, in, count, GOAL_UINT32, f->root, comm);
  case ALLREDUCE: FORMS(Allreduce, in, out, count, GOAL_UINT32, GOAL_ADD, comm);
  case REDUCE: FORMS(Reduce, in, out, count, GOAL_UINT32, GOAL_ADD, f->root, comm);
  case SCAN: FORMS(Scan, in, out, count, GOAL_UINT32, GOAL_ADD, comm);
  case ALLGATHER: FORMS(Allgather, in, out, count, GOAL_UINT32, comm);
  case ALLTOALL: FORMS(Alltoall, in, out, count, GOAL_UINT32, comm);
  case SHIFT: is_prepared = 1; f->schedule = shift(f); break;
  case KINDS: break;
  }
  if (is_prepared) {
    CHECK(f->schedule != NULL);
    f->handle = GOAL_Run(f->schedule);
  }
  CHECK(f->handle != GOAL_HANDLE_NULL);
}

static void note(GOAL_Handle handle, void *arg) {
  CHECK(GOAL_Test(handle) == 1);
  __atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
}

/* The word of the result at a place, and whether this rank has a result there. */
static int expected(const Flying *f, int at, uint32_t *result) {
  int size = comms[f->comm].size, rank = comms[f->comm].rank, step = f->step;
  int block = f->count > 0 ? at / f->count : 0, within = f->count > 0 ? at % f->count : 0;
  switch (f->kind) {
  case BCAST: *result = word(step, f->root, at); return at < f->count;
  case ALLREDUCE: *result = sum(step, size, at); return at < f->count;
  case REDUCE: *result = sum(step, size, at); return at < f->count && rank == f->root;
  case SCAN: *result = sum(step, rank + 1, at); return at < f->count;
  case ALLGATHER: *result = word(step, block, within); return 1;
  case ALLTOALL: *result = word(step, block, rank * f->count + within); return 1;
  case SHIFT:
    *result = word(step, rank, at) + word(step, (rank + size - 1) % size, at);
    return at < f->count;
  case BARRIER:
  case KINDS: break;
  }
  return 0;
}

/* Waits for a run in one of the ways, checks its result and frees what it used. */
static void end(Flying *f) {
  GOAL_Handle pair[3];
  int index = 7, words = f->count * comms[f->comm].size, wrong = 0;
  uint32_t *result = f->kind == BCAST ? f->in.at : f->out.at;
  pair[0] = GOAL_HANDLE_NULL;
  pair[1] = f->handle;
  pair[2] = f->handle;
  switch (draw(&own, 7)) {
  case 0: CHECK(GOAL_Wait(f->handle) == 0); break;
  case 1: CHECK(GOAL_Waitall(3, pair) == 0); break;
  case 2: CHECK(GOAL_Waitany(2, pair, &index) == 0 && index == 1); break;
  case 3:
    while (GOAL_Test(f->handle) == 0) {
    }
    break;
  case 4:
    while (GOAL_Testany(2, pair, &index) == 0) {
    }
    CHECK(index == 1 && pair[1] == GOAL_HANDLE_NULL);
    break;
  case 5:
    CHECK(GOAL_On_end(f->handle, note, &f->calls) == 0);
    CHECK(GOAL_Wait(f->handle) == 0);
    /* Another thread may be about to call it. */
    while (__atomic_load_n(&f->calls, __ATOMIC_SEQ_CST) == 0) {
      poll(NULL, 0, 1);
    }
    break;
  case 6: {
    struct pollfd ready;
    ready.fd = GOAL_Eventfd(f->handle);
    ready.events = POLLIN;
    CHECK(ready.fd >= 0);
    CHECK(poll(&ready, 1, 30000) == 1);
    CHECK(close(ready.fd) == 0);
    break;
  }
  }
  CHECK(GOAL_Test(f->handle) == 1);
  for (int at = 0; at < words; at++) {
    uint32_t right;
    if (expected(f, at, &right)) {
      wrong += result[at] != right;
    }
  }
  wrong += f->out.at[words] != 0xeeeeeeeeu || f->in.at[words] != 0xeeeeeeeeu;
  if (wrong > 0) {
    fprintf(stderr, "kind %d, %d words, %d ranks, step %d: ", f->kind, f->count,
            comms[f->comm].size, f->step);
    CHECK(wrong == 0);
  }
  if (f->schedule != NULL) {
    GOAL_Schedule freed = f->schedule;
    CHECK(GOAL_FreeSchedule(f->schedule) == 0);
    CHECK(GOAL_Run(freed) == GOAL_HANDLE_NULL && GOAL_Last_error_code() == GOAL_ERR_HANDLE);
  }
  release(f->in);
  release(f->out);
  CHECK(GOAL_Test(f->handle) == 1);
  f->handle = GOAL_HANDLE_NULL;
}

/* A call with arguments of no sense. It is refused, or has no effect on others. */
static void misuse(void) {
  uintptr_t number = ((uintptr_t)draw(&own, 1u << 16) << 48) ^ draw(&own, 1u << 31) ^
                     (draw(&own, 2) ? (uintptr_t)comms[draw(&own, COMMS)].comm : 0);
  int any = (int)draw(&own, 1u << 31) - (1 << 30), index;
  char bytes[64];
  GOAL_Graph graph;
  memset(bytes, (int)draw(&own, 256), sizeof bytes);
  switch (draw(&own, 8)) {
  case 0: CHECK(GOAL_FreeGraph((GOAL_Graph)(number | 2)) == GOAL_ERR_HANDLE); break;
  case 1: CHECK(GOAL_Run((GOAL_Schedule)(number | 2)) == GOAL_HANDLE_NULL); break;
  case 2: GOAL_Test((GOAL_Handle)(number | (uintptr_t)1 << 62)); break;
  case 3: CHECK(GOAL_Comm_create(GOAL_COMM_WORLD, &any, any < 0 ? any : 0) == NULL); break;
  case 4: CHECK(GOAL_LoadMemory(bytes, sizeof bytes, GOAL_COMM_WORLD, NULL, 0) == NULL); break;
  case 5: CHECK(GOAL_Waitany(-1, NULL, &index) < 0); break;
  case 6:
    graph = GOAL_CreateGraph();
    GOAL_Send(graph, bytes, any, any, any, (GOAL_MemType)any);
    GOAL_Requires(graph, any, (GOAL_Vertex)any * any);
    GOAL_LocalOp(graph, bytes, bytes, bytes, (GOAL_Op)(any & 15), (GOAL_DataType)(any >> 4 & 3),
                 8 << (any >> 6 & 3), any >> 8 & 3, GOAL_USERSPACE, GOAL_USERSPACE, GOAL_USERSPACE);
    GOAL_FreeSchedule(GOAL_Compile(graph));
    CHECK(GOAL_FreeGraph(graph) == 0);
    break;
  case 7: CHECK(GOAL_Free((void *)number) < 0 || number == 0); break;
  }
}

static void make_comms(void) {
  int world = GOAL_GroupSize();
  comms[0].comm = GOAL_COMM_WORLD;
  for (int k = 1; k < COMMS; k++) {
    int ranks[RANKS], n = 0, is_member = 0;
    for (int rank = 0; rank < world; rank++) {
      if (draw(&common, 3) > 0) {
        ranks[n++] = rank;
        is_member |= rank == GOAL_MyRank();
      }
    }
    for (int at = n - 1; at > 0; at--) {
      int other = (int)draw(&common, (uint32_t)at + 1), kept = ranks[at];
      ranks[at] = ranks[other];
      ranks[other] = kept;
    }
    comms[k].comm = is_member ? GOAL_Comm_create(GOAL_COMM_WORLD, ranks, n) : NULL;
    CHECK(!is_member || comms[k].comm != NULL);
  }
  for (int k = 0; k < COMMS; k++) {
    comms[k].size = comms[k].comm != NULL ? GOAL_Comm_size(comms[k].comm) : 1;
    comms[k].rank = comms[k].comm != NULL ? GOAL_Comm_rank(comms[k].comm) : 0;
  }
}

static void once(uint64_t seed) {
  GOAL_Progress mode = (GOAL_Progress)GOAL_Get_progress();
  common = seed * 977;
  own = seed * 31 + (uint64_t)GOAL_MyRank();
  make_comms();
  for (int step = 0; step < STEPS; step++) {
    Flying *f = &flying[draw(&own, FLYING)];
    if (f->handle != GOAL_HANDLE_NULL) {
      end(f);
    }
    start(f, step);
    while (draw(&own, 3) == 0) {
      misuse();
    }
    if (mode != GOAL_PROGRESS_NODE && draw(&own, 20) == 0) {
      mode = mode == GOAL_PROGRESS_CALLER ? GOAL_PROGRESS_THREAD : GOAL_PROGRESS_CALLER;
      CHECK(GOAL_Set_progress(mode) == 0);
    }
  }
  for (int at = 0; at < FLYING; at++) {
    if (flying[at].handle != GOAL_HANDLE_NULL) {
      end(&flying[at]);
    }
  }
  for (int k = 1; k < COMMS; k++) {
    CHECK(comms[k].comm == NULL || GOAL_Comm_free(comms[k].comm) == 0);
  }
}

/* The arguments are the number of seeds, and the first one. */
int main(int argc, char **argv) {
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  int seeds = argc > 1 ? atoi(argv[1]) : 1;
  if (GOAL_Init() != 0) {
    fprintf(stderr, "%s\n", GOAL_Last_error());
    return 1;
  }
  for (int at = 0; at < seeds; at++) {
    once(first + (uint64_t)at);
  }
  if (GOAL_MyRank() == 0) {
    printf("%d seeds, %d failures\n", seeds, failures);
  }
  return GOAL_Finalize() != 0 || failures != 0;
}
