// A child that a rank makes by fork is no rank. Each of its calls returns GOAL_ERR_INIT, also at
// its exit, and its parent goes on undisturbed. Children of system(), posix_spawn and vfork work.
// RUN: build %s
// RUN: goal-run -n 2 --timeout 60 ./forks 2>err; sort -u err
// RUN: goal-run -n 2 --timeout 60 --progress thread ./forks-cpp 2>err; sort -u err
// RUN: ./forks 2>err; sort -u err
#define _DEFAULT_SOURCE
#include <goal.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 6, BYTES = 32768, FORKS = 12 };

static pid_t rank_process;
static GOAL_Schedule schedules[BLOCKS], exchange;
static GOAL_Graph graph;
static GOAL_Comm comm, everyone;
static GOAL_Vertex vertex;
static GOAL_Handle ended;
static unsigned char *blocks[BLOCKS];
static char message[8];
static int failed, event, is_exiting;
static volatile int is_over;

static void check(int is_right, const char *what) {
  if (!is_right) {
    printf("%s %d: %s (%s)\n", getpid() == rank_process ? "rank" : "child of", GOAL_MyRank(), what,
           GOAL_Last_error());
    failed++;
  }
}

/* A call of a child: what it has returned, and what it must return. */
static void refused(int64_t returned, int64_t wanted, const char *call) {
  check(returned == wanted && (is_exiting || GOAL_Last_error_code() == GOAL_ERR_INIT), call);
}

#define CODE(call) refused(call, GOAL_ERR_INIT, #call)
#define NOTHING(call) refused((int64_t)(intptr_t)(call), 0, #call)
#define VERTEX(call) refused(call, GOAL_INVALID_VERTEX, #call)

/* Frees everything at the exit of a child, as destructors of a program do. These calls free
 * nothing: the parent has freed it. */
static void at_exit(void) {
  int i;
  if (getpid() == rank_process) {
    return;
  }
  /* The thread's last error is gone by now. */
  is_exiting = 1;
  for (i = 0; i < BLOCKS; i++) {
    CODE(GOAL_FreeSchedule(schedules[i]));
    CODE(GOAL_Free(blocks[i]));
  }
  CODE(GOAL_FreeGraph(graph));
  CODE(GOAL_Comm_free(comm));
  CODE(GOAL_Finalize());
  if (failed) {
    fflush(stdout);
    _exit(9);
  }
}

static void on_end(GOAL_Handle handle, void *arg) {
  (void)handle;
  ++*(int *)arg;
}

static void act_as_rank(void) {
  int number = 0;
  void *buffer = &number;
  CODE(GOAL_Init());
  CODE(GOAL_MyRank());
  CODE(GOAL_GroupSize());
  CODE(GOAL_Get_progress());
  CODE(GOAL_Set_progress(GOAL_PROGRESS_CALLER));
  NOTHING(GOAL_CreateGraph());
  NOTHING(GOAL_Create());
  NOTHING(GOAL_CreateGraphOn(comm));
  VERTEX(GOAL_Send(graph, message, 8, 0, 0, GOAL_USERSPACE));
  VERTEX(GOAL_Recv(graph, message, 8, 0, 0, GOAL_USERSPACE));
  CODE(GOAL_Requires(graph, vertex, vertex));
  CODE(GOAL_AllocateScratchpad(graph, 8));
  CODE(GOAL_Declare(graph, message, 8));
  CODE(GOAL_Reg_func(graph, NULL));
  NOTHING(GOAL_Compile(graph));
  NOTHING(GOAL_Load("/dev/null", GOAL_COMM_WORLD, NULL, 0));
  NOTHING(GOAL_LoadMemory(message, 8, GOAL_COMM_WORLD, NULL, 0));
  CODE(GOAL_IsOffloaded(exchange));
  NOTHING(GOAL_Offload_reason(exchange));
  CODE(GOAL_Link(exchange, GOAL_COMM_WORLD));
  NOTHING(GOAL_Link_reason(exchange));
  check(!GOAL_IsScheduleValid(exchange), "GOAL_IsScheduleValid");
  CODE(GOAL_MakeScheduleReusable(exchange));
  NOTHING(GOAL_Run(exchange));
  NOTHING(GOAL_RunOn(exchange, &buffer, 1));
  CODE(GOAL_Sched_run(exchange));
  CODE(GOAL_Test(ended));
  CODE(GOAL_Wait(ended));
  CODE(GOAL_Testall(1, &ended));
  CODE(GOAL_Waitall(1, &ended));
  CODE(GOAL_Testany(1, &ended, &number));
  CODE(GOAL_Waitany(1, &ended, &number));
  CODE(GOAL_On_end(ended, on_end, &number));
  CODE(GOAL_Eventfd(ended));
  NOTHING(GOAL_Comm_create(GOAL_COMM_WORLD, &number, 1));
  NOTHING(GOAL_Comm_create_graph(GOAL_COMM_WORLD, NULL, 0, NULL, 0));
  CODE(GOAL_Comm_rank(comm));
  CODE(GOAL_Comm_size(GOAL_COMM_WORLD));
  NOTHING(GOAL_Comm_shrink(comm));
  CODE(GOAL_Comm_lost(comm, &number, 1));
  NOTHING(GOAL_Spawn(NULL, NULL, 1, 0, comm));
  CODE(GOAL_Joining());
  NOTHING(GOAL_Accept(comm));
  CODE(GOAL_Has_joined());
  CODE(GOAL_Leave());
  NOTHING(GOAL_Alloc(64));
  CODE(GOAL_Free(NULL));
  CODE(GOAL_Barrier(comm));
  NOTHING(GOAL_Ibarrier(comm));
  NOTHING(GOAL_Barrier_init(comm));
  CODE(GOAL_Bcast(&number, 1, GOAL_INT32, 0, GOAL_COMM_WORLD));
}

