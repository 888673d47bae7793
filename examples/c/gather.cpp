// The gathers of section 5.5 of the ESPGOAL thesis: linear with synchronization, linear, binomial.
// RUN: build %s
// RUN: ./gather-cpp && goal-run -n 2 ./gather-cpp && goal-run -n 4 ./gather-cpp
// RUN: goal-run -n 6 ./gather-cpp && goal-run -n 7 ./gather-cpp
//
// Differences from the print, beside casts:
// - Linear with synchronization: dependencies have the order of GOAL_Requ, so the listing is right
//   with it. The synchronization has no bytes, as the text says. The two receives from a rank have
//   the same tag, so a start dependency keeps their order. The vector has a place for each rank.
//   The root's own data goes to its place, not to the beginning. The first segment is at most what
//   there is.
// - Binomial: the root is rank 0, as for the functions of section 5.3, which have no argument
//   `root`. The receive of the own data goes to the scratchpad, which the print leaves out.
#include <goal.h>
#include <algorithm>
#include <cstdio>
#include <vector>

static GOAL_Schedule GOAL_linear_gather_sync(void *sbuf, int scount, void *rbuf, int rcount,
                                             int root, int segsize) {
  int myrank = GOAL_MyRank();
  int commsize = GOAL_GroupSize();
  GOAL_Graph g = GOAL_CreateGraph();
  segsize = std::min(segsize, scount);
  if (myrank != root) {
    GOAL_Vertex syncmsg = GOAL_Recv(g, ((char *)rbuf), 0, root);
    GOAL_Vertex firstseg = GOAL_Send(g, sbuf, segsize, root);
    GOAL_Vertex rest = GOAL_Send(g, ((char *)sbuf + segsize), scount - segsize, root);
    GOAL_Requ(g, firstseg, syncmsg);
    GOAL_Requ(g, rest, firstseg);
  } else {
    std::vector<GOAL_Vertex> reqs(commsize, GOAL_INVALID_VERTEX);
    for (int p = 0; p < commsize; p++) {
      if (p == root) continue;
      reqs[p] = GOAL_Recv(g, ((char *)rbuf) + p * rcount, segsize, p);
      GOAL_Vertex syncmessage = GOAL_Send(g, ((char *)sbuf), 0, p);
      GOAL_Vertex rest =
          GOAL_Recv(g, ((char *)rbuf) + (p * rcount) + segsize, rcount - segsize, p);
      GOAL_Requ(g, rest, syncmessage);
      GOAL_IRequires(g, reqs[p], rest);
    }
    GOAL_Vertex cplcl = GOAL_LocalOp(g, sbuf, NULL, (char *)rbuf + root * rcount, GOAL_COPY,
                                     GOAL_UINT, 8, rcount);
    for (int p = 0; p < commsize; p++) {
      if (p != root) GOAL_Requ(g, cplcl, reqs[p]);
    }
  }
  GOAL_Schedule sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

static GOAL_Schedule GOAL_linear_gather(void *sbuf, int scount, void *rbuf, int rcount, int root) {
  int myrank = GOAL_MyRank();
  int commsize = GOAL_GroupSize();
  GOAL_Graph g = GOAL_CreateGraph();
  /* Everyone sends data (root too because we
   have to copy from send to receive buffer) */
  GOAL_Send(g, sbuf, scount, root);
  if (myrank == root) {
    /* receive from everyone */
    for (int p = 0; p < commsize; p++) {
      GOAL_Recv(g, ((char *)rbuf) + p * rcount, rcount, p);
    }
  }
  GOAL_Schedule sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

/* Section 5.3. */
static int inorder_bmtree_child(int rank, int size, int num_child) {
  int childs = 0;
  int mask = 1;
  while (mask < size) {
    int remote = rank ^ mask;
    if (remote < rank) break;
    else if (remote < size) {
      if (childs == num_child) return remote;
      childs++;
    }
    mask <<= 1;
  }
  return -1;
}

/* Section 5.3. */
static int inorder_bmtree_father(int rank, int size) {
  int mask = 1;
  if (0 == rank) return 0;
  while (mask < size) {
    int remote = rank ^ mask;
    if (remote < rank) return remote;
    mask <<= 1;
  }
  return -1;
}

static GOAL_Schedule GOAL_binomial_tree_gather(void *sbuf, int scount, void *rbuf, int rcount) {
  const int root = 0;
  int myrank = GOAL_MyRank();
  int commsize = GOAL_GroupSize();
  int total_recv = 0;
  GOAL_Graph g = GOAL_CreateGraph();
  if (myrank == root) {
    GOAL_Send(g, sbuf, scount, root, 1);
    GOAL_Recv(g, rbuf, rcount, root, 1);
  }
  if (inorder_bmtree_child(myrank, commsize, 0) != -1) {
    int child;
    int childnum = 0;
    std::vector<GOAL_Vertex> reqs;
    if (myrank != root) {
      GOAL_Send(g, sbuf, scount, myrank, 1);
      reqs.push_back(GOAL_Recv(g, 0, scount, myrank, 1, GOAL_SCRATCHPAD));
    }
    while ((child = inorder_bmtree_child(myrank, commsize, childnum)) != -1) {
      int mycount = child - myrank;
      if (mycount > (commsize - child)) mycount = commsize - child;
      mycount *= rcount;
      if (myrank != root) {
        reqs.push_back(GOAL_Recv(g, GOAL_OFFSET(total_recv + scount), mycount, child, 2,
                                 GOAL_SCRATCHPAD));
      } else {
        reqs.push_back(GOAL_Recv(g, ((char *)rbuf) + total_recv + scount, mycount, child, 2,
                                 GOAL_USERSPACE));
      }
      total_recv += mycount;
      childnum++;
    }
    if (myrank != root) {
      int father = inorder_bmtree_father(myrank, commsize);
      GOAL_Vertex send = GOAL_Send(g, 0, total_recv + scount, father, 2, GOAL_SCRATCHPAD);
      for (size_t i = 0; i < reqs.size(); i++) {
        GOAL_Requires(g, reqs[i], send);
      }
      GOAL_AllocateScratchpad(g, total_recv + scount);
    }
  } else if (myrank != root) {
    int father = inorder_bmtree_father(myrank, commsize);
    GOAL_Send(g, sbuf, scount, father, 2);
  }
  GOAL_Schedule sched = GOAL_Compile(g);
  GOAL_FreeGraph(g);
  return sched;
}

static int wrong;

static void check(GOAL_Schedule sched, const std::vector<char> &all, int bytes, int root) {
  if (GOAL_Wait(GOAL_Run(sched)) != GOAL_SUCCESS) {
    std::puts(GOAL_Last_error());
    wrong++;
  }
  GOAL_FreeSchedule(sched);
  for (size_t i = 0; GOAL_MyRank() == root && i < all.size(); i++) {
    wrong += all[i] != char(i / bytes + i % bytes);
  }
}

int main() {
  if (GOAL_Init() != GOAL_SUCCESS) {
    std::puts(GOAL_Last_error());
    return 1;
  }
  int rank = GOAL_MyRank(), size = GOAL_GroupSize();
  int sizes[] = {1, 512, 100000};
  for (int bytes : sizes) {
    std::vector<char> own(bytes), all(size * bytes);
    for (int i = 0; i < bytes; i++) {
      own[i] = char(rank + i);
    }
    for (int root = 0; root < size; root++) {
      std::fill(all.begin(), all.end(), -1);
      check(GOAL_linear_gather_sync(own.data(), bytes, all.data(), bytes, root, 1024), all, bytes,
            root);
      std::fill(all.begin(), all.end(), -1);
      check(GOAL_linear_gather(own.data(), bytes, all.data(), bytes, root), all, bytes, root);
    }
    std::fill(all.begin(), all.end(), -1);
    check(GOAL_binomial_tree_gather(own.data(), bytes, all.data(), bytes), all, bytes, 0);
  }
  GOAL_Allreduce(GOAL_IN_PLACE, &wrong, 1, GOAL_INT32, GOAL_ADD);
  if (rank == 0) {
    std::printf("%d ranks: %d wrong bytes\n", size, wrong);
  }
  return GOAL_Finalize() != GOAL_SUCCESS || wrong != 0;
}
