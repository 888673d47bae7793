/* The tag of a frame: SipHash-2-4 under the job's key, of the header's first bytes and the payload,
 * which is filled up with zeros to a multiple of 8.
 */
#ifndef GOAL_TAG_H
#define GOAL_TAG_H

/* Words that one call of the loop's body takes. */
#define HASHED_WORDS 64

struct hash {
	FRAME *frame;
	u64 v0, v1, v2, v3;
	u32 part; /* whose memory has the payload; NONE if it is in the bounce buffer */
	u32 place, bytes;
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

INLINE void hash_word(struct hash *h, u64 word)
{
	h->v3 ^= word;
	ROUND(h->v0, h->v1, h->v2, h->v3);
	ROUND(h->v0, h->v1, h->v2, h->v3);
	h->v0 ^= word;
}

static long hash_words(u32 index, void *context)
{
	struct hash *h = context;
	u32 at = index * (HASHED_WORDS * 8);
	u32 left, place, i;
	u8 *from;
	u64 v0 = h->v0, v1 = h->v1, v2 = h->v2, v3 = h->v3;

	if (at >= h->bytes)
		return 1;
	left = h->bytes - at;
	if (h->part == NONE) {
		from = bounce_of(h->frame);
		place = at & (FRAGMENT_BYTES_MAX - 1);
		KEEP(place);
		place &= FRAGMENT_BYTES_MAX - HASHED_WORDS * 8;
	} else {
		from = memory_at(h->frame, h->part);
		place = (h->place + at) & (PART_BYTES - 1);
		KEEP(place);
		place &= PART_BYTES - 1;
	}
	if (!from)
		return 1;
	from += place;
	NO_UNROLL
	for (i = 0; i < HASHED_WORDS; i++) {
		u64 word;
		if (i * 8 >= left)
			break;
		word = ((mem_u64 *)from)[i];
		if (left - i * 8 < 8)
			word &= (1ULL << (left & 7) * 8) - 1;
		v3 ^= word;
		ROUND(v0, v1, v2, v3);
		ROUND(v0, v1, v2, v3);
		v0 ^= word;
	}
	h->v0 = v0;
	h->v1 = v1;
	h->v2 = v2;
	h->v3 = v3;
	return 0;
}

/* Returns the tag of a header and `bytes` of payload at `place`. */
INLINE u64 tag_of(FRAME *frame, const struct host *host, const struct frame *header, u32 part,
		  u32 place, u32 bytes)
{
	const u64 *words = (const u64 *)header;
	u64 k0 = host->key[0], k1 = host->key[1];
	struct hash h = {
		.frame = frame,
		.v0 = k0 ^ 0x736f6d6570736575ULL,
		.v1 = k1 ^ 0x646f72616e646f6dULL,
		.v2 = k0 ^ 0x6c7967656e657261ULL,
		.v3 = k1 ^ 0x7465646279746573ULL,
		.part = part,
		.place = place,
		.bytes = bytes,
	};

	hash_word(&h, words[0]);
	hash_word(&h, words[1]);
	hash_word(&h, words[2]);
	hash_word(&h, words[3]);
	hash_word(&h, words[4]);
	hash_word(&h, words[5]);
	if (bytes)
		repeat((bytes + HASHED_WORDS * 8 - 1) / (HASHED_WORDS * 8), hash_words, &h);
	hash_word(&h, (u64)(FRAME_TAGGED + ((bytes + 7) & ~7u)) << 56);
	h.v2 ^= 0xff;
	ROUND(h.v0, h.v1, h.v2, h.v3);
	ROUND(h.v0, h.v1, h.v2, h.v3);
	ROUND(h.v0, h.v1, h.v2, h.v3);
	ROUND(h.v0, h.v1, h.v2, h.v3);
	return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

#endif
