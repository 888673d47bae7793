/* The processors that ranks are bound to, as a list such as 0,1; "-" where the system moves ranks. group.h comes before, with
   _GNU_SOURCE. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "rank %d: ", rank);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  fflush(stderr);
  group_abort(3);
}

/* The processor of a rank. */
static int processor(const char *list, int of) {
  while (of-- > 0) {
    list = strchr(list, ',');
    if (!list) return -1;
    ++list;
  }
  return atoi(list);
}

/* Binds this rank to its processor before the library starts, for launchers that place ranks which
   share processors in another order. */
static void bind_to_processor(const char *list) {
  int of = group_number(), number = of < 0 || *list == '-' ? -1 : processor(list, of);
  if (number < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(number, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* Fails if this rank is not bound to its processor. */
static void check_placement(const char *list) {
  cpu_set_t may;
  if (*list == '-') return;
  sched_getaffinity(0, sizeof may, &may);
  for (int of = 0; of < ranks; ++of)
    if (!CPU_ISSET(processor(list, of), &may) == (processor(list, of) == processor(list, rank)))
      fail("is not bound as it should be, to one of the processors %s: it may use %d, now %d", list, CPU_COUNT(&may), sched_getcpu());
}

/* Returns 1 if some ranks may have the same processor. */
static int is_crowded(const char *list) {
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < a; ++b)
      if (*list == '-' || processor(list, a) == processor(list, b)) return 1;
  return 0;
}
