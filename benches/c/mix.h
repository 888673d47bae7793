/* Operations of several kinds and sizes in a random order that is one on all ranks. calls.h and operands.h come before. */

enum { MIXED = 16, MIX_BYTES = 1024, MIX_COMMS = 3 };

/* One of the operations that the program performs again and again. */
static struct mixed {
  enum operation operation;
  int n, rank;
  group_comm comm;
  char *in, *out;
  kept_calls kept;
} mixed[MIXED];

static group_comm mix_more[MIX_COMMS - 1];
static uint32_t mix_state;
static long mix_number;

static uint32_t mix_random(void) {
  mix_state ^= mix_state << 13;
  mix_state ^= mix_state >> 17;
  return mix_state ^= mix_state << 5;
}

/* Makes this operation the one that `call` and the operands are for. */
static void mix_take(struct mixed *m) {
  in = m->in;
  out = m->out;
  comm = m->comm;
  rank = m->rank;
  kept = &m->kept;
}

static int mix_prepare(enum operation operation, enum way way) {
  static const enum operation kinds[] = {BCAST, ALLREDUCE, GATHER, ALLGATHER, ALLTOALL};
  static const int sizes[] = {8, 64, 256, 16, MIX_BYTES, 128, 512, 56};
  struct mixed world = {.in = in, .out = out, .comm = comm, .rank = rank};
  size_t stride = (size_t)MIX_BYTES * ranks;
  int prepared = 1;
  mix_state = 20260101;
  mix_number = 0;
  if (operation == MIX) group_more(mix_more);
  for (int k = 0; k < MIXED; ++k) {
    int of = operation == MIX ? k % MIX_COMMS : 0;
    struct mixed *m = &mixed[k];
    *m = (struct mixed){.operation = kinds[k % 5], .n = sizes[k % 8], .in = world.in + k * stride, .out = world.out + k * stride};
    m->comm = of ? mix_more[of - 1] : GROUP_WORLD;
    m->rank = group_rank(m->comm);
    mix_take(m);
    prepared &= prepare(m->operation, way, m->n);
  }
  mix_take(&world);
  kept = &own_kept;
  return prepared;
}

/* Performs operations as a program does that computes little between them. Returns 1 if a result was wrong. */
static int mix(enum way way, long times) {
  int own = rank, wrong = 0;
  for (; times > 0; --times) {
    struct mixed *m = &mixed[mix_random() % MIXED];
    mix_take(m);
    write_operands(m->operation, m->n, mix_number);
    call(m->operation, way, m->n);
    wrong |= !results_are_right(m->operation, m->n, mix_number++, 1);
  }
  rank = own;
  return wrong;
}

static void mix_release(enum operation operation, char *own_in, char *own_out) {
  int own = rank;
  for (int k = 0; k < MIXED; ++k) {
    mix_take(&mixed[k]);
    release_kept();
  }
  struct mixed world = {.in = own_in, .out = own_out, .comm = GROUP_WORLD, .rank = own};
  mix_take(&world);
  kept = &own_kept;
  for (int of = 0; operation == MIX && of < MIX_COMMS - 1; ++of) group_free(mix_more[of]);
}
