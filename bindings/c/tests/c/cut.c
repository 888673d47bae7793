// A rank's connections with ranks of other hosts break, and no rank dies by itself. On one host this
// is a job without a loss; the test of jobs over TCP has more.
// RUN: build %s
// RUN: goal-run --survive -n 2 ./cut | sort
#define _POSIX_C_SOURCE 200809L
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void cut(void) {
  int fd;
  for (fd = 3; fd < 1024; fd++) {
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
      shutdown(fd, SHUT_RDWR);
    }
  }
}

/* cut VICTIM LEAVER: VICTIM breaks its connections, and LEAVER finalizes as soon as a run ends. */
int main(int argc, char **argv) {
  int victim = argc > 1 ? atoi(argv[1]) : -1, leaver = argc > 2 ? atoi(argv[2]) : -1;
  int rank, status = 0, step, sent[64] = {0}, received[64];
  GOAL_Comm comm = GOAL_COMM_WORLD;
  if (GOAL_Init() != 0 || GOAL_GroupSize() > 64) {
    return 1;
  }
  rank = GOAL_MyRank();
  for (step = 0; status == 0 && (argc > 1 || step < 100); step++) {
    if (step == 50 && rank == victim) {
      cut();
    }
    status = GOAL_Alltoall(sent, received, 1, GOAL_INT32, comm);
  }
  if (rank == leaver) {
    printf("rank %d leaves: %d\n", rank, GOAL_Finalize());
    return 0;
  }
  if (argc > 1) {
    if (status != GOAL_ERR_RANK_LOST) {
      printf("rank %d: %d: %s\n", rank, status, GOAL_Last_error());
      return 1;
    }
    comm = GOAL_Comm_shrink(comm);
    if (comm == NULL || GOAL_Barrier(comm) != 0) {
      printf("rank %d: %s\n", rank, GOAL_Last_error());
      return 1;
    }
  }
  printf("rank %d is one of %d\n", rank, GOAL_Comm_size(comm));
  fflush(stdout);
  return GOAL_Finalize();
}
