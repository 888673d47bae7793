/* The wrappers of collectives, with counts of int and, in MPI 4, of MPI_Count. */
#include "goalmpi.h"

#define COUNT int
#define OWN(f) WRAPPER(f)
#define PMPI(f) PMPI_##f
#define HAS_BARRIER
#include "collectives.inc"
#undef COUNT
#undef OWN
#undef PMPI
#undef HAS_BARRIER

#ifdef HAS_LARGE_COUNTS
#define COUNT MPI_Count
#define OWN(f) WRAPPER(f##_c)
#define PMPI(f) PMPI_##f##_c
#include "collectives.inc"
#endif
