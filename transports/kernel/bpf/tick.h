/* Ticks: what did not arrive is asked for, and what was left undone goes on. */
#ifndef GOAL_TICK_H
#define GOAL_TICK_H

struct tick {
	FRAME *frame;
	u32 part;
	u32 asks;
	u32 next;
	u32 posted; /* 1 to ask for receives that nothing else holds up, 0 for the others */
};

/* Returns 1 if the message is all that a receive waits for, and may have been sent by now. */
INLINE u32 is_posted(FRAME *frame, const struct part *part, const struct receive *receive,
		     u32 epoch)
{
	struct action *action;

	if (receive->flags & RECEIVE_HELD)
		return 1;
	action = action_at(frame, part->first_action + receive->action);
	return action && READ(action->left[epoch & 1]) <= receive->portions;
}

static long ask_for(u32 index, void *context)
{
	struct tick *tick = context;
	FRAME *frame = tick->frame;
	struct host *host = host_of(frame);
	struct part *part = part_at(frame, tick->part);
	struct status *status = status_at(frame, tick->part);
	struct frame header = {};
	struct receive *receive;
	struct peer *peer;
	u32 number, epoch, mask, done;
	u64 claims;

	if (!host || !part || !status || !part->receives)
		return 1;
	if (tick->asks >= TICK_ASKS)
		return 1;
	number = (part->next_ask + index) % part->receives;
	tick->next = number + 1;
	receive = receive_at(frame, part->first_receive + number);
	if (!receive)
		return 1;
	epoch = READ(part->current);
	done = READ(status->done);
	if (receive->flags & RECEIVE_HELD) {
		if (READ(part->wanted) != epoch + 1 || epoch < 2)
			return 0;
		epoch -= 1;
	} else if (done == epoch) {
		return 0;
	}
	claims = READ(receive->claims[epoch & 1]);
	mask = receive->fragments >= 32 ? NONE : (1u << (receive->fragments & 31)) - 1;
	if (claims >> 32 == epoch)
		mask &= ~(u32)claims;
	else if (claims >> 32 > epoch)
		return 0;
	if (!mask || is_posted(frame, part, receive, epoch) != tick->posted)
		return 0;
	peer = peer_at(frame, receive->peer);
	if (!peer)
		return 1;
	address(&header, host, part, peer, KIND_ASK, epoch);
	header.receive = to_network32(number);
	header.send = to_network32(receive->peers_send);
	header.mask = to_network32(mask);
	header.number = to_network32(fetch_add(&receive->asks, 1) + 1);
	header.tag = tag_of(frame, &header, NONE, 0);
	count(frame, COUNT_ASKED);
	emit(frame, &header, 0, 0, peer->flags & PEER_LOCAL);
	tick->asks++;
	return 0;
}

/* Asks for what a part lacks, if nothing arrived since the last tick: then more and more rarely,
 * because its senders may not have come to it yet.
 */
static long tick_part(u32 index, void *context)
{
	struct tick *tick = context;
	FRAME *frame = tick->frame;
	struct part *part = part_at(frame, index);
	struct status *status = status_at(frame, index);
	u32 current, side, idle;

	if (!part || !status)
		return 1;
	if (READ(status->error))
		return 0;
	current = READ(part->current);
	side = current & 1;
	if (READ(part->head[side]) != READ(part->tail[side]))
		send_home(frame, index, KIND_CONTINUE, current);
	if (READ(status->done) == current && READ(part->wanted) == current)
		return 0;
	if (part->seen != READ(part->arrivals)) {
		part->seen = READ(part->arrivals);
		part->idle = 0;
		return 0;
	}
	idle = ++part->idle;
	if (idle & (idle - 1) && idle & 31)
		return 0;
	tick->part = index;
	tick->asks = 0;
	tick->next = part->next_ask;
	tick->posted = 1;
	repeat(part->receives, ask_for, tick);
	/* Of the others many were not sent yet. */
	tick->posted = 0;
	if (idle > 2)
		repeat(part->receives, ask_for, tick);
	part->next_ask = tick->next;
	return 0;
}

GLOBAL int take_tick(FRAME *frame)
{
	struct host *host = host_of(frame);
	struct tick tick = { .frame = frame };
	u64 now = now_of(frame);

	count(frame, COUNT_TICKED);
	if (!host || now - READ(host->ticked) < TICKS_APART_NS)
		return 0;
	WRITE(host->ticked, now);
	repeat(host->parts, tick_part, &tick);
	return 0;
}

#endif
