/* Actions: what is ready runs, and makes others ready. */
#ifndef GOAL_RUN_H
#define GOAL_RUN_H

struct run {
	FRAME *frame;
	u32 part;
	u32 epoch;
	u32 first; /* dependent or independent action */
	u32 work;  /* that operations have done */
};

/* Takes one dependency from an action. The one who takes the last makes it ready. */
INLINE void release(FRAME *frame, struct part *part, u32 number, u32 epoch)
{
	struct action *action = action_at(frame, part->first_action + number);
	u32 side = epoch & 1;
	u64 *slot;
	u64 at;

	if (!action || number >= part->actions)
		return;
	if (fetch_add(&action->left[side], -1) != 1)
		return;
	/* Nobody else takes dependencies of this epoch now, and the next but one has not begun. */
	fetch_add(&action->left[side], action->initial);
	at = fetch_add(&part->tail[side], 1) % part->actions;
	slot = ready_at(frame, ((u32)at + part->first_action) * 2 + side);
	if (slot)
		WRITE(*slot, (u64)epoch << 32 | number);
}

/* Releases an action that the part's list names. */
static long release_listed(u32 index, void *context)
{
	struct run *run = context;
	struct part *part = part_at(run->frame, run->part);
	u64 *number = dependent_at(run->frame, run->first + index);

	if (!part || !number)
		return 1;
	release(run->frame, part, (u32)*number, run->epoch);
	return 0;
}

/* Starts an epoch if it was asked for and may begin. Returns 1 if it began. */
INLINE u32 begin(FRAME *frame, u32 part_number, u32 epoch)
{
	struct part *part = part_at(frame, part_number);
	struct status *status = status_at(frame, part_number);
	struct run run = { .frame = frame, .part = part_number, .epoch = epoch };

	if (!part || !status || READ(part->wanted) != epoch)
		return 0;
	if (READ(status->done) != epoch - 1)
		return 0;
	/* Who takes the last acknowledgement reads `wanted` behind this word. An atomic instruction
	 * orders the two here too, so that one of both sees what the other has written.
	 */
	if (fetch_add(&part->held[epoch & 1], 0) != 0)
		return 0;
	/* Of several that get here, one starts it. */
	if (compare_swap(&part->current, epoch - 1, epoch) != epoch - 1)
		return 0;
	fetch_add(&part->held[epoch & 1], part->held_receives);
	part->idle = 0;
	run.first = part->first_independent;
	repeat(part->independent, release_listed, &run);
	return 1;
}

static long send_ack(u32 index, void *context)
{
	struct run *run = context;
	struct part *part = part_at(run->frame, run->part);

	if (!part)
		return 1;
	send_message(run->frame, run->part, part->first_ack + index, run->epoch, 1);
	return 0;
}

/* Returns 1 if the rank's process sleeps until something happens. The change of a word by an atomic
 * instruction orders what was written before `waiting`. Its value is used: without that it would
 * become an instruction that orders nothing on some processors.
 */
INLINE u32 is_awaited(struct part *part, struct status *status)
{
	u32 before = fetch_add(&part->arrivals, 1);

	KEEP(before);
	return READ(status->waiting);
}

/* Ends an epoch: its last action is complete. */
INLINE void finish(FRAME *frame, struct part *part, struct status *status, struct run *run)
{
	u32 waiting;

	fetch_add(&part->left[run->epoch & 1], part->actions);
	/* Nobody else ends an epoch of this part: the next one begins behind this. */
	WRITE(status->ended, now_of(frame));
	WRITE(status->done, run->epoch);
	waiting = is_awaited(part, status);
	repeat(part->acks, send_ack, run);
	if (waiting)
		send_home(frame, run->part, KIND_DONE, run->epoch);
}

/* Hands an action over to the rank's process: its number and that of the hand-over go into the part's
 * ring. An action is out once at most, so the ring has room.
 */
