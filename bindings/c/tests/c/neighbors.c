// Collectives of neighbours in graphs: rings, edges of a rank to itself, several edges between the
// same ranks, and ranks without neighbours. Each in its three forms, on all ranks and on some.
// RUN: build %s
// RUN: ./neighbors
// RUN: goal-run -n 2 ./neighbors
// RUN: goal-run -n 3 ./neighbors-cpp
// RUN: goal-run -n 4 ./neighbors
// RUN: goal-run -n 5 ./neighbors
// RUN: memcheck ./neighbors
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS_MAX = 8, EDGES_MAX = 64, SPACE = 512, NONE = -7, GRAPHS = 4 };

static GOAL_Comm comm;
static int rank, size, checks, wrong, form, graph;
static int in[SPACE], out[SPACE], want[SPACE];

/*
 * The edges of all ranks, in an order that all know: the n-th edge from a rank to another one is the
 * n-th of both.
 */
static int edges, edge_from[EDGES_MAX], edge_to[EDGES_MAX];
/* The own ones, as numbers of edges. */
static int indegree, outdegree, sources[EDGES_MAX], destinations[EDGES_MAX];
static int incoming[EDGES_MAX], outgoing[EDGES_MAX];

static void edge(int from, int to) {
  edge_from[edges] = from;
  edge_to[edges++] = to;
}

static void draw(void) {
  edges = 0;
  for (int r = 0; r < size; r++) {
    switch (graph) {
    case 0: /* a ring, both ways: of two ranks, two edges each way */
      edge(r, (r + 1) % size);
      edge(r, (r + size - 1) % size);
      break;
    case 1: /* each to itself twice, and to rank 0 three times */
      edge(r, r);
      edge(r, 0);
      edge(r, r);
      edge(r, 0);
      edge(r, 0);
      break;
    case 2: /* rank 0 to all others; nobody else has a destination */
      if (r > 0) {
        edge(0, r);
      }
      break;
    default: /* every rank to every rank */
      for (int to = 0; to < size; to++) {
        edge(r, to);
      }
    }
  }
  indegree = outdegree = 0;
  for (int e = 0; e < edges; e++) {
    if (edge_from[e] == rank) {
      outgoing[outdegree] = e;
      destinations[outdegree++] = edge_to[e];
    }
    if (edge_to[e] == rank) {
      incoming[indegree] = e;
      sources[indegree++] = edge_from[e];
    }
  }
}

/* The elements of an edge in an alltoallv, and of a rank's block in an allgatherv. */
static int64_t count_of(int e) {
  static const int64_t all[5] = {2, 0, 3, 1, 4};
  return all[e % 5];
}

static int value(int block, int i) {
  return 10 * block + i + 1;
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
      printf("rank %d of %d: %s in form %d, graph %d: out[%d] is %d, not %d\n", rank, size, what, form,
             graph, i, out[i], want[i]);
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

static void all(void) {
  enum { COUNT = 3 };
  int64_t sent[EDGES_MAX], got[EDGES_MAX], from[EDGES_MAX], to[EDGES_MAX], next;
  int at, i;

  clear();
  for (i = 0; i < COUNT; i++) {
    in[i] = value(rank, i);
  }
  for (at = 0; at < indegree; at++) {
    for (i = 0; i < COUNT; i++) {
      want[at * COUNT + i] = value(sources[at], i);
    }
  }
  CALL(Neighbor_allgather, neighbor_allgather, (in, out, COUNT, GOAL_INT32, comm));
  check("neighbor_allgather");

  clear();
  for (at = 0; at < outdegree; at++) {
    for (i = 0; i < COUNT; i++) {
      in[at * COUNT + i] = value(outgoing[at], i);
    }
  }
  for (at = 0; at < indegree; at++) {
    for (i = 0; i < COUNT; i++) {
      want[at * COUNT + i] = value(incoming[at], i);
    }
  }
  CALL(Neighbor_alltoall, neighbor_alltoall, (in, out, COUNT, GOAL_INT32, comm));
  check("neighbor_alltoall");

  clear();
  next = 0;
  for (i = 0; i < count_of(rank); i++) {
    in[i] = value(rank, i);
  }
  for (at = indegree - 1; at >= 0; at--) {
    got[at] = count_of(sources[at]);
    to[at] = ++next;
    next += got[at];
    for (i = 0; i < got[at]; i++) {
      want[to[at] + i] = value(sources[at], i);
    }
  }
  CALL(Neighbor_allgatherv, neighbor_allgatherv,
       (in, count_of(rank), out, got, to, GOAL_INT32, comm));
  check("neighbor_allgatherv");

  clear();
  next = 0;
  for (at = outdegree - 1; at >= 0; at--) {
    sent[at] = count_of(outgoing[at]);
    from[at] = next++;
    next += sent[at];
    for (i = 0; i < sent[at]; i++) {
      in[from[at] + i] = value(outgoing[at], i);
    }
  }
  next = 0;
  for (at = indegree - 1; at >= 0; at--) {
    got[at] = count_of(incoming[at]);
    to[at] = ++next;
    next += got[at];
    for (i = 0; i < got[at]; i++) {
      want[to[at] + i] = value(incoming[at], i);
    }
  }
  CALL(Neighbor_alltoallv, neighbor_alltoallv,
       (in, sent, from, out, got, to, GOAL_INT32, comm));
  check("neighbor_alltoallv");
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
    GOAL_Comm parent = GOAL_COMM_WORLD;
    if (pass == 1 && world > 1 && GOAL_MyRank() == world - 1) {
      break;
    }
    if (pass == 1) {
      parent = GOAL_Comm_create(GOAL_COMM_WORLD, list, n);
    }
    rank = GOAL_Comm_rank(parent);
    size = GOAL_Comm_size(parent);
    for (graph = 0; graph < GRAPHS; graph++) {
      draw();
      comm = GOAL_Comm_create_graph(parent, sources, indegree, destinations, outdegree);
      if (comm == NULL || GOAL_Comm_rank(comm) != rank || GOAL_Comm_size(comm) != size ||
          GOAL_Comm_indegree(comm) != indegree || GOAL_Comm_outdegree(comm) != outdegree) {
        printf("graph %d: %s\n", graph, GOAL_Last_error());
        return 1;
      }
      for (form = 0; form < 3; form++) {
        all();
        all();
      }
      GOAL_Comm_free(comm);
    }
    if (pass == 1) {
      GOAL_Comm_free(parent);
    }
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  GOAL_Allreduce(GOAL_IN_PLACE, &checks, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD);
  if (GOAL_MyRank() == 0) {
    printf("%d ranks: %d of %d elements are wrong\n", world, wrong, checks);
  }
  return GOAL_Finalize() != 0;
}
