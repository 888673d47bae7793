/* The maps that the loader, the ranks and the engine share, and the frame.
 *
 * `src/layout.rs` has the same structures; a test compares sizes and offsets. Numbers in maps have
 * the machine's order of bytes, those in frames the network's.
 */
#ifndef GOAL_LAYOUT_H
#define GOAL_LAYOUT_H

#include "limits.h"

/* No number of a part, a send or a receive. */
#define NONE 0xffffffff

/* The one entry of the map `host`. Only the loader writes it. */
struct host {
	u64 key[2];   /* of the job: tags of frames between hosts */
	u64 cookie;   /* proves ticks and continuations, which never leave the host */
	u32 job;      /* a number that tells jobs on one interface apart */
	u32 ifindex;  /* the interface */
	u32 ranks;    /* of this host; a part's number is schedule * ranks + port */
	u32 parts;    /* in use */
	u32 fragment; /* payload of all frames of a message but the last, a multiple of 8 */
	u16 ethertype;
	u8 mac[6];
	u32 zero;
	u64 ticked; /* when the last tick counted, in nanoseconds of the monotonic clock */
};

/* One rank's part of one schedule. The loader writes the first group, the engine the second. */
struct part {
	u64 cookie; /* proves that a START comes from the rank */
	u32 first_action, actions;
	u32 first_independent, independent; /* in `dependents` */
	u32 first_receive, receives;
	u32 first_send, sends;
	u32 first_ack, acks; /* sends that follow the end of a run */
	u32 held_receives;   /* receives that the next run but one waits for */
	u32 stride;          /* distance of the two copies of alternating buffers */
	u16 schedule, port;
	u32 memory; /* where the part begins in the memory of the host */

	u64 head[2], tail[2]; /* of the queue of ready actions, by the epoch's lowest bit */
	u32 left[2];          /* actions that are not complete */
	u32 held[2];          /* acknowledgements that have not come */
	u32 current;          /* the last epoch that was started */
	u32 wanted;           /* the last epoch that the rank asked for */
	u32 arrivals;         /* complete messages, for ticks */
	u32 seen;             /* `arrivals` at the last tick */
	u32 idle;             /* ticks since a message arrived */
	u32 next_ask;         /* the receive at which the next tick begins */
};

/* The state of a part that its rank reads. Only `waiting` is written by the rank. */
struct status {
	u32 done;    /* the last epoch that ended */
	u32 error;   /* 0, or an error; nothing goes on then */
	u32 action;  /* of the error */
	u32 element; /* of the error */
	u32 waiting; /* not 0 if the rank wants a frame when an epoch ends */
	u32 started; /* the last epoch whose start was taken */
	u64 ended;   /* when `done` changed, in nanoseconds of the monotonic clock */
	u64 handed;  /* actions that were ever handed over to the rank's process */
	u64 returned; /* those that were taken back */
};

#define ERROR_DIVISION 1

/* Bits of an action's `flags`: an operand's place alternates with the epoch. */
#define ALTERNATES_A 1
#define ALTERNATES_B 2
#define ALTERNATES_C 4
/* The rank's process does the operation, and gives the action back. */
#define HANDED_OVER 8

/* C = A op B, then a send, then the dependents. */
struct action {
	u32 a, b, c, bytes; /* places in the part's memory, and their length */
	u32 first_dependent, dependents;
	u32 send;    /* number of the part's send, or NONE */
	u32 initial; /* dependencies, the start and the arrival of a message included */
	u32 left[2];
	u8 op, datatype; /* as in NISA; op 0 for none */
	u8 flags, zero;
	u32 out; /* the epoch in which it was handed over, until it is given back; then 0 */
};

#define RECEIVE_HELD 1 /* it counts in `held`, and has no action */

struct receive {
	u64 claims[2];  /* epoch in the upper half, fragments that came in the lower */
	u32 missing[2]; /* fragments that are not in place */
	u32 place;      /* where the message lands; alternates */
	u32 bytes;
	u32 action;
	u32 peer;       /* the sender */
	u32 peers_send; /* its send */
	u32 asks;       /* requests that were sent */
	u16 fragments, flags;
	u32 portions; /* receives of the same action: a long message has several */
};

#define SEND_ACK 1 /* it has no bytes and follows the end of a run */

struct send {
	u32 sent[2]; /* the epoch that it was last sent in */
	u32 place;   /* the bytes, which stay until the next epoch but one; alternates */
	u32 bytes;
	u32 peer;    /* the receiver */
	u32 peers_receive;
	u32 asked; /* the number of the last request that was taken */
	u16 fragments, flags;
	u32 answered; /* requests that were answered; the others came before the send */
	u32 zero;
};

#define PEER_LOCAL 1 /* a rank of this host */

struct peer {
	u8 mac[6];
	u16 port;
	u32 flags;
	u32 zero;
};

/* Counts of what happened to frames. */
enum counter {
	COUNT_DATA,      /* taken */
	COUNT_DOUBLE,    /* that had come before */
	COUNT_EARLY,     /* of an epoch that is too far ahead */
	COUNT_LATE,      /* of an epoch that has ended */
	COUNT_FORGED,    /* with a wrong tag or cookie */
	COUNT_MALFORMED, /* that contradict the schedule */
	COUNT_ASKED,     /* requests that were sent */
	COUNT_ANSWERED,  /* requests that were answered */
	COUNT_CONTINUED, /* runs that went on with another frame */
	COUNT_UNSENT,    /* that the kernel did not take */
	COUNT_CONTENDED, /* that were given up because another processor was faster */
	COUNT_TICKED,    /* ticks */
	COUNTERS
};

/* Kinds of frames. */
#define KIND_DATA 1
#define KIND_ASK 2
#define KIND_START 3
#define KIND_TICK 4
#define KIND_CONTINUE 5
#define KIND_DONE 6
#define KIND_RETURN 7

/* Version 2 of ESP, form 8. */
#define FRAME_FORM 0x28
#define FRAME_BYTES 56
#define FRAME_MIN 60
/* A tick on the private pair has this length, which decides how slowly it circles. */
#define CIRCLE_BYTES 1514
/* Bytes that the tag covers, without the payload. */
#define FRAME_TAGGED 48

/* Ethernet's header and the schedule frame's. */
struct frame {
	u8 to[6], from[6];
	u16 ethertype;
	u8 form, kind;
	u16 bytes; /* of payload */
	u16 from_port, to_port;
	u16 schedule;
	u32 job;
	u32 epoch;
	u32 receive; /* of the receiver's part */
	u32 send;    /* of the sender's part */
	u32 mask;    /* KIND_ASK: the missing fragments */
	u32 number;  /* of the fragment, of the request, or of the action that is given back */
	u64 tag;
};

#endif
