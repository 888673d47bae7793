// The smallest eigenvalue of a sparse matrix by inverse iteration and conjugate gradients, as the
// benchmark CG of the NAS Parallel Benchmarks: cg [S|W|A] [-n ITERATIONS] [-t]
// RUN: cp -r %d/inputs . && build %s
// RUN: ./cg && goal-run -n 4 ./cg
// RUN: goal-run -n 3 --progress thread ./cg-cpp W -n 2
//
// Each rank has a block of rows. The others' parts of the vector are gathered while it multiplies
// its own part, and the residual's squares are summed while the solution is updated. All of these
// are schedules that are prepared once. -t prints the time of an iteration. The matrix is that of
// the NAS benchmark, whose zeta is 8.5971775078648 (S), 10.362595087124 (W), 17.130235054029 (A).
//
// Rank 0 repeats everything alone. Sums over blocks round otherwise than sums over whole vectors,
// so zeta may differ in its last digits: by 1e-10 of it, as the NAS benchmark allows too.
#define _POSIX_C_SOURCE 200112L
#include "inputs/run.h"
#include "inputs/nas.h"

#ifdef COMMUNICATION /* A benchmark puts the functions of another library in the place of these. */
#include COMMUNICATION
#else
#include <goal.h>

typedef GOAL_Schedule Operation;
typedef GOAL_Handle Running;

static int rank, ranks;

static void check(int is_good) {
  if (!is_good) {
    fprintf(stderr, "rank %d: %s\n", rank, GOAL_Last_error());
    exit(1);
  }
}

static void begin(void) {
  check(GOAL_Init() == GOAL_SUCCESS);
  rank = GOAL_MyRank();
  ranks = GOAL_GroupSize();
}

static void end(void) { check(GOAL_Finalize() == GOAL_SUCCESS); }

/* Prepares the sums of n numbers over the ranks. */
static Operation prepare_sum(const double *mine, double *total, int n) {
  Operation sum = GOAL_Allreduce_init(mine, total, n, GOAL_FLOAT64, GOAL_ADD, GOAL_COMM_WORLD);
  check(sum != NULL);
  return sum;
}

/* Prepares an allgather of blocks. Each rank's own block lies in its place. */
static Operation prepare_gather(double *all, const int64_t *counts) {
  Operation gather = GOAL_Allgatherv_init(GOAL_IN_PLACE, 0, all, counts, NULL, GOAL_FLOAT64,
                                          GOAL_COMM_WORLD);
  check(gather != NULL);
  return gather;
}

static Running start(Operation operation) {
  Running run = GOAL_Run(operation);
  check(run != GOAL_HANDLE_NULL);
  return run;
}

static void finish(Running run) { check(GOAL_Wait(run) == GOAL_SUCCESS); }
#endif

enum { STEPS = 25, ITERATIONS = 15 };

static const struct {
  char name;
  int n, nonzeros;
  double shift;
} classes[] = {{'S', 1400, 7, 10}, {'W', 7000, 8, 12}, {'A', 14000, 11, 20}};

/* The rows of a rank, or all of them if it works alone, and its blocks of the vectors. */
typedef struct {
  Matrix a;
  double shift;
  double *p; /* The whole direction. */
  double *q, *r, *x, *z;
  double mine[2], total[2];
  int is_alone;
  Operation gather, sum, sums;
} Part;

static Part make_part(int size, int part, int parts) {
  int n = classes[size].n, first = (int)((int64_t)n * part / parts);
  int rows = (int)((int64_t)n * (part + 1) / parts) - first;
  Part m;
  memset(&m, 0, sizeof m);
  m.a = make_matrix(n, classes[size].nonzeros, classes[size].shift, first, rows);
  m.shift = classes[size].shift;
  m.p = (double *)zeroed(n, sizeof *m.p);
  m.q = (double *)zeroed(rows, sizeof *m.q);
  m.r = (double *)zeroed(rows, sizeof *m.r);
  m.x = (double *)zeroed(rows, sizeof *m.x);
  m.z = (double *)zeroed(rows, sizeof *m.z);
  m.is_alone = 1;
  return m;
}

