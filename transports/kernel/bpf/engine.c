/* The schedule engine: executes parts of schedules when frames arrive.
 *
 * Everybody on the network can send frames here, and every program of this host that may open packet
 * sockets can send them out. A frame between hosts acts only if its tag is right. Frames within the
 * host are starts, ticks, continuations, and signs that a run ended. Such a frame acts only if it
 * has a random number that never leaves the host. All numbers of a frame are compared with the maps
 * before they are used. The verifier sees to it that no access leaves a map. Everything else on
 * the interface passes untouched.
 *
 * Frames are handled on several processors at once. A word that two of them change is changed by
 * atomic instructions; the one who takes a counter to 0 owns what follows.
 */
#ifdef __bpf__
#include "platform_bpf.h"
#else
#include "platform_native.h"
#endif

#include "tag.h"
#include "operations.h"
#include "send.h"
#include "run.h"
#include "receive.h"
#include "tick.h"

/* Takes the start of a run. Returns the epoch that may go on, or 0. */
INLINE u32 take_start(FRAME *frame, u32 number, const struct frame *header)
{
	struct part *part = part_at(frame, number);
	struct status *status = status_at(frame, number);
	u32 epoch = to_network32(header->epoch);

	if (!part || !status || header->tag != part->cookie) {
		count(frame, COUNT_FORGED);
		return 0;
	}
	if (epoch != READ(part->current) + 1 || epoch > EPOCH_MAX)
		return 0;
	/* The process is told that its frame was dropped, on some hooks; this word tells it better. */
	WRITE(status->started, epoch);
	WRITE(part->wanted, epoch);
	return begin(frame, number, epoch) ? epoch : 0;
}

/* Lets a sign for a rank's process through if this host's engine has sent it: others would wake the
 * process at will.
 */
INLINE int pass_sign(FRAME *frame, u32 number, const struct frame *header)
{
	struct part *part = part_at(frame, number);

	if (part && part->cookie && header->tag == part->cookie)
		return VERDICT_PASS;
	count(frame, COUNT_FORGED);
	return VERDICT_DROP;
}

/* A tick at another interface is one that circles through the private pair. What was sent meanwhile
 * has overwritten it.
 */
INLINE int circled(FRAME *frame, const struct host *host, const struct frame *header)
{
	u32 interface = frame_interface(frame);

	if (interface == host->ifindex)
		return VERDICT_DROP;
	/* A frame that is lost here is missed by the thread that watches the pair. */
	if (frame_resize(frame, CIRCLE_BYTES) || frame_write(frame, 0, header, FRAME_BYTES))
		return VERDICT_DROP;
	return frame_redirect(interface);
}

/* Handles a frame at either hook. Those that this host sends to others pass at once: they are not
 * for this host.
 */
INLINE int handle(FRAME *frame)
{
	struct host *host = host_of(frame);
	struct frame header = {};
	u32 part, epoch = 0;

	if (!host)
		return VERDICT_PASS;
	part = part_of(frame, host, &header);
	if (part == NONE)
		return VERDICT_PASS;
	if (part == NONE - 1) {
		count(frame, COUNT_MALFORMED);
		return VERDICT_DROP;
	}
	if (header.kind == KIND_DONE)
		return pass_sign(frame, part, &header);
	switch (header.kind) {
	case KIND_DATA:
		epoch = take_data(frame, part);
		break;
	case KIND_ASK:
		take_ask(frame, part);
		break;
	case KIND_START:
		epoch = take_start(frame, part, &header);
		break;
	case KIND_RETURN:
		epoch = take_return(frame, part, header.tag, to_network32(header.epoch),
				    to_network32(header.number));
		break;
	case KIND_TICK:
	case KIND_CONTINUE:
		if (header.tag != host->cookie) {
			count(frame, COUNT_FORGED);
		} else if (header.kind == KIND_TICK) {
			take_tick(frame);
			return circled(frame, host, &header);
		} else {
			epoch = to_network32(header.epoch);
		}
		break;
	default:
		count(frame, COUNT_MALFORMED);
	}
	if (epoch)
		run_ready(frame, part, epoch);
	return VERDICT_DROP;
}

#ifdef __bpf__
SECTION("classifier") int goal_engine(FRAME *frame)
{
	return handle(frame);
}

/* The other end of the private pair: ticks of this host go back, and nothing else does. */
SECTION("classifier") int goal_mirror(FRAME *frame)
{
	struct host *host = host_of(frame);
	struct frame header = {};

	if (!host || part_of(frame, host, &header) == NONE || header.kind != KIND_TICK ||
	    header.tag != host->cookie)
		return VERDICT_DROP;
	return frame_redirect(frame_interface(frame));
}

char engine_license[] SECTION("license") = "Dual MIT/GPL";
#else
int goal_engine(FRAME *frame)
{
	return handle(frame);
}
#endif
