/* The clock that all ranks of a host share. */
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

/* Returns the nanoseconds between two reads of the clock in a row. It is the least of several
   means: the one in which no other program had the processor. */
static double clock_cost_ns(void) {
  enum { MEANS = 20, READS = 1000 };
  double least = 1e9;
  for (int mean = 0; mean < MEANS; ++mean) {
    double total = 0;
    for (int i = 0; i < READS; ++i) {
      double begin = now_ns();
      total += now_ns() - begin;
    }
    if (total / READS < least) least = total / READS;
  }
  return least;
}

static int ascending(const void *x, const void *y) {
  double d = *(const double *)x - *(const double *)y;
  return (d > 0) - (d < 0);
}

/* The middle of the values, or the mean of the two in the middle. Sorts them. */
static double median(double *values, int n) {
  qsort(values, n, sizeof *values, ascending);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
