// Each call in a wrong way, and what it returns. No call is undefined because of a wrong handle.
// RUN: build %s
// RUN: ./misuse >out; sed 's/0x7[0-9a-f]\{11\}/ADDRESS/' out
// RUN: ./misuse finalized
// RUN: ./misuse-cpp >/dev/null
// RUN: memcheck ./misuse without-wait >/dev/null
#include <goal.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void show(const char *call, int code, int returned) {
  if (code >= 0 || !returned) {
    failures++;
    printf("NOT REFUSED (%d): %s\n", code, call);
    return;
  }
  printf("%d  %s\n      %s\n", code, call, GOAL_Last_error());
}

/* A call that returns a code. */
#define CODE(call)                                     \
  do {                                                 \
    int code_ = (call);                                \
    show(#call, code_, code_ == GOAL_Last_error_code()); \
  } while (0)
/* A call that returns a vertex. */
#define VERTEX(call) show(#call, ((call) == GOAL_INVALID_VERTEX ? GOAL_Last_error_code() : 0), 1)
/* A call that returns a handle or a pointer. */
#define HANDLE(call) show(#call, ((call) == NULL ? GOAL_Last_error_code() : 0), 1)

static void nothing(GOAL_Handle handle, void *arg) {
  (void)handle;
  (void)arg;
}

static int in_function;

static void calls_library(void *buf1, size_t s1, void *buf2, size_t s2) {
  (void)buf1;
  (void)s1;
  (void)buf2;
  (void)s2;
  in_function = GOAL_Test(GOAL_HANDLE_NULL);
}

#define US GOAL_USERSPACE

static void handles(GOAL_Graph graph, GOAL_Schedule schedule, GOAL_Handle handle, GOAL_Comm comm,
                    GOAL_Vertex vertex) {
  char buf[8] = {0};
  int index;
  GOAL_Handle *none = NULL;
  VERTEX(GOAL_Send(graph, buf, 8, 0, 0, US));
  VERTEX(GOAL_Recv(graph, buf, 8, 0, 0, US));
  VERTEX(GOAL_SendVec(graph, NULL, NULL, 0, 0, 0, US));
  VERTEX(GOAL_RecvVec(graph, NULL, NULL, 0, 0, 0, US));
  VERTEX(GOAL_LocalOp(graph, buf, buf, buf, GOAL_ADD, GOAL_SINT, 8, 8, US, US, US));
  VERTEX(GOAL_LocalOpVec(graph, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, 0, GOAL_SINT, 8, GOAL_ADD,
                         US, US, US));
  VERTEX(GOAL_Exec(graph, GOAL_PREDEFINED(GOAL_ADD, GOAL_INT8), buf, 8, buf, 8, US, US));
  CODE(GOAL_Requires(graph, vertex, vertex));
  CODE(GOAL_IRequires(graph, vertex, vertex));
  CODE(GOAL_Requ(graph, vertex, vertex));
  CODE(GOAL_AllocateScratchpad(graph, 8));
  CODE(GOAL_Declare(graph, buf, 8));
  CODE(GOAL_FreeGraph(graph));
  HANDLE(GOAL_Compile(graph));
  CODE(GOAL_MakeScheduleReusable(schedule));
  CODE(GOAL_Link(schedule, GOAL_COMM_WORLD));
  if (GOAL_Link_reason(schedule) != NULL) printf("GOAL_Link_reason has a text\n");
  HANDLE(GOAL_Run(schedule));
  HANDLE(GOAL_RunOn(schedule, NULL, 0));
  CODE(GOAL_Sched_run(schedule));
  CODE(GOAL_FreeSchedule(schedule));
  CODE(GOAL_Test(handle));
  CODE(GOAL_Wait(handle));
  CODE(GOAL_On_end(handle, nothing, NULL));
  CODE(GOAL_Eventfd(handle));
  if (handle != GOAL_HANDLE_NULL) {
    CODE(GOAL_Testall(1, &handle));
    CODE(GOAL_Waitall(1, &handle));
    CODE(GOAL_Testany(1, &handle, &index));
    CODE(GOAL_Waitany(1, &handle, &index));
  } else {
    CODE(GOAL_Testall(1, none));
    CODE(GOAL_Waitall(1, none));
    CODE(GOAL_Testany(1, none, &index));
    CODE(GOAL_Waitany(1, none, &index));
  }
  CODE(GOAL_Comm_rank(comm));
  CODE(GOAL_Comm_size(comm));
  CODE(GOAL_Comm_free(comm));
  HANDLE(GOAL_Comm_create(comm, NULL, 0));
  HANDLE(GOAL_Comm_create_graph(comm, NULL, 0, NULL, 0));
  CODE(GOAL_Comm_indegree(comm));
  CODE(GOAL_Comm_outdegree(comm));
  HANDLE(GOAL_CreateGraphOn(comm));
  HANDLE(GOAL_Load("/nowhere", comm, NULL, 0));
  HANDLE(GOAL_LoadMemory(buf, 8, comm, NULL, 0));
  CODE(GOAL_Barrier(comm));
  HANDLE(GOAL_Ibarrier(comm));
  HANDLE(GOAL_Barrier_init(comm));
  CODE(GOAL_Allreduce(GOAL_IN_PLACE, buf, 1, GOAL_INT64, GOAL_ADD, comm));
  CODE(GOAL_Alltoallv(GOAL_IN_PLACE, NULL, NULL, buf, NULL, NULL, GOAL_INT64, comm));
  HANDLE(GOAL_Ineighbor_allgather(buf, buf, 1, GOAL_INT64, comm));
}

static void no_group(void) {
  GOAL_Graph graph = (GOAL_Graph)(uintptr_t)0x1000000000000000u;
  CODE(GOAL_GroupSize());
  CODE(GOAL_MyRank());
  CODE(GOAL_Finalize());
  CODE(GOAL_Get_progress());
  CODE(GOAL_Set_progress(GOAL_PROGRESS_CALLER));
  HANDLE(GOAL_CreateGraph());
  HANDLE(GOAL_Create());
  HANDLE(GOAL_Alloc(8));
  CODE(GOAL_Free(NULL));
  CODE(GOAL_Reg_func(NULL, calls_library));
  handles(graph, NULL, (GOAL_Handle)(uintptr_t)1, GOAL_COMM_WORLD, 0);
}

static void arguments(void) {
  char buf[16] = {0};
  char *mid = buf + 4;
  void *two[2] = {buf, buf + 8};
  void *same[2] = {buf, buf + 4}, *once[2] = {buf, buf};
  int lengths[2] = {8, 8}, negative[2] = {8, -1}, ranks[3] = {0, 0, 99};
  GOAL_Graph g = GOAL_CreateGraph(), other = GOAL_CreateGraph(), large;
  GOAL_Vertex a = GOAL_Send(g, buf, 8, GOAL_MyRank(), 0, US);
  GOAL_Vertex b = GOAL_Recv(g, buf + 8, 8, GOAL_MyRank(), 0, US);
  GOAL_Vertex foreign = GOAL_Send(other, buf, 8, 0, 0, US);
  GOAL_Schedule schedule = GOAL_Compile(g), too_large, prepared;
  GOAL_Comm alone;
  int own = GOAL_MyRank();

  puts("-- arguments of graphs");
  VERTEX(GOAL_Send(g, NULL, 8, 0, 0, US));
  VERTEX(GOAL_Send(g, buf, -1, 0, 0, US));
  VERTEX(GOAL_Send(g, buf, 8, 99, 0, US));
  VERTEX(GOAL_Send(g, buf, 8, -1, 0, US));
  VERTEX(GOAL_Send(g, buf, 8, 0, -1, US));
  VERTEX(GOAL_Send(g, buf, 8, 0, 0, (GOAL_MemType)3));
  VERTEX(GOAL_Recv(g, NULL, 8, 0, 0, US));
  VERTEX(GOAL_Recv(g, buf, -8, 0, 0, US));
  VERTEX(GOAL_Recv(g, buf, 8, 99, 0, US));
  VERTEX(GOAL_Recv(g, buf, 8, -2, 0, US));
  VERTEX(GOAL_Recv(g, buf, 8, 0, -2, US));
  VERTEX(GOAL_SendVec(g, NULL, lengths, 2, 0, 0, US));
  VERTEX(GOAL_SendVec(g, two, NULL, 2, 0, 0, US));
  VERTEX(GOAL_SendVec(g, two, negative, 2, 0, 0, US));
  VERTEX(GOAL_SendVec(g, two, lengths, -2, 0, 0, US));
  VERTEX(GOAL_RecvVec(g, same, lengths, 2, 0, 0, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, GOAL_ADD, GOAL_FLOAT, 8, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, GOAL_ADD, (GOAL_DataType)3, 8, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, GOAL_XOR, GOAL_FLOAT, 32, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, GOAL_ADD, GOAL_UINT, 1, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, (GOAL_Op)99, GOAL_UINT, 8, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, buf, buf, GOAL_ADD, GOAL_UINT, 8, -1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, mid, mid, GOAL_ADD, GOAL_UINT, 64, 1, US, US, US));
  VERTEX(GOAL_LocalOp(g, buf, NULL, buf, GOAL_ADD, GOAL_UINT, 64, 1, US, US, US));
  VERTEX(GOAL_LocalOpVec(g, two, lengths, 2, two, lengths, 1, two, lengths, 2, GOAL_UINT, 8, GOAL_ADD,
                         US, US, US));
  VERTEX(GOAL_Exec(g, 77, buf, 8, buf, 8, US, US));
  VERTEX(GOAL_Exec(g, -1, buf, 8, buf, 8, US, US));
  CODE(GOAL_Reg_func(g, NULL));
  CODE(GOAL_Requires(g, GOAL_INVALID_VERTEX, a));
  CODE(GOAL_Requires(g, a, a));
  CODE(GOAL_Requires(g, a, foreign));
  CODE(GOAL_Requires(g, foreign, a));
  CODE(GOAL_Requ(g, a, b + 99));
  CODE(GOAL_IRequires(g, a, INT64_MAX));
  CODE(GOAL_Declare(g, NULL, 8));

  puts("-- graphs that can't be compiled");
  GOAL_Requires(other, foreign, GOAL_Send(other, GOAL_OFFSET(0), 8, 0, 0, GOAL_SCRATCHPAD));
  HANDLE(GOAL_Compile(other));
  GOAL_FreeGraph(other);
  other = GOAL_CreateGraph();
  {
    GOAL_Vertex x = GOAL_Send(other, buf, 8, 0, 0, US), y = GOAL_Send(other, buf, 8, 0, 0, US);
    GOAL_Requires(other, x, y);
    GOAL_Requires(other, y, x);
  }
  HANDLE(GOAL_Compile(other));
  GOAL_FreeGraph(other);
  CODE(GOAL_FreeGraph(other));

  puts("-- communicators");
  HANDLE(GOAL_Comm_create(GOAL_COMM_WORLD, NULL, 1));
  HANDLE(GOAL_Comm_create(GOAL_COMM_WORLD, ranks, -1));
  HANDLE(GOAL_Comm_create(GOAL_COMM_WORLD, ranks, 0));
  HANDLE(GOAL_Comm_create(GOAL_COMM_WORLD, ranks, 2));
  HANDLE(GOAL_Comm_create(GOAL_COMM_WORLD, ranks + 2, 1));
  CODE(GOAL_Comm_free(GOAL_COMM_WORLD));
  alone = GOAL_Comm_create(GOAL_COMM_WORLD, &own, 1);
  GOAL_Comm_free(alone);
  CODE(GOAL_Comm_free(alone));

  puts("-- files");
  HANDLE(GOAL_Load(NULL, GOAL_COMM_WORLD, NULL, 0));
  HANDLE(GOAL_Load("/nowhere/at/all", GOAL_COMM_WORLD, NULL, 0));
  HANDLE(GOAL_Load("/dev/zero", GOAL_COMM_WORLD, NULL, 0));
  HANDLE(GOAL_LoadMemory(NULL, 16, GOAL_COMM_WORLD, NULL, 0));
  HANDLE(GOAL_LoadMemory(buf, 16, GOAL_COMM_WORLD, NULL, 0));

  puts("-- memory of a run");
  large = GOAL_CreateGraph();
  GOAL_AllocateScratchpad(large, (size_t)1 << 62);
  GOAL_LocalOp(large, buf, NULL, GOAL_OFFSET(0), GOAL_COPY, GOAL_UINT, 8, 8, US, US, GOAL_SCRATCHPAD);
  too_large = GOAL_Compile(large);
  HANDLE(GOAL_Run(too_large));
  GOAL_FreeSchedule(too_large);
  GOAL_FreeGraph(large);

  puts("-- collectives");
  CODE(GOAL_Bcast(buf, -1, GOAL_UINT8, 0, GOAL_COMM_WORLD));
  CODE(GOAL_Bcast(buf, 8, GOAL_UINT8, 99, GOAL_COMM_WORLD));
  CODE(GOAL_Bcast(buf, 8, GOAL_UINT8, -1, GOAL_COMM_WORLD));
  CODE(GOAL_Bcast(buf, 8, (GOAL_Type)0x208, 0, GOAL_COMM_WORLD));
  CODE(GOAL_Bcast(GOAL_IN_PLACE, 8, GOAL_UINT8, 0, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf, 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, NULL, 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf + 8, 1, GOAL_INT64, GOAL_SUB, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf + 8, 1, GOAL_INT64, GOAL_COPY, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf + 8, 1, GOAL_FLOAT64, GOAL_AND, GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf + 8, 1, GOAL_INT64, GOAL_USER_OP(9), GOAL_COMM_WORLD));
  CODE(GOAL_Allreduce(buf, buf + 8, INT64_MAX, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD));
  HANDLE(GOAL_Iallreduce(buf, buf + 8, 1, GOAL_INT64, GOAL_WTIME, GOAL_COMM_WORLD));
  HANDLE(GOAL_Reduce_init(buf, buf + 8, 1, GOAL_INT64, GOAL_ADD, 99, GOAL_COMM_WORLD));
  prepared = GOAL_Allreduce_init(buf, buf + 8, 1, GOAL_INT64, GOAL_ADD, GOAL_COMM_WORLD);
  HANDLE(GOAL_RunOn(prepared, once, 2));
  GOAL_FreeSchedule(prepared);

  puts("-- collectives with lists");
  {
    const int64_t two_long[2] = {2, 2}, minus[2] = {-1, -1}, twice[2] = {1, 1}, past[2] = {INT64_MAX, 0};
    const int64_t odd = 0;
    const int64_t *unaligned = (const int64_t *)(const void *)(buf + 1);
    void *place = GOAL_IN_PLACE;
    CODE(GOAL_Gatherv(buf, 1, buf + 8, NULL, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 1, buf + 8, two_long, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, -2, buf + 8, two_long, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, buf + 8, minus, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, buf + 8, two_long, minus, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, buf + 8, two_long, past, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, buf, two_long, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, place, two_long, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, NULL, two_long, NULL, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Gatherv(buf, 2, buf + 8, two_long, NULL, GOAL_INT32, 99, GOAL_COMM_WORLD));
    CODE(GOAL_Scatterv(buf, two_long, NULL, buf + 8, 1, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Scatterv(buf, NULL, NULL, buf + 8, 1, GOAL_INT32, 0, GOAL_COMM_WORLD));
    CODE(GOAL_Scatterv(buf, unaligned, NULL, buf + 8, 1, GOAL_INT32, 0, GOAL_COMM_WORLD));
    HANDLE(GOAL_Iallgatherv(buf, 1, buf + 8, two_long, NULL, GOAL_INT32, GOAL_COMM_WORLD));
    HANDLE(GOAL_Allgatherv_init(buf, 2, buf + 8, two_long, NULL, (GOAL_Type)7, GOAL_COMM_WORLD));
    CODE(GOAL_Alltoallv(buf, twice, NULL, buf + 8, two_long, NULL, GOAL_INT32, GOAL_COMM_WORLD));
    CODE(GOAL_Alltoallv(buf, NULL, NULL, buf + 8, two_long, NULL, GOAL_INT32, GOAL_COMM_WORLD));
    CODE(GOAL_Alltoallv(place, NULL, NULL, buf + 8, two_long, minus, GOAL_INT32, GOAL_COMM_WORLD));
    CODE(GOAL_Reduce_scatter(buf, buf + 8, NULL, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD));
    CODE(GOAL_Reduce_scatter(buf, buf + 8, twice, GOAL_INT32, GOAL_SUB, GOAL_COMM_WORLD));
    CODE(GOAL_Reduce_scatter(buf, buf + 8, past, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD));

    puts("-- neighbours");
    {
      const int self[2] = {0, 0}, other_rank[1] = {99}, minus_one[1] = {-1};
      const int64_t overlapping[2] = {0, 1}, zero[2] = {0, 0};
      GOAL_Comm loops = GOAL_Comm_create_graph(GOAL_COMM_WORLD, self, 2, self, 2);
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, NULL, 1, NULL, 0));
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, self, -1, self, 0));
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, self, 0, self, -1));
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, other_rank, 1, self, 0));
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, self, 0, minus_one, 1));
      HANDLE(GOAL_Comm_create_graph(GOAL_COMM_WORLD, self, 2, self, 1));
      CODE(GOAL_Comm_indegree(GOAL_COMM_WORLD));
      CODE(GOAL_Comm_outdegree(GOAL_COMM_WORLD));
      CODE(GOAL_Neighbor_allgather(buf, buf + 4, 1, GOAL_INT32, GOAL_COMM_WORLD));
      CODE(GOAL_Neighbor_alltoallv(buf, zero, NULL, buf + 8, zero, NULL, GOAL_INT8, GOAL_COMM_WORLD));
      CODE(GOAL_Neighbor_allgather(place, buf + 4, 1, GOAL_INT32, loops));
      CODE(GOAL_Neighbor_allgather(buf, buf, 1, GOAL_INT32, loops));
      CODE(GOAL_Neighbor_allgather(buf, buf + 4, -1, GOAL_INT32, loops));
      CODE(GOAL_Neighbor_alltoall(buf, NULL, 1, GOAL_INT32, loops));
      CODE(GOAL_Neighbor_allgatherv(buf, odd, buf + 8, twice, NULL, GOAL_INT8, loops));
      CODE(GOAL_Neighbor_allgatherv(buf, 2, buf + 8, two_long, overlapping, GOAL_INT8, loops));
      CODE(GOAL_Neighbor_alltoallv(buf, twice, NULL, buf + 8, two_long, NULL, GOAL_INT8, loops));
      HANDLE(GOAL_Neighbor_alltoallv_init(buf, NULL, NULL, buf + 8, twice, NULL, GOAL_INT8, loops));
      GOAL_Comm_free(loops);
    }
  }

  puts("-- memory and progress");
  HANDLE(GOAL_Alloc((size_t)1 << 60));
  CODE(GOAL_Free(buf));
  {
    void *block = GOAL_Alloc(8);
    GOAL_Free(block);
    CODE(GOAL_Free(block));
  }
  CODE(GOAL_Set_progress((GOAL_Progress)9));
  CODE(GOAL_Set_progress(GOAL_PROGRESS_NODE));

  puts("-- freed handles");
  {
    GOAL_Graph freed = GOAL_CreateGraph();
    GOAL_Schedule done = GOAL_Compile(freed);
    GOAL_FreeGraph(freed);
    GOAL_FreeSchedule(done);
    handles(freed, done, (GOAL_Handle)(uintptr_t)0x700000007u, alone, 0);
    if (GOAL_IsScheduleValid(done) || GOAL_IsScheduleValid(NULL)) {
      failures++;
    }
  }
  puts("-- handles of another kind");
  handles((GOAL_Graph)schedule, (GOAL_Schedule)g, (GOAL_Handle)g, (GOAL_Comm)g, a);
  puts("-- no handles");
  handles(NULL, NULL, NULL, NULL, GOAL_INVALID_VERTEX);
  puts("-- numbers");
  handles((GOAL_Graph)(uintptr_t)12345, (GOAL_Schedule)(uintptr_t)UINTPTR_MAX,
          (GOAL_Handle)(uintptr_t)UINTPTR_MAX, (GOAL_Comm)(uintptr_t)0x7ffe00001234u, INT64_MIN);

  puts("-- a registered function that calls the library");
  {
    GOAL_Graph calls = GOAL_CreateGraph();
    GOAL_Exec(calls, GOAL_Reg_func(calls, calls_library), buf, 8, buf + 8, 8, US, US);
    GOAL_Sched_run(GOAL_Compile(calls));
    show("GOAL_Test in it", in_function, 1);
  }
}