/* A process as `fork` makes it, in a way in which the C library does not notice it. */
static pid_t made_by_the_system(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

static int status_of(pid_t child) {
  int status = -1;
  check(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
  return status;
}

/* Calls of another thread, which holds locks at the moment of a fork. */
static void *calls(void *unused) {
  while (!is_over) {
    GOAL_Graph made = GOAL_CreateGraph();
    void *block = GOAL_Alloc(4096);
    GOAL_Schedule compiled;
    GOAL_Send(made, message, 8, GOAL_MyRank(), 7, GOAL_USERSPACE);
    GOAL_Recv(made, message, 8, GOAL_MyRank(), 7, GOAL_USERSPACE);
    compiled = GOAL_Compile(made);
    GOAL_FreeSchedule(compiled);
    GOAL_FreeGraph(made);
    GOAL_Free(block);
  }
  return unused;
}

static GOAL_Schedule with_scratchpad(void) {
  static char own[8];
  GOAL_Graph made = GOAL_CreateGraph();
  GOAL_Schedule compiled;
  GOAL_AllocateScratchpad(made, BYTES);
  GOAL_Send(made, NULL, 8, GOAL_MyRank(), 0, GOAL_SCRATCHPAD);
  GOAL_Recv(made, own, 8, GOAL_MyRank(), 0, GOAL_USERSPACE);
  compiled = GOAL_Compile(made);
  check(GOAL_FreeGraph(made) == 0, "GOAL_FreeGraph");
  return compiled;
}

static pthread_t main_thread;
static volatile int is_of_main_thread;

/* A child that does not end here, as a handler of an error would. */
static void fork_and_return(GOAL_Handle handle, void *arg) {
  (void)handle;
  is_of_main_thread = pthread_equal(pthread_self(), main_thread);
  *(volatile pid_t *)arg = fork();
}

static pid_t child_in_function;

static void forks_in_function(void *a, size_t bytes, void *b, size_t bytes_b) {
  (void)a, (void)bytes, (void)b, (void)bytes_b;
  fflush(stdout);
  child_in_function = fork();
}

static void in_functions(void) {
  GOAL_Graph made = GOAL_CreateGraph();
  GOAL_Schedule compiled;
  GOAL_Handle run;
  volatile pid_t child = -1;
  int has_thread = GOAL_Get_progress() == GOAL_PROGRESS_THREAD;
  int function = GOAL_Reg_func(made, forks_in_function), status;
  GOAL_Exec(made, function, message, 8, message, 8, GOAL_USERSPACE, GOAL_USERSPACE);
  compiled = GOAL_Compile(made);
  run = GOAL_Run(compiled);
  check(GOAL_Wait(run) == 0, "a run whose function forks");
  check(getpid() == rank_process, "a child in the middle of an action goes on");
  status = status_of(child_in_function);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 1, "the child of a function");
  check(GOAL_FreeSchedule(compiled) == 0 && GOAL_FreeGraph(made) == 0, "GOAL_FreeSchedule");
  run = GOAL_Ibarrier(GOAL_COMM_WORLD);
  main_thread = pthread_self();
  check(GOAL_On_end(run, fork_and_return, (void *)&child) == 0, "GOAL_On_end");
  while (child == -1 && (has_thread || GOAL_Test(run) == 0)) {
  }
  if (getpid() != rank_process) {
    CODE(GOAL_Wait(run));
    _exit(failed ? 9 : 0);
  }
  status = status_of(child);
  check(WIFEXITED(status) && WEXITSTATUS(status) == !is_of_main_thread, "a child in GOAL_On_end");
  check(GOAL_Wait(run) == 0, "a run at whose end a function forks");
}

static void others(void) {
  char name[] = "true", *arguments[] = {name, NULL}, *none[] = {NULL};
  pid_t child;
  int status = system("exit 3");
  check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "system");
  check(posix_spawnp(&child, name, NULL, NULL, arguments, none) == 0, "posix_spawnp");
  check(status_of(child) == 0, "the child of posix_spawnp");
  child = vfork();
  if (child == 0) {
    execlp(name, name, (char *)NULL);
    _exit(9);
  }
  check(status_of(child) == 0, "the child of vfork");
}

