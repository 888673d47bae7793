/*
 * GOAL schedules in MPI programs: the processes of MPI_COMM_WORLD are a group, and a communicator
 * of MPI becomes one of libgoal. Only this header knows MPI, and it is compiled with the program, so
 * libgoal serves every MPI library.
 */
#ifndef GOAL_MPI_H
#define GOAL_MPI_H

#include <goal.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* Gives each process the bytes of all, as GOAL_Init_among asks for it. */
static inline int GOAL_Mpi_exchange(void *context, const void *own, size_t bytes, void *all) {
  if (bytes > INT_MAX) return 1;
  return MPI_Allgather((void *)own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                       *(MPI_Comm *)context) != MPI_SUCCESS;
}

/*
 * Joins the group of all processes of MPI_COMM_WORLD, with the same ranks. All of them call it,
 * after MPI_Init. GOAL_Finalize must come before MPI_Finalize.
 */
static inline int GOAL_Init_mpi(void) {
  int rank, size;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  return GOAL_Init_among(rank, size, GOAL_Mpi_exchange, &world);
}

/*
 * Returns a communicator of libgoal with the processes of one of MPI, in the same order; NULL if
 * that fails. All processes of it call this. Joins the group first if the process has not, so the
 * first call in a program must be one of all processes of MPI_COMM_WORLD. The caller frees it with
 * GOAL_Comm_free. An intercommunicator has none.
 */
static inline GOAL_Comm GOAL_Comm_from_mpi(MPI_Comm comm) {
  int size, is_inter;
  MPI_Group world_group, group;
  GOAL_Comm made = NULL;
  if (!GOAL_IsInitialized() && GOAL_Init_mpi() != GOAL_SUCCESS) return NULL;
  if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter) return NULL;
  MPI_Comm_size(comm, &size);
  int *ranks = (int *)malloc(2 * (size_t)size * sizeof *ranks);
  if (!ranks) return NULL;
  for (int i = 0; i < size; i++) ranks[size + i] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  MPI_Comm_group(comm, &group);
  if (MPI_Group_translate_ranks(group, size, ranks + size, world_group, ranks) == MPI_SUCCESS)
    made = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, size);
  MPI_Group_free(&group);
  MPI_Group_free(&world_group);
  free(ranks);
  return made;
}

#endif
