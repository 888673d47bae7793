/* Frames that leave. */
#ifndef GOAL_SEND_H
#define GOAL_SEND_H

INLINE void count(FRAME *frame, u32 counter)
{
	u64 *number = counter_at(frame, counter);
	if (number)
		fetch_add(number, 1);
}

/* Fills a header with everything but the kind's own fields. */
INLINE void address(struct frame *header, const struct host *host, const struct part *part,
		    const struct peer *peer, u8 kind, u32 epoch)
{
	memcpy(header->to, peer->mac, 6);
	memcpy(header->from, host->mac, 6);
	header->ethertype = to_network16(host->ethertype);
	header->form = FRAME_FORM;
	header->kind = kind;
	header->from_port = to_network16(part->port);
	header->to_port = to_network16(peer->port);
	header->schedule = to_network16(part->schedule);
	header->job = to_network32(host->job);
	header->epoch = to_network32(epoch);
}

/* Sends a frame that is complete but for its payload. */
INLINE void emit(FRAME *frame, const struct frame *header, const u8 *payload, u32 bytes,
		 u32 is_local)
{
	u32 length = FRAME_BYTES + bytes;

	if (frame_resize(frame, length < FRAME_MIN ? FRAME_MIN : length))
		goto unsent;
	if (frame_write(frame, 0, header, FRAME_BYTES))
		goto unsent;
	if (bytes && frame_write(frame, FRAME_BYTES, payload, bytes))
		goto unsent;
	if (frame_emit(frame, is_local))
		goto unsent;
	return;
unsent:
	/* The receiver asks for it again. */
	count(frame, COUNT_UNSENT);
}

struct message {
	FRAME *frame;
	u32 part, send, epoch, mask;
};

static long send_fragment(u32 index, void *context)
{
	struct message *m = context;
	FRAME *frame = m->frame;
	struct host *host = host_of(frame);
	struct part *part = part_at(frame, m->part);
	u8 *memory;
	struct frame header = {};
	struct send *send;
	struct peer *peer;
	u32 at, bytes, place;

	if (!(m->mask >> (index & 31) & 1))
		return 0;
	if (!host || !part)
		return 1;
	send = send_at(frame, part->first_send + m->send);
	if (!send)
		return 1;
	peer = peer_at(frame, send->peer);
	if (!peer)
		return 1;
	at = index * host->fragment;
	if (at > send->bytes)
		return 1;
	bytes = send->bytes - at;
	if (bytes > host->fragment)
		bytes = host->fragment;
	KEEP(bytes);
	if (bytes > FRAGMENT_BYTES_MAX)
		return 1;
	place = part->memory + send->place + at + (m->epoch & 1 ? part->stride : 0);
	memory = memory_at(frame, place);
	if (!memory)
		return 1;
	address(&header, host, part, peer, KIND_DATA, m->epoch);
	header.bytes = to_network16((u16)bytes);
	header.receive = to_network32(send->peers_receive);
	header.send = to_network32(m->send);
	header.number = to_network32(index);
	header.tag = tag_of(frame, &header, place, bytes);
	emit(frame, &header, memory, bytes, peer->flags & PEER_LOCAL);
	return 0;
}

/* Sends the fragments of a message that `mask` names. */
GLOBAL int send_message(FRAME *frame, u32 part_number, u32 number, u32 epoch, u32 mask)
{
	struct part *part = part_at(frame, part_number);
	struct message m = {};
	struct send *send;

	if (!part)
		return 0;
	send = send_at(frame, part->first_send + number);
	if (!send)
		return 0;
	if (!(send->flags & SEND_ACK))
		WRITE(send->sent[epoch & 1], epoch);
	m.frame = frame;
	m.part = part_number;
	m.send = number;
	m.epoch = epoch;
	m.mask = mask;
	repeat(send->fragments, send_fragment, &m);
	return 0;
}

/* Sends a frame to this host: a continuation, or a sign that an epoch ended. */
GLOBAL int send_home(FRAME *frame, u32 part_number, u32 kind, u32 epoch)
{
	struct host *host = host_of(frame);
	struct part *part = part_at(frame, part_number);
	struct frame header = {};
	struct peer here = {};

	if (!host || !part)
		return 0;
	memcpy(here.mac, host->mac, 6);
	here.port = part->port;
	address(&header, host, part, &here, kind, epoch);
	/* The rank's process sees a sign, and knows only the number of its own part. */
	header.tag = kind == KIND_CONTINUE ? host->cookie : part->cookie;
	emit(frame, &header, 0, 0, 1);
	return 0;
}

#endif
