/* The communicators that schedules run on: those that the wrapped functions made, between ranks of
 * MPI_COMM_WORLD, with at least two of them.
 *
 * libgoal numbers communicators of the same ranks in the order in which they are made, so all members
 * must make them in the same order. They do in the calls that make MPI's communicators. They need not
 * in the first collectives on them: non-blocking ones on two communicators may come in any order. The
 * calls of MPI_Comm_idup may end in any order too, so its communicators have no schedules. An
 * attribute tells when MPI frees a communicator. */
#include "goalmpi.h"
#include <sched.h>

#define BUCKETS 256

static struct comm *buckets[BUCKETS];
static struct comm *last;
static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world = MPI_GROUP_NULL;
static int world_size;

static struct comm **bucket_of(MPI_Comm comm) {
  uint64_t bits = 0;
  memcpy(&bits, &comm, sizeof comm);
  return &buckets[(bits ^ bits >> 6 ^ bits >> 14) % BUCKETS];
}

_Static_assert(sizeof(MPI_Comm) <= 8, "handles have at most 8 bytes");

/* Returns NULL if the communicator has no schedules. */
struct comm *goalmpi_comm(MPI_Comm comm) {
  struct comm *found;
  goalmpi_lock();
  found = last;
  if (!found || found->mpi != comm) {
    found = *bucket_of(comm);
    while (found && found->mpi != comm) found = found->next;
    if (found) last = found;
  }
  goalmpi_unlock();
  return found;
}

static void forget(MPI_Comm comm) {
  struct comm *found = NULL;
  goalmpi_lock();
  for (struct comm **at = bucket_of(comm); *at && !found; at = &(*at)->next) {
    if ((*at)->mpi != comm) continue;
    found = *at;
    *at = found->next;
    if (last == found) last = NULL;
    if (!*at) break;
  }
  goalmpi_unlock();
  if (!found) return;
  goalmpi_unlearn();
  if (found->blocking != GOAL_COMM_WORLD) GOAL_Comm_free(found->blocking);
  GOAL_Comm_free(found->nonblocking);
  free(found);
}

static int is_freed(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)value, (void)extra;
  if (goalmpi_is_on) forget(comm);
  return MPI_SUCCESS;
}

static int keep(MPI_Comm comm, GOAL_Comm blocking, GOAL_Comm nonblocking, int rank, int size, uint64_t number) {
  struct comm *kept = malloc(sizeof *kept), **bucket = bucket_of(comm);
  if (!kept) return 0;
  goalmpi_lock();
  *kept = (struct comm){*bucket, comm, blocking, nonblocking, rank, size, number, {0}, 0, {0}, {0}};
  goalmpi_choices_of(kept);
  *bucket = kept;
  goalmpi_unlock();
  return 1;
}

/* The threads of this process that wait for their turn to make communicators of libgoal. */
struct turn {
  struct turn *next;
  uint64_t number;
};

static struct turn *turns;
static int is_taken;
static uint64_t clock;

/* Waits until all members of a communicator have their turn at one time. Threads may make several
 * communicators at once, on each rank in another order. Each has a number, which its first member
 * draws, and the lowest one on a rank has its turn. So all ranks have the same order.
 *
 * A member asks for its turn when all have come. Before that, another one may wait for the turn of
 * another communicator. From then on each takes part in every round, whoever has the turn. */
static void take_turn(MPI_Comm comm, struct turn *own) {
  int rank = 0, world_rank = 0, is_own, is_all = 0;
  own->number = 0;
  if (!goalmpi_is_threaded) return;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  goalmpi_lock();
  if (rank == 0) own->number = ++clock << 32 | (uint32_t)world_rank;
  goalmpi_unlock();
  /* Ends when all members have come, which a broadcast does not. */
  PMPI_Allreduce(MPI_IN_PLACE, &own->number, 1, MPI_UINT64_T, MPI_MAX, comm);
  goalmpi_lock();
  if (clock < own->number >> 32) clock = own->number >> 32;
  own->next = turns;
  turns = own;
  goalmpi_unlock();
  while (!is_all) {
    goalmpi_lock();
    is_own = !is_taken;
    for (const struct turn *at = turns; at; at = at->next) is_own = is_own && at->number >= own->number;
    if (is_own) is_taken = 1;
    goalmpi_unlock();
    PMPI_Allreduce(&is_own, &is_all, 1, MPI_INT, MPI_MIN, comm);
    if (is_all) break;
    goalmpi_lock();
    if (is_own) is_taken = 0;
    goalmpi_unlock();
    sched_yield();
  }
}

static void end_turn(struct turn *own) {
  struct turn **at = &turns;
  if (!goalmpi_is_threaded) return;
  goalmpi_lock();
  while (*at != own) at = &(*at)->next;
  *at = own->next;
  is_taken = 0;
  goalmpi_unlock();
}

GOAL_Comm goalmpi_copy(const struct comm *comm) {
  struct turn turn;
  GOAL_Comm made = NULL;
  int *all = malloc((size_t)comm->size * sizeof *all);
  take_turn(comm->mpi, &turn);
  for (int at = 0; all && at < comm->size; at++) all[at] = at;
  if (all) made = GOAL_Comm_create(comm->blocking, all, comm->size);
  end_turn(&turn);
  free(all);
  return made;
}

