/* The clock that all ranks of a host share. */
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

/* The nanoseconds that a time takes which is read twice. */
static double clock_cost_ns(void) {
  enum { READS = 20000 };
  double total = 0;
  for (int i = 0; i < READS; ++i) {
    double begin = now_ns();
    total += now_ns() - begin;
  }
  return total / READS;
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
