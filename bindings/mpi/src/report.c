/* Reports the calls that ran as schedules and the calls left to MPI. Rank 0 does so if
 * GOALMPI_REPORT is set. */
#include "goalmpi.h"
#include <stdio.h>

uint64_t goalmpi_calls[KINDS][REASONS], goalmpi_bytes_run[KINDS];

static const char *const reasons[REASONS] = {
    [COMMUNICATOR] = "the communicator",
    [SIZE] = "the size",
    [OPERATOR] = "the operator or its type",
    [ARGUMENTS] = "the arguments",
};

/* A barrier has no size: its range alone decides. */
static const char *reason_of(enum kind kind, enum reason reason) {
  return kind == BARRIER && reason == SIZE ? "the table or GOALMPI_RANGES" : reasons[reason];
}

static void add(uint64_t *to, uint64_t more) {
  if (goalmpi_is_threaded) __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
  else *to += more;
}

void goalmpi_count(enum kind kind, enum reason reason, uint64_t bytes) {
  add(&goalmpi_calls[kind][reason], 1);
  if (reason == RUN) add(&goalmpi_bytes_run[kind], bytes);
}

void goalmpi_report(void) {
  char line[256];
  for (int kind = 0; kind < KINDS; kind++) {
    uint64_t left = 0;
    int at = 0;
    for (int reason = RUN + 1; reason < REASONS; reason++) left += goalmpi_calls[kind][reason];
    if (left + goalmpi_calls[kind][RUN] == 0) continue;
    at = snprintf(line, sizeof line, "libgoal-mpi: %s: %llu as schedules (blocks of %llu bytes together), %llu by MPI",
                  goalmpi_names[kind], (unsigned long long)goalmpi_calls[kind][RUN], (unsigned long long)goalmpi_bytes_run[kind],
                  (unsigned long long)left);
    for (int reason = RUN + 1; reason < REASONS; reason++)
      if (goalmpi_calls[kind][reason] && at < (int)sizeof line)
        at += snprintf(line + at, sizeof line - (size_t)at, "; %llu for %s", (unsigned long long)goalmpi_calls[kind][reason],
                       reason_of(kind, reason));
    fprintf(stderr, "%s\n", line);
  }
}
