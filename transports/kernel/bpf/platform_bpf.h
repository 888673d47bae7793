/* The engine's surroundings in the kernel: a classifier on the hooks of an interface. */
#ifndef GOAL_PLATFORM_H
#define GOAL_PLATFORM_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#include "layout.h"

/* The machine reads words at any address; the loader refuses others. */
typedef u8 mem_u8;
typedef s8 mem_s8;
typedef u16 mem_u16;
typedef s16 mem_s16;
typedef u32 mem_u32;
typedef s32 mem_s32;
typedef u64 mem_u64;
typedef s64 mem_s64;

/* The kernel's interface, from the user-space headers of Linux. Only what is used. */
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
	u32 vlan_present, vlan_tci, vlan_proto;
	u32 priority;
	u32 ingress_ifindex, ifindex;
};

typedef struct __sk_buff FRAME;

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static long (*bpf_skb_store_bytes)(FRAME *skb, u32 at, const void *from, u32 bytes,
				   u64 flags) = (void *)9;
static long (*bpf_clone_redirect)(FRAME *skb, u32 ifindex, u64 flags) = (void *)13;
static long (*bpf_redirect)(u32 ifindex, u64 flags) = (void *)23;
static long (*bpf_skb_load_bytes)(const FRAME *skb, u32 at, void *to, u32 bytes) = (void *)26;
static long (*bpf_skb_change_tail)(FRAME *skb, u32 bytes, u64 flags) = (void *)38;
static long (*bpf_loop)(u32 count, void *body, void *context, u64 flags) = (void *)181;

#define TC_ACT_UNSPEC -1
#define TC_ACT_SHOT 2
#define BPF_F_INGRESS 1

#define INLINE static inline __attribute__((always_inline))
/* The verifier checks such a function once, whatever calls it. */
#define GLOBAL __attribute__((noinline))
/* The compiler must take a value for unknown, so that checks of it stay. */
#define KEEP(x) asm volatile("" : "+r"(x))
/* As KEEP; what is written above it in the source stays above it. */
#define KEEP_ORDER(x) asm volatile("" : "+r"(x) : : "memory")
#define NO_UNROLL _Pragma("clang loop unroll(disable)")
#define UNROLL _Pragma("clang loop unroll_count(8)")

#define SECTION(name) __attribute__((section(name), used))
#define MAP_TYPE_ARRAY 2
#define MAP_TYPE_PERCPU_ARRAY 6
#define MAP_FLAG_MMAPABLE 1024

#define SHARED_ARRAY(name, size, value_type) \
	struct { \
		int (*type)[MAP_TYPE_ARRAY]; \
		int (*max_entries)[size]; \
		int (*map_flags)[MAP_FLAG_MMAPABLE]; \
		u32 *key; \
		value_type *value; \
	} name SECTION(".maps")

/* The loader writes the right number of bytes instead of this one, which the object has only once. */
#define MEMORY_PLACEHOLDER 0x00101357

/* The last place that an access may begin at. The loader sets it, so the verifier knows it. */
const volatile u64 goal_last_place = 0;

struct hash_key {
	u64 words[HASH_KEY_WORDS];
};

struct bounce {
	u8 bytes[FRAGMENT_BYTES_MAX + 64];
};

/* The loader sets the numbers of entries. */
SHARED_ARRAY(goal_host, 1, struct host);
SHARED_ARRAY(goal_parts, 1, struct part);
SHARED_ARRAY(goal_status, 1, struct status);
SHARED_ARRAY(goal_actions, 1, struct action);
SHARED_ARRAY(goal_dependents, 1, u64);
SHARED_ARRAY(goal_receives, 1, struct receive);
SHARED_ARRAY(goal_sends, 1, struct send);
SHARED_ARRAY(goal_peers, 1, struct peer);
SHARED_ARRAY(goal_ready, 1, u64);
SHARED_ARRAY(goal_handed, 1, u64);

