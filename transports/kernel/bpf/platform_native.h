/* The engine's surroundings in an ordinary process: maps are arrays, and frames go to a function.
 * Nothing here is thread-safe: one host runs at a time.
 */
#ifndef GOAL_PLATFORM_H
#define GOAL_PLATFORM_H

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#include "layout.h"

/* Memory of a part has any alignment. */
typedef u8 __attribute__((may_alias)) mem_u8;
typedef s8 __attribute__((may_alias)) mem_s8;
typedef u16 __attribute__((aligned(1), may_alias)) mem_u16;
typedef s16 __attribute__((aligned(1), may_alias)) mem_s16;
typedef u32 __attribute__((aligned(1), may_alias)) mem_u32;
typedef s32 __attribute__((aligned(1), may_alias)) mem_s32;
typedef u64 __attribute__((aligned(1), may_alias)) mem_u64;
typedef s64 __attribute__((aligned(1), may_alias)) mem_s64;

/* A host of the simulation. */
struct native {
	struct host *host;
	struct part *parts;
	struct status *status;
	struct action *actions;
	u64 *dependents;
	struct receive *receives;
	struct send *sends;
	struct peer *peers;
	u64 *ready;
	u64 *handed;
	u8 *memory;
	u8 *bounce;
	u64 *counters;
	const u64 *hash_key; /* HASH_KEY_WORDS */
	u32 entries[8]; /* parts, actions, dependents, receives, sends, peers, the last place, 0 */
	u64 now;        /* nanoseconds */
	/* Takes a frame. */
	void (*emit)(void *context, const u8 *bytes, u32 length, u32 is_local);
	void *context;
};

/* A frame that the engine handles and changes. */
typedef struct native_frame {
	struct native *native;
	u8 *bytes; /* FRAME_BYTES + FRAGMENT_BYTES_MAX of room */
	u32 length;
	const u8 *shown; /* if not 0, what the first read of the header finds instead */
} FRAME;

#define INLINE static inline
#define GLOBAL static
#define KEEP(x) ((void)(x))
#define KEEP_ORDER(x) ((void)0)
#define NO_UNROLL
#define UNROLL

#define AT(frame, map, limit, index) \
	((index) < (frame)->native->entries[limit] ? &(frame)->native->map[index] : 0)

#define host_of(frame) ((frame)->native->host)
#define part_at(frame, i) AT(frame, parts, 0, i)
#define status_at(frame, i) AT(frame, status, 0, i)
#define action_at(frame, i) AT(frame, actions, 1, i)
#define dependent_at(frame, i) AT(frame, dependents, 2, i)
#define receive_at(frame, i) AT(frame, receives, 3, i)
#define send_at(frame, i) AT(frame, sends, 4, i)
#define peer_at(frame, i) AT(frame, peers, 5, i)
#define ready_at(frame, i) ((i) / 2 < (frame)->native->entries[1] ? &(frame)->native->ready[i] : 0)
#define handed_at(frame, i) AT(frame, handed, 1, i)
#define memory_at(frame, place) \
	((place) <= (frame)->native->entries[6] ? (frame)->native->memory + (place) : 0)
#define bounce_of(frame) ((frame)->native->bounce)
#define hash_key_of(frame) ((const u8 *)(frame)->native->hash_key)
#define counter_at(frame, i) (&(frame)->native->counters[i])

#define now_of(frame) ((frame)->native->now)
/* All frames are at the one interface. */
#define frame_interface(frame) ((frame)->native->host->ifindex)
#define frame_redirect(ifindex) ((void)(ifindex), VERDICT_DROP)
#define frame_length(frame) ((frame)->length)

static int frame_read(FRAME *frame, u32 at, void *to, u32 bytes)
{
	if (at + bytes > frame->length)
		return -1;
	if (at == 0 && frame->shown) {
		memcpy(to, frame->shown, bytes);
		frame->shown = 0;
		return 0;
	}
	memcpy(to, frame->bytes + at, bytes);
	/* The payload of a frame is only what was found there first. */
	if (at == FRAME_BYTES)
		memset(frame->bytes + at, 0x55, bytes);
	return 0;
}

static int frame_write(FRAME *frame, u32 at, const void *from, u32 bytes)
{
	if (at + bytes > frame->length)
		return -1;
	memcpy(frame->bytes + at, from, bytes);
	return 0;
}

static int frame_resize(FRAME *frame, u32 length)
{
	if (length > FRAME_BYTES + FRAGMENT_BYTES_MAX)
		return -1;
	if (length > frame->length)
		memset(frame->bytes + frame->length, 0, length - frame->length);
	frame->length = length;
	return 0;
}

static int frame_emit(FRAME *frame, u32 is_local)
{
	struct native *native = frame->native;
	native->emit(native->context, frame->bytes, frame->length, is_local);
	return 0;
}

static u32 repeat(u32 count, long (*body)(u32, void *), void *context)
{
	u32 i;
	for (i = 0; i < count; i++)
		if (body(i, context))
			return i + 1;
	return i;
}

#define fetch_add(word, value) __sync_fetch_and_add(word, value)
#define compare_swap(word, old, new) __sync_val_compare_and_swap(word, old, new)
#define READ(word) (*(volatile __typeof__(word) *)&(word))
#define WRITE(word, value) (*(volatile __typeof__(word) *)&(word) = (value))

#define to_network16(x) __builtin_bswap16(x)
#define to_network32(x) __builtin_bswap32(x)

#define VERDICT_PASS 0
#define VERDICT_DROP 2

#endif
