/* MPI's datatypes and operators as those of libgoal, and copies of data that is scattered. */
#include "goalmpi.h"
#include <limits.h>

enum class { INTEGER = 1, FLOATING = 2, LOGICAL = 4, BYTES = 8 };

struct type {
  MPI_Datatype mpi;
  size_t width;
  enum class class;
  GOAL_Type goal;
};

#define TYPES_MAX 48
static struct type types[TYPES_MAX];
static int count;
static const struct type *last;

/* Adds a type; of two names for the same type the first one counts. */
static void add(MPI_Datatype mpi, enum class class, int kind) {
  int width = 0;
  if (mpi == MPI_DATATYPE_NULL || count == TYPES_MAX || PMPI_Type_size(mpi, &width) != MPI_SUCCESS) return;
  for (int at = 0; at < count; at++)
    if (types[at].mpi == mpi) return;
  if (width != 1 && width != 2 && width != 4 && width != 8) return;
  if (class == LOGICAL && width != 1) return;
  types[count++] = (struct type){mpi, (size_t)width, class, class == LOGICAL ? GOAL_BOOL : (GOAL_Type)(kind << 8 | width * 8)};
}

void goalmpi_types(void) {
  add(MPI_INT, INTEGER, GOAL_SINT);
  add(MPI_DOUBLE, FLOATING, GOAL_FLOAT);
  add(MPI_FLOAT, FLOATING, GOAL_FLOAT);
  add(MPI_LONG, INTEGER, GOAL_SINT);
  add(MPI_BYTE, BYTES, GOAL_UINT);
  add(MPI_CHAR, 0, GOAL_SINT);
  add(MPI_SIGNED_CHAR, INTEGER, GOAL_SINT);
  add(MPI_UNSIGNED_CHAR, INTEGER, GOAL_UINT);
  add(MPI_SHORT, INTEGER, GOAL_SINT);
  add(MPI_UNSIGNED_SHORT, INTEGER, GOAL_UINT);
  add(MPI_UNSIGNED, INTEGER, GOAL_UINT);
  add(MPI_UNSIGNED_LONG, INTEGER, GOAL_UINT);
  add(MPI_LONG_LONG, INTEGER, GOAL_SINT);
  add(MPI_UNSIGNED_LONG_LONG, INTEGER, GOAL_UINT);
  add(MPI_INT8_T, INTEGER, GOAL_SINT);
  add(MPI_INT16_T, INTEGER, GOAL_SINT);
  add(MPI_INT32_T, INTEGER, GOAL_SINT);
  add(MPI_INT64_T, INTEGER, GOAL_SINT);
  add(MPI_UINT8_T, INTEGER, GOAL_UINT);
  add(MPI_UINT16_T, INTEGER, GOAL_UINT);
  add(MPI_UINT32_T, INTEGER, GOAL_UINT);
  add(MPI_UINT64_T, INTEGER, GOAL_UINT);
  add(MPI_AINT, INTEGER, GOAL_SINT);
  add(MPI_OFFSET, INTEGER, GOAL_SINT);
  add(MPI_COUNT, INTEGER, GOAL_SINT);
  add(MPI_C_BOOL, LOGICAL, GOAL_UINT);
  add(MPI_INTEGER, INTEGER, GOAL_SINT);
  add(MPI_REAL, FLOATING, GOAL_FLOAT);
  add(MPI_DOUBLE_PRECISION, FLOATING, GOAL_FLOAT);
}

/* Predefined types are never freed, so the last one found stays right. Any thread may set it. */
static const struct type *find(MPI_Datatype mpi) {
  const struct type *found = __atomic_load_n(&last, __ATOMIC_RELAXED);
  if (found && found->mpi == mpi) return found;
  for (int at = 0; at < count; at++) {
    if (types[at].mpi != mpi) continue;
    __atomic_store_n(&last, &types[at], __ATOMIC_RELAXED);
    return &types[at];
  }
  return NULL;
}

int goalmpi_is_predefined(MPI_Datatype mpi) { return find(mpi) != NULL; }

/* The bytes of an element without its gaps. */
size_t goalmpi_width(MPI_Datatype mpi) {
  const struct type *type = find(mpi);
  MPI_Count width = 0;
  if (type) return type->width;
  return PMPI_Type_size_x(mpi, &width) == MPI_SUCCESS && width > 0 ? (size_t)width : 0;
}

