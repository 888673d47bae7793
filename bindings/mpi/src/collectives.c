/* The wrappers of collectives, with counts of int and, in MPI 4, of MPI_Count. */
#include "goalmpi.h"

/* The choice for a blocking call, if an earlier call has made it. */
enum known_as { UNKNOWN, ENDED, LEFT };

/* Returns 1 if an earlier call had these arguments. `kind` is a constant. */
static inline int is_equal(const struct known *known, enum kind kind, const struct arguments *of) {
  const struct arguments *known_of = &known->of;
  if (!known->is_kept || known->kind != kind || known_of->comm != of->comm) return 0;
  if (kind == BARRIER) return 1;
  if (known_of->count != of->count || known_of->type != of->type) return 0;
  if (kind == BCAST) return known_of->root == of->root;
  if (known->is_in_place != (of->in == MPI_IN_PLACE)) return 0;
  if ((kind == REDUCE || kind == GATHER) && known_of->root != of->root) return 0;
  if (kind == REDUCE || kind == ALLREDUCE) return known_of->op == of->op;
  return known_of->rcount == of->rcount && known_of->rtype == of->rtype;
}

/* Returns 1 if the buffers are there, and do not overlap. */
static inline int are_plain(const struct known *known, enum kind kind, const struct arguments *of) {
  uintptr_t in = (uintptr_t)of->in, out = (uintptr_t)of->out;
  if (kind == BARRIER) return 1;
  if (known->uses_out && (!of->out || of->out == MPI_IN_PLACE)) return 0;
  if (kind == BCAST || !known->uses_in) return 1;
  if (!of->in) return 0;
  /* Differences of addresses wrap around, and are large then. */
  return !known->uses_out || (out - in >= known->call.in.bytes && in - out >= known->call.out.bytes);
}

/* Carries out a blocking call if its choice is known. */
static inline __attribute__((always_inline)) enum known_as carry_out(enum kind kind, const struct arguments *of, int *rc) {
  struct known *known = goalmpi_place_of(kind, of);
  struct call *call = &known->call;
  int code;
  if (!is_equal(known, kind, of) || !are_plain(known, kind, of)) return UNKNOWN;
  goalmpi_calls[kind][call->reason]++;
  goalmpi_note(call, call->reason != RUN);
  if (call->reason != RUN) return LEFT;
  goalmpi_bytes_run[kind] += call->bytes;
  call->looks = 0;
  goalmpi_waiting = call;
  code = goalmpi_run_on(call, kind, known->is_in_place ? GOAL_IN_PLACE : of->in, of->out);
  goalmpi_waiting = NULL;
  *rc = MPI_SUCCESS;
  if (code < 0 || ++goalmpi_behind >= BEHIND_MAX) *rc = goalmpi_end(call, code);
  return ENDED;
}

#define COUNT int
#define OWN(f) WRAPPER(f)
#define SLOWLY(f) slowly_##f
#define PMPI(f) PMPI_##f
#define HAS_BARRIER
#include "collectives.inc"
#undef COUNT
#undef OWN
#undef SLOWLY
#undef PMPI
#undef HAS_BARRIER

#ifdef HAS_LARGE_COUNTS
#define COUNT MPI_Count
#define OWN(f) WRAPPER(f##_c)
#define SLOWLY(f) slowly_##f##_c
#define PMPI(f) PMPI_##f##_c
#include "collectives.inc"
#endif
