/* Frames that arrive. Each handler returns the epoch that can go on, or 0.
 *
 * Bytes of a frame may change while it is handled, if a process of this host has mapped the ring that
 * it comes from. So a handler acts on the bytes whose tag it has checked: its own copies of the header
 * and of the payload.
 */
#ifndef GOAL_RECEIVE_H
#define GOAL_RECEIVE_H

/* Reads the header of a frame of this job for this host: a switch floods frames to other hosts too.
 * Returns the number of its part, or NONE.
 */
INLINE u32 part_of(FRAME *frame, const struct host *host, struct frame *header)
{
	u32 schedule, port, number, i;

	if (frame_read(frame, 0, header, FRAME_BYTES))
		return NONE;
	if (header->ethertype != to_network16(host->ethertype) || header->form != FRAME_FORM ||
	    header->job != to_network32(host->job))
		return NONE;
	for (i = 0; i < 6; i++)
		if (header->to[i] != host->mac[i])
			return NONE;
	schedule = to_network16(header->schedule);
	port = to_network16(header->to_port);
	number = schedule * host->ranks + port;
	if (port >= host->ranks || number >= host->parts)
		return NONE - 1;
	return number;
}

/* Returns 1 if the tag of a frame is right. Its payload must be in the bounce buffer. */
INLINE u32 is_genuine(FRAME *frame, const struct frame *header, u32 bytes)
{
	if (tag_of(frame, header, NONE, bytes) == header->tag)
		return 1;
	count(frame, COUNT_FORGED);
	return 0;
}

/* Claims a fragment: of all copies of a frame, one is stored. Returns 1 if this is the one. */
INLINE u32 claim(FRAME *frame, u64 *word, u32 epoch, u32 bit)
{
	u32 i;

	NO_UNROLL
	for (i = 0; i < ATTEMPTS; i++) {
		u64 old = READ(*word);
		u32 of = old >> 32;
		u64 new;

		if (of > epoch || (of == epoch && old & bit)) {
			count(frame, of > epoch ? COUNT_LATE : COUNT_DOUBLE);
			return 0;
		}
		new = (u64)epoch << 32 | (of == epoch ? (u32)old : 0) | bit;
		if (compare_swap(word, old, new) == old)
			return 1;
	}
	/* As if it were lost: the receiver asks for it. */
	count(frame, COUNT_CONTENDED);
	return 0;
}

/* Returns 1 if frames of `epoch` have a place now. */
INLINE u32 is_timely(FRAME *frame, const struct part *part, const struct status *status,
		     const struct receive *receive, u32 epoch)
{
	u32 done = READ(status->done), current = READ(part->current);

	if (receive->flags & RECEIVE_HELD) {
		/* An acknowledgement belongs to an epoch that has begun here. */
		if (epoch <= current && epoch + 1 >= current)
			return 1;
	} else if (epoch > done && epoch <= current + (done == current ? 2 : 1)) {
		return 1;
	}
	count(frame, epoch > current ? COUNT_EARLY : COUNT_LATE);
	return 0;
}