/* Prepares what the ranks do together. The part must stay where it is. */
static void join(Part *m, int size) {
  int64_t *counts = (int64_t *)zeroed(ranks, sizeof *counts), n = classes[size].n;
  for (int of = 0; of < ranks; of++) {
    counts[of] = n * (of + 1) / ranks - n * of / ranks;
  }
  m->gather = prepare_gather(m->p, counts);
  m->sum = prepare_sum(m->mine, m->total, 1);
  m->sums = prepare_sum(m->mine, m->total, 2);
  m->is_alone = 0;
  free(counts);
}

/* Computes q = A p. p has the block of this rank. */
static void multiply(Part *m) {
  const Matrix *a = &m->a;
  Running gather = m->is_alone ? NULL : start(m->gather);
  for (int i = 0; i < a->rows; i++) {
    double sum = 0;
    for (int k = a->start[i]; k < a->others[i]; k++) {
      sum += a->value[k] * m->p[a->column[k]];
    }
    m->q[i] = sum;
  }
  if (m->is_alone) {
    return; /* All columns are its own. */
  }
  finish(gather);
  for (int i = 0; i < a->rows; i++) {
    double sum = m->q[i];
    for (int k = a->others[i]; k < a->start[i + 1]; k++) {
      sum += a->value[k] * m->p[a->column[k]];
    }
    m->q[i] = sum;
  }
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* Starts the sums over the ranks of mine, which end in total. */
static Running start_sums(Part *m, Operation sums) {
  memcpy(m->total, m->mine, sizeof m->total);
  return m->is_alone ? NULL : start(sums);
}

static void finish_sums(Part *m, Running sums) {
  if (!m->is_alone) {
    finish(sums);
  }
}

/* Approaches the solution of A z = x from z = 0 on. */
static void solve(Part *m) {
  int rows = m->a.rows;
  double *p = m->p + m->a.first, *q = m->q, *r = m->r, *z = m->z;
  for (int i = 0; i < rows; i++) {
    z[i] = 0;
    r[i] = p[i] = m->x[i];
  }
  m->mine[0] = dot(r, r, rows);
  finish_sums(m, start_sums(m, m->sum));
  double rho = m->total[0];
  for (int step = 0; step < STEPS; step++) {
    multiply(m);
    m->mine[0] = dot(p, q, rows);
    finish_sums(m, start_sums(m, m->sum));
    double alpha = rho / m->total[0], before = rho;
    for (int i = 0; i < rows; i++) {
      r[i] -= alpha * q[i];
    }
    m->mine[0] = dot(r, r, rows);
    Running sum = start_sums(m, m->sum);
    for (int i = 0; i < rows; i++) {
      z[i] += alpha * p[i];
    }
    finish_sums(m, sum);
    rho = m->total[0];
    for (int i = 0; i < rows; i++) {
      p[i] = r[i] + rho / before * p[i];
    }
  }
}

/* Returns zeta after so many iterations from x = 1 on. */
static double iterate(Part *m, int iterations) {
  double zeta = 0;
  for (int i = 0; i < m->a.rows; i++) {
    m->x[i] = 1;
  }
  for (int iteration = 0; iteration < iterations; iteration++) {
    solve(m);
    m->mine[0] = dot(m->x, m->z, m->a.rows);
    m->mine[1] = dot(m->z, m->z, m->a.rows);
    finish_sums(m, start_sums(m, m->sums));
    zeta = m->shift + 1 / m->total[0];
    for (int i = 0; i < m->a.rows; i++) {
      m->x[i] = m->z[i] / sqrt(m->total[1]);
    }
  }
  return zeta;
}

int main(int argc, char **argv) {
  Arguments given = arguments(argc, argv);
  int size = 0, iterations = given.iterations > 0 ? given.iterations : ITERATIONS, is_wrong = 0;
  while (classes[size].name != given.size) {
    size++;
  }
  begin();
  Part part = make_part(size, rank, ranks);
  join(&part, size);
  iterate(&part, 1); /* Brings the matrix into the caches. */
  double started = now(), zeta = iterate(&part, iterations), seconds = now() - started;
  if (rank == 0) {
    Part whole = make_part(size, 0, 1);
    double alone = iterate(&whole, iterations);
    is_wrong = !(fabs(zeta - alone) <= 1e-10 * fabs(alone));
    printf("%d ranks: zeta = %.10f, %s\n", ranks, zeta, is_wrong ? "wrong" : "as alone");
    print_time(&given, seconds, iterations);
  }
  end();
  return is_wrong;
}
