/* The communication of is by MPI. Ways to sum the counts and to exchange the keys: MPI_Allreduce and MPI_Alltoallv, NONBLOCKING:
   MPI_Iallreduce beside the computation and MPI_Alltoallv, MESSAGES: MPI_Allreduce, and sends and receives of the keys. */
#include "apps.h"
#include <string.h>

static Operation prepare_counts(const int32_t *mine, int32_t *total, int n) { return prepare_sum_of(mine, total, n, MPI_INT32_T); }

static void call_swap(Prepared *of) { MPI_Alltoall(of->mine, 1, MPI_INT64_T, of->theirs, 1, MPI_INT64_T, MPI_COMM_WORLD); }

static Operation prepare_swap(const int64_t *mine, int64_t *theirs) {
  Operation swap = prepared();
  swap->before = call_swap;
  swap->mine = mine, swap->theirs = theirs;
  return swap;
}

enum { RANKS_MAX = 64 };

static void exchange(const int32_t *keys, const int64_t *counts, int32_t *received, const int64_t *received_counts) {
  int to[RANKS_MAX], from[RANKS_MAX], places[RANKS_MAX + 1] = {0}, received_places[RANKS_MAX + 1] = {0};
  if (ranks > RANKS_MAX) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int of = 0; of < ranks; ++of) {
    to[of] = (int)counts[of], from[of] = (int)received_counts[of];
    places[of + 1] = places[of] + to[of], received_places[of + 1] = received_places[of] + from[of];
  }
#ifdef MESSAGES
  MPI_Request requests[2 * RANKS_MAX];
  int n = 0;
  for (int i = 1; i < ranks; ++i) {
    int of = (rank + ranks - i) % ranks;
    MPI_Irecv(received + received_places[of], from[of], MPI_INT32_T, of, 0, MPI_COMM_WORLD, &requests[n++]);
  }
  for (int i = 1; i < ranks; ++i) {
    int of = (rank + i) % ranks;
    MPI_Isend(keys + places[of], to[of], MPI_INT32_T, of, 0, MPI_COMM_WORLD, &requests[n++]);
  }
  memcpy(received + received_places[rank], keys + places[rank], to[rank] * sizeof *keys);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
#else
  MPI_Alltoallv(keys, to, places, MPI_INT32_T, received, from, received_places, MPI_INT32_T, MPI_COMM_WORLD);
#endif
}

static void gather(const uint64_t *mine, uint64_t *all, int n) { MPI_Allgather(mine, n, MPI_UINT64_T, all, n, MPI_UINT64_T, MPI_COMM_WORLD); }
