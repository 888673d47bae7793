/* The blocking calls whose choice is known from an earlier one with equal arguments.
 *
 * A program makes most of its calls again and again. The choice and the arguments of libgoal are kept
 * by the raw arguments, so that a call need not look at its communicator and its types. Only calls
 * with predefined types and operators are kept, which nobody frees. A communicator that is freed
 * takes its calls along. Buffers differ from call to call, and are looked at each time.
 *
 * A program with MPI_THREAD_MULTIPLE has no known calls, as its threads would have to lock them. */
#include "goalmpi.h"

struct known goalmpi_known[KNOWN_MAX];

static int has_types(enum kind kind) { return kind != BARRIER; }
static int has_other(enum kind kind) { return kind == GATHER || kind == ALLGATHER || kind == ALLTOALL; }

void goalmpi_learn(const struct arguments *of, const struct call *call) {
  struct known *known = goalmpi_place_of(call->kind, of);
  int is_root;
  if (goalmpi_is_threaded || !goalmpi_is_on || !call->comm) return;
  if (call->reason != RUN && call->reason != SIZE) return;
  if (call->refused || call->error || call->in.is_copied || call->out.is_copied) return;
  is_root = call->comm->rank == of->root;
  /* The data for other ranks has no type of its own here. */
  if (has_types(call->kind) && !goalmpi_is_predefined(of->type) && !call->is_in_place) return;
  if (has_other(call->kind) && !goalmpi_is_predefined(of->rtype) && (call->kind != GATHER || is_root)) return;
  *known = (struct known){.is_kept = 1, .kind = call->kind, .of = *of, .is_in_place = call->is_in_place, .call = *call};
  known->uses_in = call->kind != BARRIER && call->kind != BCAST && !call->is_in_place;
  known->uses_out = call->kind != BARRIER && ((call->kind != REDUCE && call->kind != GATHER) || is_root);
}

void goalmpi_unlearn(void) { memset(goalmpi_known, 0, sizeof goalmpi_known); }
