/* Replays the messages of a program: a table of steps for each rank, which `goal-bench mpi --replay` writes. */

typedef struct { char kind; long x, y; int peer, tag; } replay_step;
typedef struct { long at, bytes; line first, last; } replay_buffer;

static replay_step *replay_steps;
static replay_buffer *replay_buffers;
static MPI_Request *replay_requests;
static long replay_steps_count, replay_buffers_count, replay_messages, replay_bytes;

/* Reads this rank's part of the table. Returns 0 if there is none. */
static int replay_read(const char *path) {
  FILE *file = fopen(path, "r");
  int found = 0, of;
  if (!file) return 0;
  while (fscanf(file, " rank %d %ld %ld %ld", &of, &replay_bytes, &replay_messages, &replay_buffers_count) == 4) {
    replay_buffers = calloc(replay_buffers_count + 1, sizeof *replay_buffers);
    for (long i = 0; i < replay_buffers_count; ++i) {
      replay_buffer *b = &replay_buffers[i];
      if (fscanf(file, "%ld %ld %u %u %u %u", &b->at, &b->bytes, &b->first.start, &b->first.step, &b->last.start, &b->last.step) != 6) return 0;
    }
    if (fscanf(file, "%ld", &replay_steps_count) != 1) return 0;
    replay_steps = calloc(replay_steps_count + 1, sizeof *replay_steps);
    for (long i = 0; i < replay_steps_count; ++i) {
      replay_step *s = &replay_steps[i];
      if (fscanf(file, " %c %ld %ld %d %d", &s->kind, &s->x, &s->y, &s->peer, &s->tag) != 5) return 0;
    }
    replay_requests = calloc(replay_messages + 1, sizeof *replay_requests);
    if (of == rank) {
      found = 1;
      break;
    }
    free(replay_buffers), free(replay_steps), free(replay_requests);
  }
  fclose(file);
  return found;
}

static void replay_write(void) {
  for (long i = 0; i < replay_buffers_count; ++i) write_block(in + replay_buffers[i].at, replay_buffers[i].bytes & ~3l, replay_buffers[i].first);
}

static int replay_is_right(void) {
  int right = 1;
  for (long i = 0; i < replay_buffers_count; ++i) right &= holds(in + replay_buffers[i].at, replay_buffers[i].bytes & ~3l, replay_buffers[i].last);
  return right;
}

/* A message that the rank waits for at once is a blocking call where those are timed. */
static void replay(enum way way) {
  MPI_Comm w = MPI_COMM_WORLD;
  long message = 0;
  for (long i = 0; i < replay_steps_count; ++i) {
    const replay_step *s = &replay_steps[i];
    int blocks = way == BLOCKING && i + 1 < replay_steps_count && s[1].kind == 'w' && s[1].x == message;
    switch (s->kind) {
    case 'a': {
      /* x += y, peer has the bytes */
      add((uint32_t *)(in + s->x), (uint32_t *)(in + s->y), s->peer / 4);
      break;
    }
    case 's':
      if (blocks) MPI_Send(in + s->x, s->y, MPI_BYTE, s->peer, s->tag, w), ++i;
      else MPI_Isend(in + s->x, s->y, MPI_BYTE, s->peer, s->tag, w, &replay_requests[message]);
      ++message;
      break;
    case 'r':
      if (blocks) MPI_Recv(in + s->x, s->y, MPI_BYTE, s->peer, s->tag, w, MPI_STATUS_IGNORE), ++i;
      else MPI_Irecv(in + s->x, s->y, MPI_BYTE, s->peer, s->tag, w, &replay_requests[message]);
      ++message;
      break;
    default: MPI_Wait(&replay_requests[s->x], MPI_STATUS_IGNORE);
    }
  }
}
