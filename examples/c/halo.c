// The equation of heat on a square in two dimensions, by a stencil of nine points:
// halo [S|W|A] [-n STEPS] [-t]
// RUN: cp -r %d/inputs . && build %s
// RUN: ./halo && goal-run -n 4 ./halo
// RUN: goal-run -n 6 --progress thread ./halo-cpp -n 20
//
// Each rank has a block of a grid with a halo around it. The rows, columns and corners at the ends
// of the block are exchanged with up to eight neighbours by a schedule for each of the two arrays,
// prepared once. It goes on while the inner points are computed, and the outer ones follow it. The
// points of a column do not lie together: it is a message of pieces. -t prints the time of a step.
//
// In the end each rank computes the whole grid alone, and must have the same bits: each point is
// the same expression of its neighbours wherever it lies. All factors are powers of two, whose
// products are exact, so a compiler that fuses products and sums does not change the bits.
#define _POSIX_C_SOURCE 200112L
#include "inputs/run.h"

/* Points at the end of a block, which go to a neighbour, and the places of those that come back. */
typedef struct {
  int neighbour, rows, columns;
  double *from, *to;
} Message;

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

/* Prepares n messages and those that come back, of an array with so many points in a row. */
static Operation prepare_exchange(const Message *messages, int n, int stride) {
  GOAL_Graph graph = GOAL_CreateGraph();
  for (const Message *m = messages; m < messages + n; m++) {
    void **from = (void **)zeroed(m->rows, sizeof *from);
    void **to = (void **)zeroed(m->rows, sizeof *to);
    int *lengths = (int *)zeroed(m->rows, sizeof *lengths);
    for (int i = 0; i < m->rows; i++) {
      from[i] = m->from + i * stride;
      to[i] = m->to + i * stride;
      lengths[i] = m->columns * (int)sizeof(double);
    }
    check(GOAL_SendVec(graph, from, lengths, m->rows, m->neighbour, 0, GOAL_USERSPACE) >= 0);
    check(GOAL_RecvVec(graph, to, lengths, m->rows, m->neighbour, 0, GOAL_USERSPACE) >= 0);
    free(from), free(to), free(lengths);
  }
  GOAL_Schedule exchange = GOAL_Compile(graph);
  check(exchange != NULL);
  GOAL_FreeGraph(graph);
  return exchange;
}

static Running start(Operation operation) {
  Running run = GOAL_Run(operation);
  check(run != GOAL_HANDLE_NULL);
  return run;
}

static void finish(Running run) { check(GOAL_Wait(run) == GOAL_SUCCESS); }

/* Returns the sum of a number over the ranks. */
static int sum_of(int mine) {
  int sum = 0;
  check(GOAL_Allreduce(&mine, &sum, 1, GOAL_INT32, GOAL_ADD, GOAL_COMM_WORLD) == GOAL_SUCCESS);
  return sum;
}
#endif

static const struct {
  char name;
  int points, steps;
} classes[] = {{'S', 128, 400}, {'W', 512, 200}, {'A', 2048, 50}};

/* A block of the grid: points rows x columns, in a frame of one point more on each side. */
typedef struct {
  int top, left, rows, columns, stride;
  double *u[2];
  Message messages[8];
  int num_messages;
  /* 1 if there is a neighbour above, below, on the left and on the right. */
  int has_above, has_below, has_left, has_right;
} Block;

static double *point(const Block *b, int array, int i, int j) {
  return b->u[array] + (size_t)i * (size_t)b->stride + j;
}

/* Makes the block at a place in a grid of blocks. The heat of a point depends on its place only. */
static Block make_block(int points, int row, int rows, int column, int columns) {
  Block b;
  memset(&b, 0, sizeof b);
  b.top = points * row / rows;
  b.left = points * column / columns;
  b.rows = points * (row + 1) / rows - b.top;
  b.columns = points * (column + 1) / columns - b.left;
  b.stride = b.columns + 2;
  b.has_above = row > 0;
  b.has_below = row + 1 < rows;
  b.has_left = column > 0;
  b.has_right = column + 1 < columns;
  for (int array = 0; array < 2; array++) {
    b.u[array] = (double *)zeroed((size_t)(b.rows + 2) * (size_t)b.stride, sizeof(double));
  }
  for (int i = 1; i <= b.rows; i++) {
    for (int j = 1; j <= b.columns; j++) {
      unsigned place = (unsigned)(b.top + i) * 2654435761u + (unsigned)(b.left + j) * 40503u;
      *point(&b, 0, i, j) = (double)(place % 1000003u) / 1000003;
    }
  }
  return b;
}

