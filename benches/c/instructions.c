/* Counts the instructions of an operation of a library, MPI or libgoal: instructions OPERATION FILE PROCESSORS WAYS CALLS BYTES...
   FILE, PROCESSORS and WAYS are as for operations.c. A process beside each rank lets it execute one instruction at a time in CALLS
   calls, each rank in turn. The other ranks run at full speed. So their messages are there before the rank looks for them, and it is
   not counted how long a rank waits. Each rank prints "RANK BYTES WAY INSTRUCTIONS LOCKED FENCES SYSTEM-CALLS": medians of its calls, with
   what prepares the call of the library. LOCKED are instructions with a lock prefix, and exchanges with memory. */
#define _GNU_SOURCE
#include "group.h"
#include "calls.h"
#include "clock.h"
#include "meeting.h"
#include "operands.h"
#include "placement.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

enum count { INSTRUCTIONS, LOCKED, FENCES, SYSTEM_CALLS, COUNTS };
enum { CALLS_MAX = 1000, WARM = 100 };

/* The memory that a rank shares with the process that watches it. */
static struct {
  _Atomic int wanted, watched;
  _Atomic int error;
  long calls;
  double counts[COUNTS][CALLS_MAX];
} *shared;

#ifdef __x86_64__
/* Stops the rank for the process that watches it. */
static void stop(void) { __asm__ volatile("int3" ::: "memory"); }

/* All instructions from a stop to this place are counted. */
static __attribute__((noinline)) void mark_end(void) { __asm__ volatile("nop" ::: "memory"); }

static int is_prefix(uint8_t byte) { return memchr("\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0", byte, 11) != NULL; }

/* Counts the instruction that lies at `at` in the rank's memory. */
static void count(pid_t pid, uint64_t at, double counts[COUNTS]) {
  uint64_t words[2] = {ptrace(PTRACE_PEEKTEXT, pid, at, 0), ptrace(PTRACE_PEEKTEXT, pid, at + 8, 0)};
  const uint8_t *code = (const uint8_t *)words;
  int i = 0, locked = 0;
  for (; i < 8 && is_prefix(code[i]); ++i) locked |= code[i] == 0xf0;
  if ((code[i] & 0xf0) == 0x40) ++i;
  int is_exchange = (code[i] & 0xfe) == 0x86 && code[i + 1] < 0xc0;
  int is_fence = code[i] == 0x0f && code[i + 1] == 0xae && code[i + 2] >= 0xe8;
  counts[INSTRUCTIONS] += 1;
  counts[LOCKED] += locked || is_exchange;
  counts[FENCES] += is_fence;
  counts[SYSTEM_CALLS] += code[i] == 0x0f && code[i + 1] == 0x05;
}

/* Lets the rank go on, by one instruction or until it stops. Returns the address of the next instruction, or 0 if it can't. */
static uint64_t go_on(pid_t pid, enum __ptrace_request how) {
  int status, signal = 0;
  do {
    if (ptrace(how, pid, 0, signal) || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status)) return 0;
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
  } while (signal);
  return ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0);
}

static int watch_calls(pid_t pid) {
  int status;
  if (ptrace(PTRACE_ATTACH, pid, 0, 0) || waitpid(pid, &status, 0) < 0) return errno;
  atomic_store(&shared->watched, 1);
  for (long call = 0; call < shared->calls; ++call) {
    uint64_t at = go_on(pid, PTRACE_CONT), last = 0;
    double counts[COUNTS] = {0};
    for (; at && at != (uint64_t)mark_end; last = at, at = go_on(pid, PTRACE_SINGLESTEP))
      /* A repeated instruction stops after each repetition. */
      if (at != last) count(pid, at, counts);
    if (!at) return errno ? errno : ECHILD;
    for (int i = 0; i < COUNTS; ++i) shared->counts[i][call] = counts[i];
  }
  atomic_store(&shared->watched, 0);
  return ptrace(PTRACE_DETACH, pid, 0, 0) ? errno : 0;
}
#else
static void stop(void) {}
static void mark_end(void) {}
static int watch_calls(pid_t pid) { return pid ? ENOTSUP : 0; }
#endif

/* The process beside the rank. */
static void watch(pid_t pid) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    while (!atomic_load(&shared->wanted)) usleep(1000);
    atomic_store(&shared->wanted, 0);
    int error = watch_calls(pid);
    if (!error) continue;
    atomic_store(&shared->error, error);
    atomic_store(&shared->watched, 1);
    _exit(1);
  }
}

static void begin_watch(long calls) {
  shared->calls = calls;
  atomic_store(&shared->wanted, 1);
  while (!atomic_load(&shared->watched)) usleep(1000);
  if (atomic_load(&shared->error)) fail("can't be watched: %s", strerror(shared->error));
}

/* Performs the operation again and again. This rank or another one is watched. */
static void perform(enum operation operation, enum way way, long n, long calls, meeting *m, int watched) {
  for (long k = 0; k < calls; ++k) {
    write_operands(operation, n, k);
    meeting_wait(m, ranks, 1);
    if (watched) {
      stop();
      call(operation, way, n);
      mark_end();
    } else {
      call_awake(operation, way, n);
    }
    if (!results_are_right(operation, n, k, 1)) fail("wrong result of %s", operation_names[operation]);
  }
}

static void measure(enum operation operation, enum way way, long n, long calls, meeting *m) {
  for (int watched = 0; watched < ranks; ++watched) {
    perform(operation, way, n, WARM, m, 0);
    if (rank == watched) begin_watch(calls);
    perform(operation, way, n, calls, m, rank == watched);
    if (rank != watched) continue;
    while (atomic_load(&shared->watched)) usleep(1000);
    printf("%d %ld %s", rank, n, way_names[way]);
    for (int i = 0; i < COUNTS; ++i) printf(" %.0f", median(shared->counts[i], calls));
    printf("\n");
  }
}

int main(int argc, char **argv) {
  pid_t own = getpid(), beside;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  /* Before the library begins, which is told nothing of it. */
  if (shared == MAP_FAILED || (beside = fork()) < 0) return 1;
  if (!beside) watch(own);
  prctl(PR_SET_PTRACER, beside);
  bind_to_processor(argv[3]);
  group_begin(&argc, &argv);
  comm = GROUP_WORLD;
  enum operation operation = operation_named(argv[1]);
  meeting *m = meeting_open(argv[2]);
  check_placement(argv[3]);
  long calls = atol(argv[5]);
  if (calls < 1 || calls > CALLS_MAX) fail("1 to %d calls, not %ld", CALLS_MAX, calls);
  for (int i = 6; i < argc; ++i) {
    long n = atol(argv[i]);
    in = calloc(n * ranks + 64, 1);
    out = calloc(n * ranks + 64, 1);
    for (enum way way = 0; way < WAYS; ++way) {
      if (!strstr(argv[4], way_names[way]) || !prepare(operation, way, n)) continue;
      measure(operation, way, n, calls, m);
      release_kept();
    }
    group_barrier();
    free(in);
    free(out);
  }
  kill(beside, SIGKILL);
  waitpid(beside, NULL, 0);
  group_end();
  return 0;
}