struct {
	int (*type)[MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	int (*map_flags)[MAP_FLAG_MMAPABLE];
	int (*key_size)[4];
	int (*value_size)[MEMORY_PLACEHOLDER];
} goal_memory SECTION(".maps");
SHARED_ARRAY(goal_hash_key, 1, struct hash_key);
SHARED_ARRAY(goal_counters, COUNTERS, u64);

struct {
	int (*type)[MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct bounce *value;
} goal_bounce SECTION(".maps");

#define LOOKUP(name, type, map) \
	INLINE type *name(u32 index) \
	{ \
		return bpf_map_lookup_elem(&map, &index); \
	}

LOOKUP(lookup_host, struct host, goal_host)
LOOKUP(lookup_part, struct part, goal_parts)
LOOKUP(lookup_status, struct status, goal_status)
LOOKUP(lookup_action, struct action, goal_actions)
LOOKUP(lookup_dependent, u64, goal_dependents)
LOOKUP(lookup_receive, struct receive, goal_receives)
LOOKUP(lookup_send, struct send, goal_sends)
LOOKUP(lookup_peer, struct peer, goal_peers)
LOOKUP(lookup_ready, u64, goal_ready)
LOOKUP(lookup_handed, u64, goal_handed)
LOOKUP(lookup_bounce, u8, goal_bounce)
LOOKUP(lookup_hash_key, const u8, goal_hash_key)
LOOKUP(lookup_counter, u64, goal_counters)

/* Returns the memory at a place, and SLACK_BYTES behind it, or 0. */
INLINE u8 *lookup_memory(u64 place)
{
	u32 zero = 0;
	u8 *memory = bpf_map_lookup_elem(&goal_memory, &zero);
	u64 last = goal_last_place;

	KEEP(place);
	if (!memory || place > last)
		return 0;
	return memory + place;
}

#define host_of(frame) lookup_host(0)
#define part_at(frame, i) lookup_part(i)
#define status_at(frame, i) lookup_status(i)
#define action_at(frame, i) lookup_action(i)
#define dependent_at(frame, i) lookup_dependent(i)
#define receive_at(frame, i) lookup_receive(i)
#define send_at(frame, i) lookup_send(i)
#define peer_at(frame, i) lookup_peer(i)
#define ready_at(frame, i) lookup_ready(i)
#define handed_at(frame, i) lookup_handed(i)
#define memory_at(frame, place) lookup_memory(place)
#define bounce_of(frame) lookup_bounce(0)
#define hash_key_of(frame) lookup_hash_key(0)
#define counter_at(frame, i) lookup_counter(i)

#define now_of(frame) bpf_ktime_get_ns()
#define frame_length(frame) ((frame)->len)
#define frame_read(frame, at, to, bytes) bpf_skb_load_bytes(frame, at, to, bytes)
#define frame_write(frame, at, from, bytes) bpf_skb_store_bytes(frame, at, from, bytes, 0)
#define frame_interface(frame) ((frame)->ifindex)
/* Sends the frame itself out of an interface: the verdict. */
#define frame_redirect(ifindex) bpf_redirect(ifindex, 0)
#define frame_resize(frame, length) bpf_skb_change_tail(frame, length, 0)

INLINE int frame_emit(FRAME *frame, u32 is_local)
{
	struct host *host = host_of(frame);
	if (!host)
		return -1;
	return bpf_clone_redirect(frame, host->ifindex, is_local ? BPF_F_INGRESS : 0);
}

#define repeat(count, body, context) bpf_loop(count, body, context, 0)

#define fetch_add(word, value) __sync_fetch_and_add(word, value)
#define compare_swap(word, old, new) __sync_val_compare_and_swap(word, old, new)
#define READ(word) (*(volatile __typeof__(word) *)&(word))
#define WRITE(word, value) (*(volatile __typeof__(word) *)&(word) = (value))

#define to_network16(x) __builtin_bswap16(x)
#define to_network32(x) __builtin_bswap32(x)

#define VERDICT_PASS TC_ACT_UNSPEC
/* TCX knows no other verdict that ends a frame. */
#define VERDICT_DROP TC_ACT_SHOT

#define memset __builtin_memset
#define memcpy __builtin_memcpy

#endif
