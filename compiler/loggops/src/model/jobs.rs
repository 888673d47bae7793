//! The jobs of a rank: how they start, and how receives and sends end.

use super::error::ModelError;
use super::hooks::{Held, Job, Message, Noise, Observer};
use super::line::{Class, Started};
use super::nodes::Node;
use super::parts::Effect;
use super::share::{Here, Share};
use super::store::{Slot, Store};
use crate::channels::NONE;
use crate::machine::Machine;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record};

impl<'p, P: Source, N: Noise, O: Observer, S: Store> Share<'p, P, N, O, S> {
    /// Starts the first job of a class.
    pub(super) fn start(&mut self, here: Here<P::Rank<'p>>, class: u32, now: u64) {
        let Started { class, node } = self.lines.pop(here.at, class, &mut self.nodes);
        self.events += 1;
        if class.takes_messages {
            return self.take(here, class, node, now);
        }
        let Node { number, time: ready, .. } = *self.nodes.at(node);
        let position = number - here.first;
        let record = here.actions.record(position);
        match record.kind {
            Kind::Calc | Kind::Local => {
                self.nodes.remove(node);
                let work = self.noise.computation(here.rank, number, record.picos());
                let end = self.noise.end_of_work(here.rank, now, work);
                self.hold(here, class, (number, false), [ready, now], [end, 0]);
                self.begin_action(here, position, now);
                self.end(here, position, end);
            }
            Kind::Send => {
                self.nodes.remove(node);
                self.start_send(here, class, number, &record, [ready, now]);
            }
            Kind::Recv => {
                self.nodes.at_mut(node).time = now;
                self.post(here, node, &record);
            }
            Kind::Dummy => unreachable!("a dummy is no job"),
        }
    }

    fn start_send(
        &mut self,
        here: Here<P::Rank<'p>>,
        class: Class,
        send: u32,
        record: &Record,
        [ready, now]: [u64; 2],
    ) {
        let &Record { size, peer: to, tag, .. } = record;
        let Here { rank: from, .. } = here;
        let (machine, rest) = (&self.program.machine, size.max(1) - 1);
        let overhead = self.noise.overhead(from, send, machine.overhead_ps);
        let work = overhead.saturating_add(machine.overhead_per_byte.of(rest));
        let end = self.noise.end_of_work(from, now, work);
        let side_end = (now + machine.gap_ps).saturating_add(machine.gap_per_byte.of(rest));
        let is_eager = size <= machine.eager_bytes_max;
        let left = self.noise.end_of_work(from, now, overhead);
        let latency = self.noise.latency(Message { send, from, to }, machine.latency_ps);
        let time = left.saturating_add(latency);
        self.hold(here, class, (send, false), [ready, now], [end, side_end]);
        self.begin_action(here, send - here.first, now);
        let partner = self.store.partner(send);
        self.send(Effect { time, size, rank: to, send, from, tag, partner, is_message: true });
        if is_eager {
            self.end(here, send - here.first, end);
        }
    }

    /// Returns the times at which the processor and the interface are free with which a rank takes
    /// the message of a send at `now`.
    fn taken(&self, rank: u32, send: u32, size: u64, now: u64) -> [u64; 2] {
        let rest = size.max(1) - 1;
        let Machine { overhead_ps, gap_ps, gap_per_byte, overhead_per_byte, .. } =
            self.program.machine;
        let wire = gap_per_byte.of(rest);
        let work = self
            .noise
            .overhead(rank, send, overhead_ps)
            .saturating_add(wire.max(overhead_per_byte.of(rest)));
        [self.noise.end_of_work(rank, now, work), (now + gap_ps).saturating_add(wire)]
    }

    /// Holds the processor and the side of the interface of a class for a job, each until its time.
    #[inline]
    fn hold(
        &mut self,
        here: Here<P::Rank<'p>>,
        class: Class,
        (action, is_message): (u32, bool),
        [ready, start]: [u64; 2],
        ends: [u64; 2],
    ) {
        let [cpu, side] = [(class.cpu, ends[0]), (class.side, ends[1])].map(|(place, end)| {
            (place != NONE).then(|| {
                self.lines.hold(here.at, place, end);
                Held { place: self.places.number(here.rank, place), end }
            })
        });
        let rank = here.rank;
        self.observer.start(Job { rank, action, is_message, ready, start, cpu, side });
    }

    /// Takes a message in.
    fn take(&mut self, here: Here<P::Rank<'p>>, class: Class, node: u32, now: u64) {
        let Node { number: send, time: ready, size, from, detail, .. } = *self.nodes.at(node);
        let ends = self.taken(here.rank, send, size, now);
        self.hold(here, class, (send, true), [ready, now], ends);
        self.nodes.at_mut(node).time = now;
        let wild = self.lines.special(here.at).and_then(|special| special.wild.as_mut());
        let waiting = match wild {
            Some(wild) => wild.take(from, detail, send, node),
            None => match self.store.early(Slot(detail)) {
                Some(receive) => return self.complete(here, (receive, 0), node),
                None => self.store.meet(Slot(detail), node),
            },
        };
        if let Some(receive) = waiting {
            let Node { number, time: posted, .. } = *self.nodes.at(receive);
            self.nodes.remove(receive);
            self.complete(here, (number, posted), node);
        }
    }

    /// Posts a receive at the time of its node.
    pub(super) fn post(&mut self, here: Here<P::Rank<'p>>, node: u32, record: &Record) {
        let Node { number, time, .. } = *self.nodes.at(node);
        self.begin_action(here, number - here.first, time);
        let wild = self.lines.special(here.at).and_then(|special| special.wild.as_mut());
        let message = match wild {
            Some(wild) => wild.post(record.peer, record.tag, node),
            None => match self.store.post(here.rank, number, record) {
                Some(slot) if time == 0 && self.store.keep_early(slot, number) => {
                    return self.nodes.remove(node);
                }
                Some(slot) => self.store.meet(slot, node),
                None => return self.nodes.remove(node),
            },
        };
        if let Some(message) = message {
            self.nodes.remove(node);
            self.complete(here, (number, time), message);
        }
    }

    /// Ends a receive when its message was taken in. Also ends the send if it is a large one.
    /// `posted` is the time at which the receive was posted.
    fn complete(&mut self, here: Here<P::Rank<'p>>, (receive, posted): (u32, u64), message: u32) {
        let Node { number: send, time: taken, size, from, .. } = *self.nodes.at(message);
        self.nodes.remove(message);
        let position = receive - here.first;
        if size != here.actions.record(position).size {
            self.fail(ModelError::Unequal { send, receive });
        }
        let [end, _] = self.taken(here.rank, send, size, taken);
        let end = end.max(posted);
        self.observer.receive(receive, send, posted, taken, end);
        self.end(here, position, end);
        if size > self.program.machine.eager_bytes_max {
            let message = Message { send, from, to: here.rank };
            let latency = self.noise.latency(message, self.program.machine.latency_ps);
            let time = taken.max(posted).saturating_add(latency);
            let (rank, tag, partner) = (from, 0, NONE);
            self.send(Effect { time, size, rank, send, from, tag, partner, is_message: false });
        }
    }
}
