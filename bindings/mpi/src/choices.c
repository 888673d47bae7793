/* The choices of the ranks of a node, which each can see.
 *
 * Ranks choose alike if they agree on what MPI requires to be the same. In a program with an error they
 * may not, as with a block in the range of schedules at one rank and another block elsewhere. Then one
 * waits in a schedule, and the other one in MPI. So each rank notes its last choices on each
 * communicator in memory that the node shares. A rank that waits looks at those of the others.
 *
 * Threats: only processes of the job write there. A wrong note ends the job with an error. */
#include "goalmpi.h"
#include <stdio.h>

/* Communicators with the same place replace each other's notes, and so do calls that lie DEPTH apart. */
#define PLACES 64

static struct note *own;
/* The notes of each rank of MPI_COMM_WORLD; NULL if it is on another node. */
static struct note **notes;
static MPI_Win window = MPI_WIN_NULL;
static MPI_Group world;

static size_t place_of(const struct comm *comm, enum form form) {
  return (comm->number % PLACES * FORMS + form) * DEPTH;
}

#define NOTES (PLACES * FORMS * DEPTH)

void goalmpi_choices_of(struct comm *comm) {
  for (int form = 0; form < FORMS; form++) {
    comm->names[form] = goalmpi_mix(comm->number, (uint64_t)comm->size << 2 | (uint64_t)form);
    comm->notes[form] = own && comm->number ? own + place_of(comm, form) : NULL;
  }
}

/* Compares the last choices on a communicator with those of a rank. Returns 1 if one differs. */
static int differ(const struct comm *comm, int rank) {
  char text[256];
  for (uint32_t each = 0; each < FORMS * DEPTH; each++) {
    enum form form = each / DEPTH;
    uint32_t number = comm->calls[form] - 1 - each % DEPTH;
    size_t at = place_of(comm, form) + number % DEPTH;
    uint64_t mine = own[at].word, word = __atomic_load_n(&notes[rank][at].word, __ATOMIC_ACQUIRE);
    int is_left = (word & IS_LEFT) != 0;
    unsigned long long bytes[2] = {own[at].bytes, __atomic_load_n(&notes[rank][at].bytes, __ATOMIC_RELAXED)};
    if ((mine & NAME) != goalmpi_name(comm, form, number)) continue;
    if ((mine & NAME) != (word & NAME) || (mine & IS_LEFT) == (word & IS_LEFT)) continue;
    snprintf(text, sizeof text,
             "rank %d %s %s of %llu bytes%s, and others %s %s of %llu bytes%s; make their sizes and arguments the same",
             rank, is_left ? "has left" : "runs", goalmpi_names[(word >> 1 & 7) % KINDS], bytes[1],
             is_left ? " to MPI" : " as a schedule", is_left ? "run" : "have left",
             goalmpi_names[(mine >> 1 & 7) % KINDS], bytes[0], is_left ? " as a schedule" : " to MPI");
    GOAL_Abort(text);
    return 1;
  }
  return 0;
}

void goalmpi_compare(const struct call *call) {
  MPI_Group group;
  int has_found = 0;
  if (!own || goalmpi_comm(call->mpi) != call->comm || !call->comm->number) return;
  PMPI_Comm_group(call->mpi, &group);
  for (int at = 0; at < call->comm->size && !has_found; at++) {
    int rank = MPI_UNDEFINED;
    PMPI_Group_translate_ranks(group, 1, &at, world, &rank);
    has_found = rank != MPI_UNDEFINED && notes[rank] && differ(call->comm, rank);
  }
  PMPI_Group_free(&group);
}

/* Called by all ranks of a node. Without the memory no choice is noted. */
void goalmpi_choices_begin(MPI_Comm node) {
  MPI_Group here;
  int size, world_size;
  struct note *base = NULL;
  PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  if (PMPI_Win_allocate_shared(NOTES * sizeof *own, 1, MPI_INFO_NULL, node, &base, &window) != MPI_SUCCESS) {
    window = MPI_WIN_NULL;
    return;
  }
  memset(base, 0, NOTES * sizeof *base);
  PMPI_Barrier(node);
  PMPI_Comm_size(node, &size);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(node, &here);
  notes = calloc((size_t)world_size, sizeof *notes);
  for (int at = 0; notes && at < size; at++) {
    int rank = 0, unit;
    MPI_Aint bytes;
    PMPI_Group_translate_ranks(here, 1, &at, world, &rank);
    if (PMPI_Win_shared_query(window, at, &bytes, &unit, &notes[rank]) != MPI_SUCCESS) notes[rank] = NULL;
  }
  PMPI_Group_free(&here);
  if (notes) own = base;
}

/* Called by all ranks of a node, when none of them waits in a schedule. */
void goalmpi_choices_end(void) {
  own = NULL;
  if (window == MPI_WIN_NULL) return;
  PMPI_Win_free(&window);
  PMPI_Group_free(&world);
  free(notes);
}