/* Finds the ranks in MPI_COMM_WORLD of a communicator's members, and stores them if there is memory.
 * Returns 0 if one is of another world. All members see that alike, whatever their world is. */
static int find_ranks(MPI_Comm comm, int size, int *ranks) {
  MPI_Group group;
  int at, rank = 0;
  PMPI_Comm_group(comm, &group);
  for (at = 0; at < size && rank != MPI_UNDEFINED; at++) {
    PMPI_Group_translate_ranks(group, 1, &at, world, &rank);
    if (ranks) ranks[at] = rank;
  }
  PMPI_Group_free(&group);
  return rank != MPI_UNDEFINED;
}

/* Makes the schedules' communicators. Returns 0 if this rank can't. */
static int make(MPI_Comm comm, int rank, int size, const int *ranks, uint64_t number) {
  GOAL_Comm made[2];
  for (int at = 0; at < 2; at++) made[at] = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, size);
  if (made[0] && made[1] && keep(comm, made[0], made[1], rank, size, number)) return 1;
  for (int at = 0; at < 2; at++)
    if (made[at]) GOAL_Comm_free(made[at]);
  return 0;
}

/* Returns the number of a communicator that all members of one have just made of it, or 0. A call
 * that fails does not count, since one rank alone may try it. */
static uint64_t next_number(MPI_Comm parent) {
  struct comm *of = goalmpi_comm(parent);
  uint64_t number = of && of->number ? goalmpi_mix(of->number, ++of->made) : 0;
  return of && of->number && !number ? 2 : number;
}

/* Follows a call that made a communicator. All its members come here, unless some are of another
 * world. That one may have no libgoal-mpi, so no message may be sent before this is known. */
static void follow(const MPI_Comm *made, uint64_t number) {
  int is_inter = 1, size = 0, rank = 0, yes, *ranks;
  struct turn turn;
  if (*made == MPI_COMM_NULL || goalmpi_comm(*made)) return;
  PMPI_Comm_test_inter(*made, &is_inter);
  if (is_inter) return;
  PMPI_Comm_size(*made, &size);
  PMPI_Comm_rank(*made, &rank);
  if (size < 2 || size > world_size) return;
  ranks = malloc((size_t)size * sizeof *ranks);
  if (!find_ranks(*made, size, ranks)) {
    free(ranks);
    return;
  }
  take_turn(*made, &turn);
  yes = ranks && make(*made, rank, size, ranks, number);
  end_turn(&turn);
  free(ranks);
  yes = yes && PMPI_Comm_set_attr(*made, keyval, NULL) == MPI_SUCCESS;
  PMPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, *made);
  if (!yes) forget(*made);
}

int goalmpi_communicators_begin(void) {
  int rank, *all;
  GOAL_Comm nonblocking = NULL;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  all = malloc((size_t)world_size * sizeof *all);
  for (int at = 0; all && at < world_size; at++) all[at] = at;
  if (all) nonblocking = GOAL_Comm_create(GOAL_COMM_WORLD, all, world_size);
  free(all);
  return nonblocking && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, is_freed, &keyval, NULL) == MPI_SUCCESS &&
         keep(MPI_COMM_WORLD, GOAL_COMM_WORLD, nonblocking, rank, world_size, 1);
}

/* Communicators that the program has not freed keep their attribute until MPI frees them. */
void goalmpi_communicators_end(void) {
  for (int at = 0; at < BUCKETS; at++)
    while (buckets[at]) forget(buckets[at]->mpi);
  PMPI_Group_free(&world);
  PMPI_Comm_free_keyval(&keyval);
}

#define LIST(...) __VA_ARGS__
/* `number` is that of the communicator. */
#define MAKES(f, number, P, A)                                   \
  WRAPPER(f)(LIST P, MPI_Comm *made) {                           \
    int rc = PMPI_##f(LIST A, made);                             \
    if (goalmpi_is_on && rc == MPI_SUCCESS) follow(made, number); \
    return rc;                                                   \
  }

MAKES(Comm_dup, next_number(comm), (MPI_Comm comm), (comm))
MAKES(Comm_dup_with_info, next_number(comm), (MPI_Comm comm, MPI_Info info), (comm, info))
MAKES(Comm_create, next_number(comm), (MPI_Comm comm, MPI_Group group), (comm, group))
MAKES(Comm_create_group, 0, (MPI_Comm comm, MPI_Group group, int tag), (comm, group, tag))
MAKES(Comm_split, next_number(comm), (MPI_Comm comm, int color, int key), (comm, color, key))
MAKES(Comm_split_type, next_number(comm), (MPI_Comm comm, int type, int key, MPI_Info info), (comm, type, key, info))
MAKES(Intercomm_merge, 0, (MPI_Comm comm, int high), (comm, high))
MAKES(Cart_create, next_number(comm), (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder),
      (comm, n, dims, periods, reorder))
MAKES(Cart_sub, next_number(comm), (MPI_Comm comm, const int remain[]), (comm, remain))
MAKES(Graph_create, next_number(comm), (MPI_Comm comm, int n, const int index[], const int edges[], int reorder),
      (comm, n, index, edges, reorder))
MAKES(Dist_graph_create, next_number(comm),
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder),
      (comm, n, sources, degrees, destinations, weights, info, reorder))
MAKES(Dist_graph_create_adjacent, next_number(comm),
      (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
       const int destinations[], const int destweights[], MPI_Info info, int reorder),
      (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder))
