/* The communication of cg by MPI. Ways to gather the vector: MPI_Allgatherv, NONBLOCKING: MPI_Iallgatherv, MESSAGES: persistent
   sends and receives. The latter two go on beside the computation. */
#include "apps.h"

static Operation prepare_sum(const double *mine, double *total, int n) { return prepare_sum_of(mine, total, n, MPI_DOUBLE); }

static void call_gather(Prepared *of) {
#ifdef NONBLOCKING
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, of->theirs, of->counts, of->places, MPI_DOUBLE, MPI_COMM_WORLD, of->requests);
#else
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, of->theirs, of->counts, of->places, MPI_DOUBLE, MPI_COMM_WORLD);
#endif
}

static Operation prepare_gather(double *all, const int64_t *counts) {
  Operation gather = prepared();
  gather->theirs = all;
  gather->counts = calloc(ranks, sizeof *gather->counts);
  gather->places = calloc(ranks, sizeof *gather->places);
  for (int of = 0; of < ranks; ++of) {
    gather->counts[of] = (int)counts[of];
    gather->places[of] = of ? gather->places[of - 1] + gather->counts[of - 1] : 0;
  }
#ifdef MESSAGES
  if (2 * (ranks - 1) > REQUESTS_MAX) MPI_Abort(MPI_COMM_WORLD, 3);
  gather->is_persistent = 1;
  for (int of = 0; of < ranks; ++of) {
    if (of == rank) continue;
    MPI_Recv_init(all + gather->places[of], gather->counts[of], MPI_DOUBLE, of, 0, MPI_COMM_WORLD, &gather->requests[gather->n++]);
    MPI_Send_init(all + gather->places[rank], gather->counts[rank], MPI_DOUBLE, of, 0, MPI_COMM_WORLD, &gather->requests[gather->n++]);
  }
#else
  gather->before = call_gather;
#ifdef NONBLOCKING
  gather->n = 1;
#endif
#endif
  return gather;
}
