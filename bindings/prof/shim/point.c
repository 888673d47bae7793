/* Messages between two ranks, with counts of type int and, since MPI 4, MPI_Count. */
#include "shim.h"
#include <sched.h>

int shim_wait(MPI_Request *request, uint64_t token, MPI_Status *status) {
  struct goalprof_status nothing = {0, -1, 0, 1};
  uint64_t handle = of_request(*request);
  MPI_Status own;
  int rc;
  if (status == MPI_STATUS_IGNORE) status = &own;
  rc = PMPI_Wait(request, status);
  if (rc != MPI_SUCCESS) failed(rc);
  if (token != 0) goalprof_complete(handle, token, rc == MPI_SUCCESS ? of_status(status) : nothing);
  return rc;
}

#define COUNT int
#define MPI(f) MPI_##f
#define PMPI(f) PMPI_##f
#include "point.inc"

#ifdef HAS_LARGE_COUNTS
#undef COUNT
#undef MPI
#undef PMPI
#define COUNT MPI_Count
#define MPI(f) MPI_##f##_c
#define PMPI(f) PMPI_##f##_c
#include "point.inc"
#endif

/* Probes count as time of MPI. A message that a probe takes out of the queue is received by it. */

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
  if (!begin()) return PMPI_Probe(source, tag, comm, status);
  return end(PMPI_Probe(source, tag, comm, status));
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  if (!begin()) return PMPI_Iprobe(source, tag, comm, flag, status);
  return end(PMPI_Iprobe(source, tag, comm, flag, status));
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  MPI_Status own;
  int rc;
  if (!begin()) return PMPI_Mprobe(source, tag, comm, message, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  if (shim_is_multiple) {
    int is_there = 0;
    for (;;) {
      begin_start();
      rc = PMPI_Improbe(source, tag, comm, &is_there, message, status);
      if (rc == MPI_SUCCESS && is_there) goalprof_recv("MPI_Mprobe", of_comm(comm), of_message_status(status));
      end_start();
      if (rc != MPI_SUCCESS || is_there) return end(rc);
      sched_yield();
    }
  }
  rc = PMPI_Mprobe(source, tag, comm, message, status);
  if (rc == MPI_SUCCESS) goalprof_recv("MPI_Mprobe", of_comm(comm), of_message_status(status));
  return end(rc);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  MPI_Status own;
  int rc;
  if (!begin()) return PMPI_Improbe(source, tag, comm, flag, message, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  begin_start();
  rc = PMPI_Improbe(source, tag, comm, flag, message, status);
  if (rc == MPI_SUCCESS && *flag) goalprof_recv("MPI_Improbe", of_comm(comm), of_message_status(status));
  end_start();
  return end(rc);
}
