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
#define DEPTH 8

/* `word` names the call and the choice; 0 stands for none. `bytes` are those of the block. */
struct note {
  uint64_t word, bytes;
};

static struct note *own;
/* The notes of each rank of MPI_COMM_WORLD; NULL if it is on another node. */
static struct note **notes;
static MPI_Win window = MPI_WIN_NULL;
static MPI_Group world;

/* The bit of a call that is left to MPI, and the bits that name the call. Two calls have the same
 * name with a probability of 1 in 2^60. The three other bits are the operation. The name
 * leaves it out, so ranks that call different operations are found too. */
#define LEFT 1
#define NAME (~(uint64_t)0xf)

static uint64_t name_of(const struct comm *comm, enum form form, uint32_t number) {
  uint64_t at = (uint64_t)comm->size << 34 | (uint64_t)number << 2 | (uint64_t)form;
  return goalmpi_mix(comm->number, at) & NAME;
}

static size_t place_of(const struct comm *comm, enum form form, uint32_t number) {
  return (comm->number % PLACES * FORMS + form) * DEPTH + number % DEPTH;
}

#define NOTES (PLACES * FORMS * DEPTH)

void goalmpi_note(struct call *call, int is_left) {
  struct note *note;
  uint64_t word;
  call->number = call->comm->calls[call->form]++;
  if (!own || !call->comm->number) return;
  note = own + place_of(call->comm, call->form, call->number);
  word = name_of(call->comm, call->form, call->number);
  __atomic_store_n(&note->bytes, call->bytes, __ATOMIC_RELAXED);
  /* Release: who reads the word sees the bytes. */
  __atomic_store_n(&note->word, word | (uint64_t)call->kind << 1 | (is_left ? LEFT : 0), __ATOMIC_RELEASE);
}

/* Compares the last choices on a communicator with those of a rank. Returns 1 if one differs. */
static int differ(const struct comm *comm, int rank) {
  char text[256];
  for (uint32_t each = 0; each < FORMS * DEPTH; each++) {
    enum form form = each / DEPTH;
    uint32_t number = comm->calls[form] - 1 - each % DEPTH;
    size_t at = place_of(comm, form, number);
    uint64_t mine = own[at].word, word = __atomic_load_n(&notes[rank][at].word, __ATOMIC_ACQUIRE);
    int is_left = (word & LEFT) != 0;
    unsigned long long bytes[2] = {own[at].bytes, __atomic_load_n(&notes[rank][at].bytes, __ATOMIC_RELAXED)};
    if ((mine & NAME) != name_of(comm, form, number)) continue;
    if ((mine & NAME) != (word & NAME) || (mine & LEFT) == (word & LEFT)) continue;
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
