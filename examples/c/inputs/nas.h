/* The random numbers of the NAS Parallel Benchmarks, and the matrix of their benchmark CG. Include
   run.h before. */
#include <math.h>
#include <stdint.h>

/* Returns the next number between 0 and 1. The numbers follow from each other modulo 2^46. */
static inline double random_number(uint64_t *seed) {
  *seed = *seed * 1220703125 % (UINT64_C(1) << 46);
  return ldexp((double)*seed, -46);
}

/* Leaves out so many numbers. */
static inline void leave_out(uint64_t *seed, uint64_t numbers) {
  for (uint64_t factor = 1220703125; numbers > 0; numbers /= 2) {
    *seed = numbers % 2 ? *seed * factor % (UINT64_C(1) << 46) : *seed;
    factor = factor * factor % (UINT64_C(1) << 46);
  }
}

/* Consecutive rows of a sparse matrix. The entries of a row that lie in columns of the same numbers
   as the rows come first, those in other columns behind them. */
typedef struct {
  int first, rows;
  int *start;  /* Where the entries of each row begin, and where the last ones end. */
  int *others; /* Where those in other columns begin. */
  int *column;
  double *value;
} Matrix;

/* The n random vectors that the matrix is made of. */
typedef struct {
  int n, width;  /* Each has at most width entries, from place width times its number on. */
  int *length;   /* The number of entries of each vector. */
  int *place;    /* The row of each entry. */
  int *next;     /* The next entry in the same row, -1 for the last one. */
  int *head;     /* The first entry of each row. */
  double *entry;
} Vectors;

static inline int find(const int *list, int length, int wanted) {
  int at = 0;
  while (at < length && list[at] != wanted) {
    at++;
  }
  return at;
}

static inline Vectors make_vectors(int n, int nonzeros) {
  Vectors v = {n, nonzeros + 1, NULL, NULL, NULL, NULL, NULL};
  size_t entries = (size_t)n * (size_t)v.width;
  v.length = (int *)zeroed(n, sizeof(int));
  v.place = (int *)zeroed(entries, sizeof(int));
  v.next = (int *)zeroed(entries, sizeof(int));
  v.head = (int *)zeroed(n, sizeof(int));
  v.entry = (double *)zeroed(entries, sizeof(double));
  uint64_t seed = 314159265;
  int power = 1;
  while (power < n) {
    power *= 2;
  }
  random_number(&seed); /* The first one is left out. */
  memset(v.head, -1, (size_t)n * sizeof(int));
  for (int i = 0; i < n; i++) {
    int first = i * v.width, *place = v.place + first, length = 0;
    while (length < nonzeros) {
      double value = random_number(&seed);
      int at = (int)(power * random_number(&seed));
      if (at < n && find(place, length, at) == length) {
        place[length] = at;
        v.entry[first + length++] = value;
      }
    }
    int own = find(place, length, i);
    place[own] = i;
    v.entry[first + own] = 0.5;
    v.length[i] = own == length ? length + 1 : length;
    for (int e = first; e < first + v.length[i]; e++) {
      v.next[e] = v.head[v.place[e]];
      v.head[v.place[e]] = e;
    }
  }
  return v;
}

static inline int ascending(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* Makes rows of the matrix: the weighted sum of v v' over n sparse random vectors v, and
   (0.1 - shift) times the identity. The i-th vector has 1/2 in place i. */
static inline Matrix make_matrix(int n, int nonzeros, double shift, int first, int rows) {
  Vectors v = make_vectors(n, nonzeros);
  Matrix m = {first, rows, NULL, NULL, NULL, NULL};
  size_t number = 0;
  for (int i = first; i < first + rows; i++) {
    for (int e = v.head[i]; e >= 0; e = v.next[e]) {
      number += (size_t)v.length[e / v.width];
    }
  }
  m.start = (int *)zeroed(rows, sizeof(int));
  m.others = (int *)zeroed(rows, sizeof(int));
  m.column = (int *)zeroed(number, sizeof(int));
  m.value = (double *)zeroed(number, sizeof(double));
  /* Columns are counted from the first own one on, so that own ones come before the others. */
  double *sum = (double *)zeroed(n, sizeof(double));
  int *is_there = (int *)zeroed(n, sizeof(int)), *columns = (int *)zeroed(n, sizeof(int));
  for (int row = 0, used = 0; row < rows; row++) {
    int count = 0;
    for (int e = v.head[first + row]; e >= 0; e = v.next[e]) {
      int vector = e / v.width, begin = vector * v.width;
      double weight = pow(0.1, (double)vector / n) * v.entry[e];
      for (int k = begin; k < begin + v.length[vector]; k++) {
        int column = (v.place[k] - first + n) % n;
        if (!is_there[column]) {
          is_there[column] = 1;
          columns[count++] = column;
        }
        sum[column] += weight * v.entry[k];
      }
    }
    sum[row] += 0.1 - shift;
    qsort(columns, count, sizeof(int), ascending);
    m.others[row] = used;
    for (int k = 0; k < count; k++) {
      int column = columns[k];
      m.column[used] = (first + column) % n;
      m.value[used++] = sum[column];
      m.others[row] += column < rows;
      sum[column] = is_there[column] = 0;
    }
    m.start[row + 1] = used;
  }
  free(v.length), free(v.place), free(v.next), free(v.head), free(v.entry);
  free(sum), free(is_there), free(columns);
  return m;
}
