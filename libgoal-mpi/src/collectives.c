/* The wrappers of collectives, with counts of int and, in MPI 4, of MPI_Count. */
#include "goalmpi.h"

#define COUNT int
#define MPI(f) MPI_##f
#define PMPI(f) PMPI_##f
#define HAS_BARRIER
#include "collectives.inc"
#undef COUNT
#undef MPI
#undef PMPI
#undef HAS_BARRIER

#ifdef HAS_LARGE_COUNTS
#define COUNT MPI_Count
#define MPI(f) MPI_##f##_c
#define PMPI(f) PMPI_##f##_c
#include "collectives.inc"
#endif