/* Returns 1 if the elements lie in memory as in a message. A derived type may have a gap, or put its
 * parts in another order than its message. */
int goalmpi_is_dense(MPI_Datatype mpi) {
  int integers, addresses, types_inside, combiner = MPI_COMBINER_DUP;
  MPI_Aint low = 1, extent = 0;
  if (mpi == MPI_DATATYPE_NULL || find(mpi)) return 1;
  PMPI_Type_get_envelope(mpi, &integers, &addresses, &types_inside, &combiner);
  if (combiner != MPI_COMBINER_NAMED) return 0;
  PMPI_Type_get_extent(mpi, &low, &extent);
  return low == 0 && extent == (MPI_Aint)goalmpi_width(mpi);
}

/* Finds the type and the operation of a reduction. Returns 0 if libgoal has none. */
int goalmpi_reduction(MPI_Datatype mpi, MPI_Op op, GOAL_Type *goal_type, GOAL_Op *goal_op) {
  const struct {
    MPI_Op mpi;
    GOAL_Op goal;
    int classes;
  } known[] = {
      {MPI_SUM, GOAL_ADD, INTEGER | FLOATING},
      {MPI_MAX, GOAL_MAX, INTEGER | FLOATING},
      {MPI_MIN, GOAL_MIN, INTEGER | FLOATING},
      {MPI_PROD, GOAL_MUL, INTEGER | FLOATING},
      {MPI_BAND, GOAL_AND, INTEGER | BYTES},
      {MPI_BOR, GOAL_OR, INTEGER | BYTES},
      {MPI_BXOR, GOAL_XOR, INTEGER | BYTES},
      {MPI_LAND, GOAL_LAND, INTEGER | LOGICAL},
      {MPI_LOR, GOAL_LOR, INTEGER | LOGICAL},
      {MPI_LXOR, GOAL_LXOR, INTEGER | LOGICAL},
  };
  const struct type *type = find(mpi);
  if (!type) return 0;
  for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
    if (known[at].mpi != op || !(known[at].classes & (int)type->class)) continue;
    *goal_type = type->goal;
    *goal_op = known[at].goal;
    return 1;
  }
  return 0;
}

/* Packs or unpacks all elements, which begin at `user`. Counts and bytes of one call of MPI fit in an
 * int. */
static int move_from(char *user, const struct side *side, MPI_Datatype type, int packs) {
  MPI_Aint low, extent;
  /* A side has bytes, so it has elements, and they have bytes. */
  size_t width = side->bytes / (size_t)side->count, at = 0;
  MPI_Count chunk = (MPI_Count)(INT_MAX / width);
  if (chunk == 0) return MPI_ERR_COUNT;
  PMPI_Type_get_extent(type, &low, &extent);
  for (MPI_Count done = 0; done < side->count;) {
    int some = (int)(side->count - done < chunk ? side->count - done : chunk), position = 0, rc;
    int bytes = (int)((size_t)some * width);
    void *elements = user + done * extent;
    char *packed = (char *)side->packed + at;
    rc = packs ? PMPI_Pack(elements, some, type, packed, bytes, &position, MPI_COMM_SELF)
               : PMPI_Unpack(packed, bytes, &position, elements, some, type, MPI_COMM_SELF);
    if (rc != MPI_SUCCESS) return rc;
    if (position != bytes) return MPI_ERR_INTERN;
    at += (size_t)bytes;
    done += some;
  }
  return MPI_SUCCESS;
}

/* MPICH's MPI_Unpack takes MPI_BOTTOM for a missing buffer. So absolute addresses become distances
 * from another place. */
static int move(struct side *side, int packs) {
  MPI_Aint place, back;
  MPI_Datatype type;
  int rc;
  if (!side->packed || side->bytes == 0) return MPI_SUCCESS;
  if (side->user) return move_from(side->user, side, side->type, packs);
  PMPI_Get_address(side->packed, &place);
  back = -place;
  rc = PMPI_Type_create_hindexed_block(1, 1, &back, side->type, &type);
  if (rc != MPI_SUCCESS) return rc;
  rc = PMPI_Type_commit(&type);
  if (rc == MPI_SUCCESS) rc = move_from(side->packed, side, type, packs);
  PMPI_Type_free(&type);
  return rc;
}

int goalmpi_pack(struct side *side) { return move(side, 1); }
int goalmpi_unpack(struct side *side) { return move(side, 0); }