/* Handles a part of a message. Returns the epoch that may go on, or 0. */
GLOBAL int take_data(FRAME *frame, u32 part_number)
{
	struct host *host = host_of(frame);
	struct part *part = part_at(frame, part_number);
	struct status *status = status_at(frame, part_number);
	u8 *bounce = bounce_of(frame);
	struct frame header = {};
	struct receive *receive;
	u32 bytes, number, at, epoch, side, place, wanted;

	if (!host || !part || !status || !bounce)
		return 0;
	if (part_of(frame, host, &header) != part_number || header.kind != KIND_DATA)
		return 0;
	number = to_network32(header.receive);
	epoch = to_network32(header.epoch);
	bytes = to_network16(header.bytes);
	KEEP(bytes);
	if (number >= part->receives || bytes > FRAGMENT_BYTES_MAX)
		goto malformed;
	receive = receive_at(frame, part->first_receive + number);
	if (!receive)
		goto malformed;
	if (bytes && frame_read(frame, FRAME_BYTES, bounce, bytes))
		goto malformed;
	if (!is_genuine(frame, &header, bytes))
		return 0;
	if (!is_timely(frame, part, status, receive, epoch))
		return 0;
	number = to_network32(header.number);
	at = number * host->fragment;
	if (number >= receive->fragments || number >= FRAGMENTS_MAX ||
	    at + bytes > receive->bytes ||
	    (at + bytes < receive->bytes && bytes != host->fragment) ||
	    (at + bytes == receive->bytes && number + 1 != receive->fragments))
		goto malformed;
	side = epoch & 1;
	if (!claim(frame, &receive->claims[side], epoch, 1u << number))
		return 0;
	place = part->memory + receive->place + at + (side ? part->stride : 0);
	/* Not from the frame again: who maps the ring that it came from could have changed it. */
	copy_payload(frame, place, bytes);
	count(frame, COUNT_DATA);
	if (fetch_add(&receive->missing[side], -1) != 1)
		return 0;
	fetch_add(&receive->missing[side], receive->fragments);
	fetch_add(&part->arrivals, 1);
	if (!(receive->flags & RECEIVE_HELD)) {
		release(frame, part, receive->action, epoch);
		return epoch;
	}
	if (fetch_add(&part->held[side], -1) != 1)
		return 0;
	wanted = READ(part->wanted);
	return begin(frame, part_number, wanted) ? wanted : 0;
malformed:
	count(frame, COUNT_MALFORMED);
	return 0;
}

/* Takes an action back from the rank's process, which has done its operation. Returns the epoch that
 * may go on, or 0.
 */
GLOBAL int take_return(FRAME *frame, u32 number, u64 cookie, u32 epoch, u32 which)
{
	struct part *part = part_at(frame, number);
	struct status *status = status_at(frame, number);
	struct run run = { .frame = frame, .part = number, .epoch = epoch };
	struct action *action;

	if (!part || !status || cookie != part->cookie) {
		count(frame, COUNT_FORGED);
		return 0;
	}
	if (READ(status->error))
		return 0;
	action = action_at(frame, part->first_action + which);
	if (!action || which >= part->actions || !(action->flags & HANDED_OVER) || !epoch) {
		count(frame, COUNT_MALFORMED);
		return 0;
	}
	/* Of several returns, one counts. */
	if (compare_swap(&action->out, epoch, 0) != epoch) {
		count(frame, COUNT_DOUBLE);
		return 0;
	}
	fetch_add(&status->returned, 1);
	return complete(frame, part, status, action, &run) ? 0 : run.epoch;
}

/* Answers a request for fragments that were lost. */
GLOBAL int take_ask(FRAME *frame, u32 part_number)
{
	struct host *host = host_of(frame);
	struct part *part = part_at(frame, part_number);
	struct status *status = status_at(frame, part_number);
	struct frame header = {};
	struct send *send;
	u32 number, epoch, asked;

	if (!host || !part || !status || part_of(frame, host, &header) != part_number)
		return 0;
	if (header.kind != KIND_ASK)
		return 0;
	if (header.bytes != 0 || !is_genuine(frame, &header, 0))
		return 0;
	number = to_network32(header.send);
	epoch = to_network32(header.epoch);
	send = send_at(frame, part->first_send + number);
	if (!send || number >= part->sends) {
		count(frame, COUNT_MALFORMED);
		return 0;
	}
	/* Requests are numbered, so that a recorded one is not answered again. */
	asked = READ(send->asked);
	if (to_network32(header.number) <= asked ||
	    compare_swap(&send->asked, asked, to_network32(header.number)) != asked) {
		count(frame, COUNT_DOUBLE);
		return 0;
	}
	if (send->flags & SEND_ACK ? epoch > READ(status->done)
				   : READ(send->sent[epoch & 1]) != epoch)
		return 0;
	count(frame, COUNT_ANSWERED);
	fetch_add(&send->answered, 1);
	send_message(frame, part_number, number, epoch, to_network32(header.mask));
	return 0;
}

#endif
