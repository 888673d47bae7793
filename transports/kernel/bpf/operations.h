/* Local operations: C = A op B, element by element. Integers wrap; floats.h has the others. */
#ifndef GOAL_OPERATIONS_H
#define GOAL_OPERATIONS_H

/* As in NISA. */
enum { MAX = 1, MIN, SUM, PROD, LAND, LOR, LXOR, BAND, BOR, BXOR, COPY, SUB, DIV };
enum { INT8 = 1, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64 };

#include "floats.h"

/* Elements that one call of the loop's body takes. */
#define CHUNK 32
/* Words that one call of the copy's body takes. */
#define COPIED 64

#define NO_FAILURE 0xffffffff

struct span {
	FRAME *frame;
	u32 a, b, c; /* places; for a copy, `a` may be NONE: the bounce buffer */
	u32 bytes;
	u8 op, type;
	u32 failed; /* the element that divides by zero */
};

/* The quotient toward zero. The lowest number divided by -1 wraps. BPF divides no signed numbers. */
INLINE u64 divided(s64 x, s64 y)
{
	u64 ux = x < 0 ? -(u64)x : (u64)x;
	u64 uy = y < 0 ? -(u64)y : (u64)y;
	u64 quotient = ux / uy;
	return (x < 0) != (y < 0) ? -quotient : quotient;
}

