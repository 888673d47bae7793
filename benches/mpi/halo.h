/* The communication of halo by MPI: persistent requests that go on beside the computation. Ways to send columns: a datatype,
   PACKED: copies in buffers. */
#include "apps.h"

/* A column on its way out or in, and its copy. */
typedef struct {
  double *points, *copy;
  int n, stride;
} Column;

/* The columns of an exchange: those to send, and as many to receive. */
typedef struct {
  int n;
  Column out[8], in[8];
} Columns;

static void pack(Prepared *of) {
  const Columns *columns = of->mine;
  for (const Column *c = columns->out; c < columns->out + columns->n; ++c)
    for (int i = 0; i < c->n; ++i) c->copy[i] = c->points[i * c->stride];
}

static void unpack(Prepared *of) {
  const Columns *columns = of->mine;
  for (const Column *c = columns->in; c < columns->in + columns->n; ++c)
    for (int i = 0; i < c->n; ++i) c->points[i * c->stride] = c->copy[i];
}

static Column column(double *points, int n, int stride) {
  Column of = {points, calloc(n, sizeof *points), n, stride};
  return of;
}

static Operation prepare_exchange(const Message *messages, int n, int stride) {
  Operation exchange = prepared();
  Columns *columns = calloc(1, sizeof *columns);
  exchange->is_persistent = 1;
  exchange->mine = columns;
#ifdef PACKED
  exchange->before = pack, exchange->after = unpack;
#endif
  for (const Message *m = messages; m < messages + n; ++m) {
    double *from = m->from, *to = m->to;
    MPI_Datatype type = MPI_DOUBLE;
    int count = m->rows * m->columns;
    if (m->rows > 1) {
#ifdef PACKED
      Column out = column(from, m->rows, stride), in = column(to, m->rows, stride);
      columns->out[columns->n] = out, columns->in[columns->n++] = in;
      from = out.copy, to = in.copy;
#else
      MPI_Type_vector(m->rows, m->columns, stride, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      count = 1;
#endif
    }
    MPI_Recv_init(to, count, type, m->neighbour, 0, MPI_COMM_WORLD, &exchange->requests[exchange->n++]);
    MPI_Send_init(from, count, type, m->neighbour, 0, MPI_COMM_WORLD, &exchange->requests[exchange->n++]);
  }
  return exchange;
}

static int sum_of(int mine) {
  int sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
