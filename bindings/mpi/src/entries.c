/* The functions of MPI that the program calls. Each jumps to its wrapper, or to PMPI_X if the library
 * steps aside. It does in a forked process, and in a program with another MPI library than the one that
 * this is built for. A jump leaves the arguments as they are, whatever their types are there. */
#define _GNU_SOURCE
#include "goalmpi.h"
#include <fortran_of_mpi.h>
#include <version_of_mpi.h>

#define COLLECTIVES(X, f, i) X(f) X(i) PERSISTENT(X, f) LARGE(X, f, i)
#ifdef HAS_PERSISTENT
#define PERSISTENT(X, f) X(f##_init)
#define STARTS(X) X(Start) X(Startall) X(Request_free)
#else
#define PERSISTENT(X, f)
#define STARTS(X)
#endif
#ifdef HAS_LARGE_COUNTS
#define LARGE(X, f, i) X(f##_c) X(i##_c) X(f##_init_c)
#else
#define LARGE(X, f, i)
#endif
#ifdef HAS_STATUS_OF_ARRAYS
#define STATUSES(X) X(Request_get_status_all) X(Request_get_status_any) X(Request_get_status_some)
#else
#define STATUSES(X)
#endif

#define ENTRIES(X)                                                                             \
  X(Finalize)                                                                                  \
  X(Barrier) X(Ibarrier) PERSISTENT(X, Barrier)                                                \
  COLLECTIVES(X, Bcast, Ibcast) COLLECTIVES(X, Reduce, Ireduce)                                \
  COLLECTIVES(X, Allreduce, Iallreduce) COLLECTIVES(X, Gather, Igather)                        \
  COLLECTIVES(X, Allgather, Iallgather) COLLECTIVES(X, Alltoall, Ialltoall)                    \
  X(Comm_dup) X(Comm_dup_with_info) X(Comm_create) X(Comm_create_group) X(Comm_split)          \
  X(Comm_split_type) X(Intercomm_merge) X(Cart_create) X(Cart_sub) X(Graph_create)             \
  X(Dist_graph_create) X(Dist_graph_create_adjacent)                                           \
  X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome)          \
  X(Request_get_status) STARTS(X) STATUSES(X)                                                  \
  X(Iprobe) X(Improbe)

#if defined(__x86_64__)
#define JUMP(at) "endbr64\n\tjmp *" at "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(at) "hint #34\n\tadrp x16, " at "\n\tldr x16, [x16, #:lo12:" at "]\n\tbr x16\n"
#else
#error "write a jump through a variable for this processor"
#endif

/* goalmpi_to_X has the address that MPI_X jumps to. */
#define ENTRY(f)                                                                                  \
  __attribute__((visibility("hidden"))) extern __typeof__(MPI_##f) wrap_##f;                     \
  __attribute__((visibility("hidden"), used)) void *goalmpi_to_##f = (void *)wrap_##f;           \
  __asm__(".pushsection .text\n\t.globl MPI_" #f "\n\t.type MPI_" #f ", %function\nMPI_" #f ":\n\t" \
          JUMP("goalmpi_to_" #f) "\t.size MPI_" #f ", . - MPI_" #f "\n\t.popsection");

ENTRY(Init)
ENTRY(Init_thread)
ENTRIES(ENTRY)

int goalmpi_is_aside;

void goalmpi_step_aside(void) {
  goalmpi_is_aside = 1;
#define ASIDE(f) goalmpi_to_##f = (void *)PMPI_##f;
  ENTRIES(ASIDE)
}

char goalmpi_other[512];

__attribute__((constructor)) static void look_at_mpi(void) {
  if (is_built_for_mpi(goalmpi_other, sizeof goalmpi_other)) {
    redirect_fortran();
    return;
  }
  goalmpi_step_aside();
  if (!is_first_of_mpi()) *goalmpi_other = '\0';
}
