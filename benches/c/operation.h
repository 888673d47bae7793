/* The operations that are timed, their operands, and the ways in which a library offers them. group.h comes before. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operation { PINGPONG, BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, EXCHANGE, HALO, REPLAY, MIX, MIX_WORLD, OPERATIONS };
static const char *const operation_names[OPERATIONS] = {"pingpong", "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "exchange", "halo", "replay", "mix", "mix-world"};

/* A blocking call, a non-blocking one and, where the library has it, a persistent one. */
enum way { BLOCKING, NONBLOCKING, PERSISTENTLY, WAYS };
static const char *const way_names[WAYS] = {"blocking", "nonblocking", "persistent"};

/* Rows of a rank's part in a halo exchange. */
enum { ROWS = 4 };

/* The steps of a halo exchange in this round. */
static long halo_steps;

/* The operand and the result, in the memory that is measured, and the ranks that perform the operation. */
static char *in, *out;
static group_comm comm;

/* 1 if reductions add 64-bit floats, 0 if they add 32-bit integers. */
static int adds_floats;
static int element(void) { return adds_floats ? 8 : 4; }

static enum operation operation_named(const char *name) {
  for (int i = 0; i < OPERATIONS; ++i)
    if (!strcmp(name, operation_names[i])) return i;
  fprintf(stderr, "no operation %s\n", name);
  exit(2);
}

/* The neighbours of a rank in a ring. */
static int above(void) { return (rank + ranks - 1) % ranks; }
static int below(void) { return (rank + 1) % ranks; }
