/* The making and freeing of communicators. The members of a new one agree on its number. */
#include "shim.h"

/* The ranks that are looked up at a time. */
#define AT_ONCE 128

/* Stores the members' ranks among all, if `world` is not NULL. Returns 0 if one is none of them. */
static int translate(MPI_Group members, int size, uint32_t *world) {
  int at, is_new, is_known = 1;
  MPI_Group all = shim_all(&is_new);
  for (at = 0; at < size && is_known; at += AT_ONCE) {
    int from[AT_ONCE], to[AT_ONCE], some = size - at < AT_ONCE ? size - at : AT_ONCE, each;
    for (each = 0; each < some; each++) from[each] = at + each;
    is_known = PMPI_Group_translate_ranks(members, some, from, all, to) == MPI_SUCCESS;
    for (each = 0; each < some; each++) {
      is_known = is_known && to[each] != MPI_UNDEFINED;
      if (world) world[at + each] = (uint32_t)to[each];
    }
  }
  if (is_new) PMPI_Group_free(&all);
  return is_known;
}

/* All members come here, or none: those of another world may have no profiler, so no message may be
 * sent before it is known that there are none. */
static void agree(MPI_Comm comm) {
  /* On the stack, since a rank without memory must take part too. */
  uint64_t words[shim_words + 1];
  uint32_t *world = NULL;
  MPI_Group members;
  int size = 0, me = 0, inter = 1, is_known;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &me);
  PMPI_Comm_group(comm, &members);
  is_known = translate(members, size, NULL);
#ifdef HAS_SESSIONS
  /* Ranks with other settings may be here, with another number of words. */
  if (is_known) {
    uint64_t digests[2];
    /* They belong together if each bit is set in one of the two. */
    digests[0] = goalprof_digest((uint32_t)me);
    digests[1] = ~digests[0];
    PMPI_Allreduce(MPI_IN_PLACE, digests, 2, MPI_UINT64_T, MPI_BAND, comm);
    is_known = digests[0] == ~digests[1] && digests[0] != 0;
    if (!is_known)
      goalprof_fail("the ranks' settings differ or are wrong: set the same GOALPROF_ variables on all ranks");
  }
#endif
  if (is_known) {
    /* A rank that records no more leaves the choice to the others. */
    memset(words, 0xff, sizeof words);
    goalprof_ids(words);
    PMPI_Allreduce(MPI_IN_PLACE, words, (int)shim_words, MPI_UINT64_T, MPI_BAND, comm);
    world = malloc((size_t)size * sizeof *world);
    if (world && translate(members, size, world))
      goalprof_communicator(of_comm(comm), words, shim_words, (uint32_t)me, world, (size_t)size);
    if (!world) goalprof_no_memory();
    free(world);
  }
  PMPI_Group_free(&members);
}

static int follow(int rc, const MPI_Comm *made) {
  if (rc == MPI_SUCCESS && *made != MPI_COMM_NULL) agree(*made);
  return rc;
}

#define LIST(...) __VA_ARGS__
#define MAKES(f, P, A)                                 \
  int MPI_##f(LIST P, MPI_Comm *made) {                \
    if (!begin()) return PMPI_##f(LIST A, made);       \
    return end(follow(PMPI_##f(LIST A, made), made));  \
  }

/* These copy attributes. */
#define COPIES(f, P, A)                                \
  int MPI_##f(LIST P, MPI_Comm *made) {                \
    int rc;                                            \
    if (!begin()) return PMPI_##f(LIST A, made);       \
    begin_callbacks();                                 \
    rc = PMPI_##f(LIST A, made);                       \
    end_callbacks();                                   \
    return end(follow(rc, made));                      \
  }

COPIES(Comm_dup, (MPI_Comm comm), (comm))
COPIES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info), (comm, info))
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

#ifdef HAS_SESSIONS
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm *made) {
  int rc;
  if (!begin()) return PMPI_Comm_create_from_group(group, tag, info, handler, made);
  rc = PMPI_Comm_create_from_group(group, tag, info, handler, made);
  if (rc == MPI_SUCCESS && *made != MPI_COMM_NULL) agree(*made);
  return end(rc);
}
#endif

/* Functions that delete attributes may use the communicator. Another thread may get the handle before
 * this one goes on, for a communicator with another number. */
#define FREES(f)                                                     \
  int MPI_##f(MPI_Comm *comm) {                                      \
    uint64_t handle;                                                 \
    uint32_t number;                                                 \
    int rc;                                                          \
    if (!begin()) return PMPI_##f(comm);                             \
    handle = of_comm(*comm);                                         \
    number = goalprof_communicator_number(handle);                   \
    begin_callbacks();                                               \
    rc = PMPI_##f(comm);                                             \
    end_callbacks();                                                 \
    if (rc == MPI_SUCCESS) goalprof_communicator_free(handle, number); \
    return end(rc);                                                  \
  }

FREES(Comm_free)
FREES(Comm_disconnect)