int main(void) {
  int me, size, i, j, all = 0, ranks[] = {0, 1};
  pthread_t thread;
  struct pollfd readable;
  GOAL_Handle waits;
  check(GOAL_Init() == 0, "GOAL_Init");
  rank_process = getpid();
  atexit(at_exit);
  me = GOAL_MyRank();
  size = GOAL_GroupSize();
  graph = GOAL_CreateGraph();
  if (me == 0) {
    vertex = GOAL_Send(graph, message, 8, size - 1, 0, GOAL_USERSPACE);
  }
  if (me == size - 1) {
    vertex = GOAL_Recv(graph, message, 8, 0, 0, GOAL_USERSPACE);
  }
  exchange = GOAL_Compile(graph);
  comm = GOAL_Comm_create(GOAL_COMM_WORLD, &me, 1);
  everyone = GOAL_Comm_create(GOAL_COMM_WORLD, ranks, size);
  for (i = 0; i < BLOCKS; i++) {
    schedules[i] = with_scratchpad();
    ended = GOAL_Run(schedules[i]);
    check(GOAL_Wait(ended) == 0, "GOAL_Wait");
    blocks[i] = (unsigned char *)GOAL_Alloc(BYTES);
    memset(blocks[i], 0x40 + i, BYTES);
  }
  /* Its end comes only after the forks of all ranks: rank 0 joins the barrier then. */
  waits = me == 0 ? NULL : GOAL_Ibarrier(GOAL_COMM_WORLD);
  event = waits ? GOAL_Eventfd(waits) : -1;
  check(pthread_create(&thread, NULL, calls, NULL) == 0, "pthread_create");
  for (i = 0; i < FORKS; i++) {
    pid_t child;
    fflush(stdout);
    child = i % 2 ? made_by_the_system() : fork();
    if (child == 0) {
      strcpy(message, "child");
      act_as_rank();
      if (waits) {
        CODE(GOAL_Wait(waits));
      }
      exit(failed != 0);
    }
    check(status_of(child) == 0, "the child");
  }
  is_over = 1;
  check(pthread_join(thread, NULL) == 0, "pthread_join");
  others();
  readable.fd = event;
  readable.events = POLLIN;
  check(waits == NULL || poll(&readable, 1, 0) == 0, "a child has made a descriptor readable");
  check(GOAL_Barrier(everyone) == 0, "GOAL_Barrier");
  if (waits == NULL) {
    waits = GOAL_Ibarrier(GOAL_COMM_WORLD);
  }
  check(GOAL_Wait(waits) == 0, "the barrier");
  strcpy(message, me == 0 ? "parent" : "-");
  check(GOAL_Wait(GOAL_Run(exchange)) == 0 && !strcmp(message, "parent"), "a message of the rank");
  in_functions();
  for (i = 0; i < BLOCKS; i++) {
    check(GOAL_FreeSchedule(schedules[i]) == 0, "GOAL_FreeSchedule of the rank");
  }
  for (i = 0; i < 4 * BLOCKS; i++) {
    unsigned char *made = (unsigned char *)GOAL_Alloc(BYTES / 2);
    memset(made, 0x80 + i, BYTES / 2);
  }
  for (i = 0; i < BLOCKS; i++) {
    for (j = 0; j < BYTES; j++) {
      all += blocks[i][j] == 0x40 + i;
    }
    check(GOAL_Free(blocks[i]) == 0, "GOAL_Free of the rank");
  }
  check(all == BLOCKS * BYTES, "a block of the rank is overwritten");
  check(GOAL_Comm_free(comm) == 0 && GOAL_Comm_free(everyone) == 0 && GOAL_FreeGraph(graph) == 0, "GOAL_Comm_free");
  check(GOAL_Finalize() == 0, "GOAL_Finalize");
  fflush(stdout);
  if (fork() == 0) {
    act_as_rank();
    exit(failed != 0);
  }
  {
    int status = -1;
    wait(&status);
    check(status == 0, "a child after GOAL_Finalize");
  }
  return failed != 0;
}