/* Lists the messages of an array with the neighbours in a grid of blocks with so many in a row. */
static void list_messages(Block *b, int array, int in_a_row) {
  b->num_messages = 0;
  for (int y = -1; y <= 1; y++) {
    for (int x = -1; x <= 1; x++) {
      int is_there = (y >= 0 || b->has_above) && (y <= 0 || b->has_below) &&
                     (x >= 0 || b->has_left) && (x <= 0 || b->has_right) && (x != 0 || y != 0);
      if (is_there) {
        Message *m = &b->messages[b->num_messages++];
        m->neighbour = rank + y * in_a_row + x;
        m->rows = y == 0 ? b->rows : 1;
        m->columns = x == 0 ? b->columns : 1;
        m->from = point(b, array, y > 0 ? b->rows : 1, x > 0 ? b->columns : 1);
        m->to = m->from + y * b->stride + x;
      }
    }
  }
}

/* A step for the points of the rows i_begin to i_end in the columns j_begin to j_end. */
static void step(const Block *b, int now, int i_begin, int i_end, int j_begin, int j_end) {
  for (int i = i_begin; i <= i_end; i++) {
    const double *above = point(b, now, i - 1, 0), *own = point(b, now, i, 0);
    const double *below = point(b, now, i + 1, 0);
    double *to = point(b, 1 - now, i, 0);
    for (int j = j_begin; j <= j_end; j++) {
      double corners = above[j - 1] + above[j + 1] + below[j - 1] + below[j + 1];
      double sides = above[j] + below[j] + own[j - 1] + own[j + 1];
      to[j] = 0.25 * own[j] + 0.125 * sides + 0.0625 * corners;
    }
  }
}

/* Performs steps from one array to the other in turn, with the exchanges of the ranks, if any. */
static void perform(const Block *b, const Operation *exchange, int steps) {
  int top = 1 + b->has_above, bottom = b->rows - b->has_below;
  int left = 1 + b->has_left, right = b->columns - b->has_right;
  for (int i = 0; i < steps; i++) {
    int now = i % 2;
    if (exchange == NULL) {
      step(b, now, 1, b->rows, 1, b->columns);
      continue;
    }
    Running ends = start(exchange[now]);
    step(b, now, top, bottom, left, right);
    finish(ends);
    step(b, now, 1, top - 1, 1, b->columns);
    step(b, now, bottom + 1, b->rows, 1, b->columns);
    step(b, now, top, bottom, 1, left - 1);
    step(b, now, top, bottom, right + 1, b->columns);
  }
}

int main(int argc, char **argv) {
  Arguments given = arguments(argc, argv);
  int size = 0, columns = 1, wrong = 0;
  while (classes[size].name != given.size) {
    size++;
  }
  int points = classes[size].points;
  /* An even number, after which the first array is the present one. */
  int steps = ((given.iterations > 0 ? given.iterations : classes[size].steps) + 1) / 2 * 2;
  begin();
  for (int c = 1; c * c <= ranks; c++) {
    columns = ranks % c == 0 ? c : columns;
  }
  if (ranks / columns > points) {
    fprintf(stderr, "rank %d: %d rows of points are too few for %d rows of blocks; start fewer "
            "ranks\n", rank, points, ranks / columns);
    return 2;
  }
  Block own = make_block(points, rank / columns, ranks / columns, rank % columns, columns);
  Operation exchange[2];
  for (int array = 0; array < 2; array++) {
    list_messages(&own, array, columns);
    exchange[array] = prepare_exchange(own.messages, own.num_messages, own.stride);
  }
  sum_of(0); /* All ranks begin together. */
  double started = now();
  perform(&own, exchange, steps);
  sum_of(0);
  double seconds = now() - started;

  Block whole = make_block(points, 0, 1, 0, 1);
  perform(&whole, NULL, steps);
  for (int i = 1; i <= own.rows; i++) {
    const double *alone = point(&whole, 0, own.top + i, own.left + 1);
    wrong += memcmp(point(&own, 0, i, 1), alone, (size_t)own.columns * sizeof(double)) != 0;
  }
  wrong = sum_of(wrong);
  if (rank == 0) {
    printf("%d ranks: %s after %d steps\n", ranks, wrong ? "other bits" : "the same bits as alone",
           steps);
    print_time(&given, seconds, steps);
  }
  end();
  return rank == 0 && wrong != 0; /* The others would end the job before rank 0 has told. */
}