GLOBAL int hand_over(FRAME *frame, u32 part_number, u32 number, u32 epoch)
{
	struct part *part = part_at(frame, part_number);
	struct status *status = status_at(frame, part_number);
	struct action *action;
	u64 at, *slot;

	if (!part || !status)
		return 0;
	action = action_at(frame, part->first_action + number);
	if (!action)
		return 0;
	WRITE(action->out, epoch);
	at = fetch_add(&status->handed, 1);
	slot = handed_at(frame, (u32)(at % part->actions) + part->first_action);
	if (slot)
		WRITE(*slot, (u64)(u32)(at + 1) << 32 | number);
	if (is_awaited(part, status))
		send_home(frame, part_number, KIND_DONE, epoch);
	return 0;
}

/* Goes on behind the operation of an action. Returns 1 if the part has nothing to go on with. */
INLINE u32 complete(FRAME *frame, struct part *part, struct status *status, struct action *action,
		    struct run *run)
{
	struct run listed = *run;

	if (action->send != NONE)
		send_message(frame, run->part, action->send, run->epoch, NONE);
	listed.first = action->first_dependent;
	repeat(action->dependents, release_listed, &listed);
	if (fetch_add(&part->left[run->epoch & 1], -1) == 1) {
		finish(frame, part, status, run);
		if (!begin(frame, run->part, run->epoch + 1))
			return 1;
		run->epoch++;
	}
	return 0;
}

/* Returns the work of an action: about so many nanoseconds. */
INLINE u32 work_of(FRAME *frame, const struct part *part, const struct action *action)
{
	u32 bytes = action->bytes, type = action->datatype, work = 0;
	struct send *send = 0;

	if (action->op == COPY)
		work = bytes / 8;
	else if (action->op && type >= FLOAT16)
		work = (bytes >> ((type - FLOAT16 + 1) & 3)) * 40;
	else if (action->op)
		work = bytes / width_of(type) * (action->op == DIV ? 8 : 1);
	if (action->send != NONE)
		send = send_at(frame, part->first_send + action->send);
	return send ? work + 500 + send->bytes / 2 : work;
}

/* Takes a ready action and executes it. Returns 1 if there is none, or what one frame may do is
 * done.
 */
static long step(u32 index, void *context)
{
	struct run *run = context;
	FRAME *frame = run->frame;
	struct part *part = part_at(frame, run->part);
	struct status *status = status_at(frame, run->part);
	u32 side = run->epoch & 1;
	struct action *action;
	u64 head, *slot, entry;
	u32 number;

	if (!part || !status || READ(status->error))
		return 1;
	head = READ(part->head[side]);
	if (head == READ(part->tail[side]))
		return 1;
	slot = ready_at(frame, ((u32)(head % part->actions) + part->first_action) * 2 + side);
	if (!slot)
		return 1;
	entry = READ(*slot);
	/* The one who makes an action ready has not named it yet: it comes here itself. */
	if (entry >> 32 != run->epoch)
		return 1;
	if (compare_swap(&part->head[side], head, head + 1) != head)
		return 0;
	number = (u32)entry;
	action = action_at(frame, part->first_action + number);
	if (!action || number >= part->actions)
		return 1;
	if (action->flags & HANDED_OVER) {
		hand_over(frame, run->part, number, run->epoch);
		return 0;
	}
	run->work += work_of(frame, part, action);
	if (action->op) {
		u32 failed = local_operation(frame, run->part, part->first_action + number,
					     run->epoch);
		if (failed != NO_FAILURE) {
			status->action = number;
			status->element = failed;
			WRITE(status->error, ERROR_DIVISION);
			if (is_awaited(part, status))
				send_home(frame, run->part, KIND_DONE, run->epoch);
			return 1;
		}
	}
	return complete(frame, part, status, action, run) || run->work >= RUN_WORK;
}

/* Executes what is ready, and leaves a frame for what is too much. */
INLINE void run_ready(FRAME *frame, u32 part_number, u32 epoch)
{
	struct run run = { .frame = frame, .part = part_number, .epoch = epoch };

	if (repeat(RUN_ACTIONS, step, &run) < RUN_ACTIONS && run.work < RUN_WORK)
		return;
	count(frame, COUNT_CONTINUED);
	send_home(frame, part_number, KIND_CONTINUE, run.epoch);
}

#endif
