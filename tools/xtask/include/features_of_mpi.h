/* The features of an MPI library, for the wrappers over PMPI. mpi.h comes before or with it.
 *
 * Open MPI 5 has persistent collectives, MPI_Isendrecv and sessions. It names an earlier version of MPI,
 * and has no functions with large counts. */
#ifndef FEATURES_OF_MPI_H
#define FEATURES_OF_MPI_H

#include <mpi.h>

#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#endif

#if defined(HAS_LARGE_COUNTS) || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#define HAS_ISENDRECV 1
#define HAS_SESSIONS 1
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_STATUS_OF_ARRAYS 1
#endif

#endif
