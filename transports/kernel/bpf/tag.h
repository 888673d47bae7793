/* The tag of a frame: SipHash-2-4 under the job's key, of the header's first bytes and two sums of
 * products (NH) of the payload, which is filled up with zeros to a multiple of 8.
 *
 * A word of the payload has two halves, a word of the hash key too. The sum has the product of the
 * halves' sums, for each word; the second sum takes the hash key from its second word on. Two
 * payloads of the same length have the same sums for one of 2^64 hash keys, and SipHash proves the
 * sums with the header, which has the length. docs/kernel.md says what that is worth.
 */
#ifndef GOAL_TAG_H
#define GOAL_TAG_H

/* Words that one call of the loop's body takes. */
#define HASHED_WORDS 64
/* Words of the header that SipHash takes. */
#define HEADER_WORDS (FRAME_TAGGED / 8)

struct hash {
	FRAME *frame;
	u64 sums[2];
	u32 place; /* of the payload in the memory; NONE if it is in the bounce buffer */
	u32 bytes;
};

#define ROTATE(x, bits) ((x) << (bits) | (x) >> (64 - (bits)))

#define ROUND(v0, v1, v2, v3) \
	do { \
		v0 += v1; \
		v2 += v3; \
		v1 = ROTATE(v1, 13) ^ v0; \
		v3 = ROTATE(v3, 16) ^ v2; \
		v0 = ROTATE(v0, 32); \
		v2 += v1; \
		v0 += v3; \
		v1 = ROTATE(v1, 17) ^ v2; \
		v3 = ROTATE(v3, 21) ^ v0; \
		v2 = ROTATE(v2, 32); \
	} while (0)

/* The product of the sums of halves, which wrap at 2^32. */
#define PRODUCT(word, key) \
	((u64)((u32)(word) + (u32)(key)) * (u32)((u32)((word) >> 32) + (u32)((key) >> 32)))

static long hash_words(u32 index, void *context)
{
	struct hash *h = context;
	u32 at = index * (HASHED_WORDS * 8);
	u32 left, place, i;
	u8 *from;
	const u8 *keys = hash_key_of(h->frame);
	u64 first = h->sums[0], second = h->sums[1], key;

	if (!keys || at >= h->bytes)
		return 1;
	left = h->bytes - at;
	place = at & (FRAGMENT_BYTES_MAX - 1);
	KEEP(place);
	place &= FRAGMENT_BYTES_MAX - HASHED_WORDS * 8;
	keys += place;
	if (h->place == NONE) {
		from = bounce_of(h->frame);
		if (!from)
			return 1;
		from += place;
	} else {
		from = memory_at(h->frame, h->place + at);
		if (!from)
			return 1;
	}
	key = *(const u64 *)keys;
	if (left >= HASHED_WORDS * 8) {
		UNROLL
		for (i = 0; i < HASHED_WORDS; i++) {
			u64 word = ((mem_u64 *)from)[i];
			u64 next = ((const u64 *)keys)[i + 1];
			first += PRODUCT(word, key);
			second += PRODUCT(word, next);
			key = next;
			/* Else the compiler loads all words first, and has no place for them. */
			KEEP_ORDER(first);
		}
	} else {
		u64 word, next;

		NO_UNROLL
		for (i = 0; i < HASHED_WORDS; i++) {
			if (i >= left / 8)
				break;
			word = ((mem_u64 *)from)[i];
			next = ((const u64 *)keys)[i + 1];
			first += PRODUCT(word, key);
			second += PRODUCT(word, next);
			key = next;
		}
		if (left & 7) {
			at = left & (HASHED_WORDS * 8 - 8);
			word = *(mem_u64 *)(from + at) & ((1ULL << (left & 7) * 8) - 1);
			next = *(const u64 *)(keys + at + 8);
			first += PRODUCT(word, key);
			second += PRODUCT(word, next);
		}
	}
	h->sums[0] = first;
	h->sums[1] = second;
	return 0;
}

/* Returns the tag of a header and `bytes` of payload at `place`: NONE is the bounce buffer. */
GLOBAL u64 tag_of(FRAME *frame, const struct frame *header, u32 place, u32 bytes)
{
	struct hash h = {};
	struct host *host;
	u64 v0, v1, v2, v3;
	u32 i;

	h.frame = frame;
	h.place = place;
	h.bytes = bytes;
	if (bytes)
		repeat((bytes + HASHED_WORDS * 8 - 1) / (HASHED_WORDS * 8), hash_words, &h);
	host = host_of(frame);
	/* The verifier takes a function's pointer for one that may be missing. */
	if (!host || !header)
		return 0;
	v0 = host->key[0] ^ 0x736f6d6570736575ULL;
	v1 = host->key[1] ^ 0x646f72616e646f6dULL;
	v2 = host->key[0] ^ 0x6c7967656e657261ULL;
	v3 = host->key[1] ^ 0x7465646279746573ULL;
	NO_UNROLL
	for (i = 0; i < HEADER_WORDS + 3; i++) {
		u64 word;
		if (i < HEADER_WORDS)
			word = ((const u64 *)header)[i];
		else if (i < HEADER_WORDS + 2)
			word = h.sums[i - HEADER_WORDS];
		else
			word = (u64)(HEADER_WORDS + 2) * 8 << 56;
		v3 ^= word;
		ROUND(v0, v1, v2, v3);
		ROUND(v0, v1, v2, v3);
		v0 ^= word;
	}
	v2 ^= 0xff;
	NO_UNROLL
	for (i = 0; i < 4; i++)
		ROUND(v0, v1, v2, v3);
	return v0 ^ v1 ^ v2 ^ v3;
}

#endif
