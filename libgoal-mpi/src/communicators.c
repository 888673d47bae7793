/* The communicators that schedules run on: those that the wrapped functions made, between ranks of
 * MPI_COMM_WORLD, with at least two of them.
 *
 * libgoal numbers communicators of the same ranks in the order in which they are made, so all members
 * must make them in the same order. They do in the calls that make MPI's communicators. They need not
 * in the first collectives on them: non-blocking ones on two communicators may come in any order. The
 * calls of MPI_Comm_idup may end in any order too, so its communicators have no schedules. An
 * attribute tells when MPI frees a communicator. */
#include "goalmpi.h"

#define BUCKETS 256

static struct comm *buckets[BUCKETS];
static const struct comm *last;
static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world = MPI_GROUP_NULL;
/* Room for the ranks of a communicator's members, in it and in MPI_COMM_WORLD. */
static int *members, *ranks, world_size;

static struct comm **bucket_of(MPI_Comm comm) {
  uint64_t bits = 0;
  memcpy(&bits, &comm, sizeof comm);
  return &buckets[(bits ^ bits >> 6 ^ bits >> 14) % BUCKETS];
}

_Static_assert(sizeof(MPI_Comm) <= 8, "handles have at most 8 bytes");

/* Returns NULL if the communicator has no schedules. */
const struct comm *goalmpi_comm(MPI_Comm comm) {
  if (last && last->mpi == comm) return last;
  for (const struct comm *at = *bucket_of(comm); at; at = at->next)
    if (at->mpi == comm) return last = at;
  return NULL;
}

static void forget(MPI_Comm comm) {
  for (struct comm **at = bucket_of(comm); *at; at = &(*at)->next) {
    struct comm *found = *at;
    if (found->mpi != comm) continue;
    *at = found->next;
    if (last == found) last = NULL;
    if (found->goal != GOAL_COMM_WORLD) GOAL_Comm_free(found->goal);
    free(found);
    return;
  }
}

static int is_freed(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)value, (void)extra;
  forget(comm);
  return MPI_SUCCESS;
}

static int keep(MPI_Comm comm, GOAL_Comm goal, int rank, int size) {
  struct comm *kept = malloc(sizeof *kept), **bucket = bucket_of(comm);
  if (!kept) return 0;
  *kept = (struct comm){*bucket, comm, goal, rank, size};
  *bucket = kept;
  return 1;
}

/* Finds the ranks in MPI_COMM_WORLD of a communicator's members. Returns 0 if one is of another
 * world. All members see that alike, whatever their world is. */
static int find_ranks(MPI_Comm comm, int size) {
  MPI_Group group;
  int at;
  if (size > world_size) return 0;
  for (at = 0; at < size; at++) members[at] = at;
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, size, members, world, ranks);
  PMPI_Group_free(&group);
  for (at = 0; at < size && ranks[at] != MPI_UNDEFINED; at++) {}
  return at == size;
}

/* Follows a call that made a communicator. All its members come here, unless some are of another
 * world. That one may have no libgoal-mpi, so no message may be sent before this is known. */
static int follow(int rc, const MPI_Comm *made) {
  int is_inter = 1, size = 0, rank = 0, yes;
  GOAL_Comm goal;
  if (rc != MPI_SUCCESS || *made == MPI_COMM_NULL) return rc;
  PMPI_Comm_test_inter(*made, &is_inter);
  if (is_inter) return rc;
  PMPI_Comm_size(*made, &size);
  PMPI_Comm_rank(*made, &rank);
  if (size < 2 || !find_ranks(*made, size)) return rc;
  goal = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, size);
  yes = goal && keep(*made, goal, rank, size);
  if (goal && !yes) GOAL_Comm_free(goal);
  yes = yes && PMPI_Comm_set_attr(*made, keyval, NULL) == MPI_SUCCESS;
  PMPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, *made);
  if (!yes) forget(*made);
  return rc;
}

int goalmpi_communicators_begin(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  members = malloc(2 * (size_t)world_size * sizeof *members);
  ranks = members ? members + world_size : NULL;
  return members && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, is_freed, &keyval, NULL) == MPI_SUCCESS &&
         keep(MPI_COMM_WORLD, GOAL_COMM_WORLD, rank, world_size);
}

/* Communicators that the program has not freed keep their attribute until MPI frees them. */
void goalmpi_communicators_end(void) {
  for (int at = 0; at < BUCKETS; at++)
    while (buckets[at]) forget(buckets[at]->mpi);
  free(members);
  members = ranks = NULL;
  PMPI_Group_free(&world);
  PMPI_Comm_free_keyval(&keyval);
}

#define LIST(...) __VA_ARGS__
#define MAKES(f, P, A)                                         \
  int MPI_##f(LIST P, MPI_Comm *made) {                        \
    int rc;                                                    \
    if (!goalmpi_is_on || goalmpi_is_inside) return PMPI_##f(LIST A, made); \
    goalmpi_is_inside = 1;                                     \
    rc = follow(PMPI_##f(LIST A, made), made);                 \
    goalmpi_is_inside = 0;                                     \
    return rc;                                                 \
  }

MAKES(Comm_dup, (MPI_Comm comm), (comm))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info), (comm, info))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group), (comm, group))
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag), (comm, group, tag))
MAKES(Comm_split, (MPI_Comm comm, int color, int key), (comm, color, key))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info), (comm, type, key, info))
MAKES(Intercomm_merge, (MPI_Comm comm, int high), (comm, high))
MAKES(Cart_create, (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder),
      (comm, n, dims, periods, reorder))
MAKES(Cart_sub, (MPI_Comm comm, const int remain[]), (comm, remain))
MAKES(Graph_create, (MPI_Comm comm, int n, const int index[], const int edges[], int reorder),
      (comm, n, index, edges, reorder))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder),
      (comm, n, sources, degrees, destinations, weights, info, reorder))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
       const int destinations[], const int destweights[], MPI_Info info, int reorder),
      (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder))