/* A run that can't end, as nobody sends to it. */
static void in_flight(int waits) {
  static char buf[8];
  void *two[2] = {buf, buf};
  int index;
  GOAL_Graph g = GOAL_CreateGraph();
  GOAL_Schedule schedule;
  GOAL_Handle run;
  GOAL_Recv(g, buf, 8, 0, 7, US);
  schedule = GOAL_Compile(g);
  run = GOAL_Run(schedule);
  CODE(GOAL_FreeSchedule(schedule));
  CODE(GOAL_Finalize());
  HANDLE(GOAL_RunOn(schedule, two, 1));
  HANDLE(GOAL_RunOn(schedule, NULL, 1));
  HANDLE(GOAL_RunOn(schedule, two, -1));
  CODE(GOAL_Testany(1, &run, NULL));
  CODE(GOAL_Waitany(1, &run, NULL));
  CODE(GOAL_Testall(-1, &run));
  CODE(GOAL_Testall(1, NULL));
  CODE(GOAL_Waitall(1, NULL));
  CODE(GOAL_Testany(1, NULL, &index));
  CODE(GOAL_Waitany(1, NULL, &index));
  CODE(GOAL_On_end(run, NULL, NULL));
  if (GOAL_Test(run) != 0 || !GOAL_IsScheduleValid(schedule)) {
    failures++;
  }
  if (!waits) {
    return;
  }
  puts("-- a wait without an end");
  CODE(GOAL_Wait(run));
  CODE(GOAL_Test(run));
}

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] == 'f') {
    if (GOAL_Init() != GOAL_SUCCESS || GOAL_Finalize() != GOAL_SUCCESS) {
      puts(GOAL_Last_error());
      return 1;
    }
    puts("-- after GOAL_Finalize");
    CODE(GOAL_Init());
    no_group();
    return failures != 0 || !GOAL_IsInitialized() || !GOAL_IsFinalized();
  }
  puts("-- before GOAL_Init");
  no_group();
  if (GOAL_IsInitialized() || !GOAL_IsFinalized()) {
    failures++;
  }
  if (GOAL_Init() != GOAL_SUCCESS) {
    puts(GOAL_Last_error());
    return 1;
  }
  puts("-- a second time");
  CODE(GOAL_Init());
  arguments();
  puts("-- in flight");
  in_flight(argc == 1);
  return failures != 0;
}
