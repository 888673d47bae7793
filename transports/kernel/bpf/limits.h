/* The limits of schedules in the kernel. `src/limits.rs` has the same numbers; a test compares them.
 */
#ifndef GOAL_LIMITS_H
#define GOAL_LIMITS_H

/* Actions of one rank's part of a schedule, after translation. */
#define ACTIONS_MAX 4096
/* Dependencies between them. */
#define DEPENDENTS_MAX 16384
/* Bytes of a part: the rank's memory, scratch memory, constants, landing places, kept messages. */
#define PART_BYTES 1048576
/* Bytes of all parts on one host. The verifier takes no place beyond 2^29. */
#define MEMORY_BYTES_MAX 268435456
/* Floating-point numbers of one action: each takes some tens of nanoseconds of an interrupt. */
#define FLOATS_MAX 4096
/* Bytes behind the memory of all parts that an access may touch. */
#define SLACK_BYTES 8192
/* Payload of a frame. */
#define FRAGMENT_BYTES_MAX 8192
/* Words of the hash key: one for each of a frame, and one more. */
#define HASH_KEY_WORDS 1025
/* Frames of a message. */
#define FRAGMENTS_MAX 32
/* Parts on one host: schedules times ranks. */
#define PARTS_MAX 1024
/* Ranks of a job. */
#define PEERS_MAX 4096
/* The last run of a schedule. */
#define EPOCH_MAX 0xfffffff0
/* Actions that one frame may set off. The rest follows with a frame to the host itself. */
#define RUN_ACTIONS 512
/* Work of operations that one frame may set off, in nanoseconds or so. The rest follows likewise. */
#define RUN_WORK 200000
/* Requests for lost frames that a tick may send for a part. */
#define TICK_ASKS 64
/* Nanoseconds between two ticks that count. A busy processor lets several come at once. */
#define TICKS_APART_NS 500000
/* Attempts to change a word that other processors change. Each failure is another one's success. */
#define ATTEMPTS 64

#endif
