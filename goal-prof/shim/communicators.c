/* The making and freeing of communicators. The members of a new one agree on its number. */
#include "shim.h"

/* All members come here, or none: those of another world may have no profiler, so no message may be
 * sent before it is known that there are none. */
static int follow(int rc, const MPI_Comm *made) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group members, all;
  uint64_t *words = NULL;
  int *ranks = NULL, *world = NULL, size = 0, me = 0, inter = 1, at;
  if (rc == MPI_SUCCESS) comm = *made;
  if (comm == MPI_COMM_NULL) return rc;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return rc;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &me);
  words = malloc(shim_words * sizeof *words);
  ranks = malloc(2 * (size_t)size * sizeof *ranks);
  if (!words || !ranks) abort(); /* The other members would wait for ever. */
  world = ranks + size;
  for (at = 0; at < size; at++) ranks[at] = at;
  PMPI_Comm_group(comm, &members);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_translate_ranks(members, size, ranks, all, world);
  PMPI_Group_free(&members);
  PMPI_Group_free(&all);
  for (at = 0; at < size && world[at] != MPI_UNDEFINED; at++) {}
  if (at == size) {
    /* A rank that records no more leaves the choice to the others. */
    memset(words, 0xff, shim_words * sizeof *words);
    goalprof_ids(words);
    PMPI_Allreduce(MPI_IN_PLACE, words, (int)shim_words, MPI_UINT64_T, MPI_BAND, comm);
    goalprof_communicator(of_comm(comm), words, shim_words, (uint32_t)me, (const uint32_t *)world, (size_t)size);
  }
  free(words);
  free(ranks);
  return rc;
}

#define LIST(...) __VA_ARGS__
#define MAKES(f, P, A)                                 \
  int MPI_##f(LIST P, MPI_Comm *made) {                \
    if (!begin()) return PMPI_##f(LIST A, made);       \
    return end(follow(PMPI_##f(LIST A, made), made));  \
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

/* Another thread may get the handle at once. */
#define FREES(f)                                  \
  int MPI_##f(MPI_Comm *comm) {                   \
    if (!begin()) return PMPI_##f(comm);          \
    goalprof_communicator_free(of_comm(*comm));   \
    return end(PMPI_##f(comm));                   \
  }

FREES(Comm_free)
FREES(Comm_disconnect)