/* Most chunks are whole ones: no test for each element. */
#define EACH(kind, expression) \
	do { \
		if (count >= CHUNK) { \
			UNROLL \
			for (i = 0; i < CHUNK; i++) { \
				kind x = ((mem_##kind *)a)[i]; \
				kind y = ((mem_##kind *)b)[i]; \
				((mem_##kind *)c)[i] = (kind)(expression); \
				KEEP_ORDER(c); \
			} \
			return 0; \
		} \
		NO_UNROLL \
		for (i = 0; i < CHUNK; i++) { \
			kind x, y; \
			if (i >= count) \
				break; \
			x = ((mem_##kind *)a)[i]; \
			y = ((mem_##kind *)b)[i]; \
			((mem_##kind *)c)[i] = (kind)(expression); \
		} \
		return 0; \
	} while (0)

#define EACH_DIVIDED(kind, expression) \
	do { \
		NO_UNROLL \
		for (i = 0; i < CHUNK; i++) { \
			kind x, y; \
			if (i >= count) \
				break; \
			x = ((mem_##kind *)a)[i]; \
			y = ((mem_##kind *)b)[i]; \
			if (y == 0) { \
				s->failed = index * CHUNK + i; \
				return 1; \
			} \
			((mem_##kind *)c)[i] = (kind)(expression); \
		} \
		return 0; \
	} while (0)

/* Operations whose lowest bits depend on the operands' lowest bits only. */
#define SAME_FOR_SIGNS(kind) \
	switch (s->op) { \
	case SUM: EACH(kind, x + y); \
	case SUB: EACH(kind, x - y); \
	case PROD: EACH(kind, (u64)x * (u64)y); \
	case LAND: EACH(kind, x != 0 && y != 0); \
	case LOR: EACH(kind, x != 0 || y != 0); \
	case LXOR: EACH(kind, (x != 0) != (y != 0)); \
	case BAND: EACH(kind, x & y); \
	case BOR: EACH(kind, x | y); \
	case BXOR: EACH(kind, x ^ y); \
	}

#define ORDERED(kind, quotient) \
	switch (s->op) { \
	case MAX: EACH(kind, x > y ? x : y); \
	case MIN: EACH(kind, x < y ? x : y); \
	case DIV: EACH_DIVIDED(kind, quotient); \
	}

INLINE u32 width_of(u8 type)
{
	return 1u << ((type - 1) & 3);
}

static long operate(u32 index, void *context)
{
	struct span *s = context;
	u32 width = width_of(s->type);
	u32 at = index * CHUNK * width;
	u8 *a = memory_at(s->frame, s->a + at);
	u8 *b = memory_at(s->frame, s->b + at);
	u8 *c = memory_at(s->frame, s->c + at);
	u32 count, i;

	if (!a || !b || !c || at >= s->bytes)
		return 1;
	count = (s->bytes - at) / width;
	switch (s->type) {
	case INT8: ORDERED(s8, divided(x, y)); break;
	case INT16: ORDERED(s16, divided(x, y)); break;
	case INT32: ORDERED(s32, divided(x, y)); break;
	case INT64: ORDERED(s64, divided(x, y)); break;
	case UINT8: ORDERED(u8, (u64)x / y); break;
	case UINT16: ORDERED(u16, (u64)x / y); break;
	case UINT32: ORDERED(u32, (u64)x / y); break;
	case UINT64: ORDERED(u64, x / y); break;
	}
	switch (width) {
	case 1: SAME_FOR_SIGNS(u8); break;
	case 2: SAME_FOR_SIGNS(u16); break;
	case 4: SAME_FOR_SIGNS(u32); break;
	case 8: SAME_FOR_SIGNS(u64); break;
	}
	return 1;
}

static long operate_floats(u32 index, void *context)
{
	struct span *s = context;
	u32 width = 2u << ((s->type - FLOAT16) & 3);
	u32 at = index * CHUNK * width;
	u8 *a = memory_at(s->frame, s->a + at);
	u8 *b = memory_at(s->frame, s->b + at);
	u8 *c = memory_at(s->frame, s->c + at);
	u32 count, i;

	if (!a || !b || !c || at >= s->bytes)
		return 1;
	count = (s->bytes - at) / width;
	NO_UNROLL
	for (i = 0; i < CHUNK; i++) {
		if (i >= count)
			break;
		switch (s->type) {
		case FLOAT16:
			((mem_u16 *)c)[i] = float_result(((mem_u16 *)a)[i], ((mem_u16 *)b)[i], s->op,
							 FLOAT16);
			break;
		case FLOAT32:
			((mem_u32 *)c)[i] = float_result(((mem_u32 *)a)[i], ((mem_u32 *)b)[i], s->op,
							 FLOAT32);
			break;
		case FLOAT64:
			((mem_u64 *)c)[i] = float_result(((mem_u64 *)a)[i], ((mem_u64 *)b)[i], s->op,
							 FLOAT64);
			break;
		}
	}
	return 0;
}

/* Copies whole words, and the bytes behind them. */
static long copy(u32 index, void *context)
{
	struct span *s = context;
	u32 at = index * COPIED * 8;
	u8 *a, *c = memory_at(s->frame, s->c + at);
	u32 left, i;

	if (s->a == NONE) {
		u32 place = at & (FRAGMENT_BYTES_MAX - 1);

		a = bounce_of(s->frame);
		if (!a)
			return 1;
		KEEP(place);
		a += place & (FRAGMENT_BYTES_MAX - COPIED * 8);
	} else {
		a = memory_at(s->frame, s->a + at);
	}
	if (!a || !c || at >= s->bytes)
		return 1;
	left = s->bytes - at;
	if (left >= COPIED * 8) {
		UNROLL
		for (i = 0; i < COPIED; i++) {
			((mem_u64 *)c)[i] = ((mem_u64 *)a)[i];
			KEEP_ORDER(c);
		}
		return 0;
	}
	NO_UNROLL
	for (i = 0; i < COPIED; i++) {
		if (i * 8 + 8 > left)
			break;
		((mem_u64 *)c)[i] = ((mem_u64 *)a)[i];
	}
	at = left & (COPIED * 8 - 8);
	a += at;
	c += at;
	NO_UNROLL
	for (i = 0; i < 7; i++) {
		if (i >= (left & 7))
			break;
		c[i] = a[i];
	}
	return 0;
}

/* Copies the payload in the bounce buffer to a place of the memory. */
INLINE void copy_payload(FRAME *frame, u32 place, u32 bytes)
{
	struct span s = {};

	s.frame = frame;
	s.a = NONE;
	s.c = place;
	s.bytes = bytes;
	repeat((bytes + COPIED * 8 - 1) / (COPIED * 8), copy, &s);
}

/* Executes the operation of an action. Returns the element that divides by zero, or NO_FAILURE. */
GLOBAL int local_operation(FRAME *frame, u32 part_number, u32 action_number, u32 epoch)
{
	struct part *part = part_at(frame, part_number);
	struct action *action = action_at(frame, action_number);
	struct span s = {};
	u32 shift;

	if (!part || !action)
		return NO_FAILURE;
	shift = epoch & 1 ? part->stride : 0;
	s.frame = frame;
	s.a = part->memory + action->a + (action->flags & ALTERNATES_A ? shift : 0);
	s.b = part->memory + action->b + (action->flags & ALTERNATES_B ? shift : 0);
	s.c = part->memory + action->c + (action->flags & ALTERNATES_C ? shift : 0);
	s.bytes = action->bytes;
	s.op = action->op;
	s.type = action->datatype;
	s.failed = NO_FAILURE;
	if (s.op == COPY)
		repeat((s.bytes + COPIED * 8 - 1) / (COPIED * 8), copy, &s);
	else if (s.type >= FLOAT16)
		repeat(((s.bytes >> ((s.type - FLOAT16 + 1) & 3)) + CHUNK - 1) / CHUNK, operate_floats,
		       &s);
	else
		repeat((s.bytes / width_of(s.type) + CHUNK - 1) / CHUNK, operate, &s);
	return s.failed;
}

#endif
