//! A share of the ranks: what they do in a window of time, and what others do to them.

use super::error::{ModelError, TIME_END};
use super::hooks::{Cause, Noise, Observer};
use super::line::{Line, Lines, Shape};
use super::nodes::{Node, Nodes};
use super::parts::Effect;
use super::places::Places;
use super::program::Program;
use super::store::{Arrival, Store};
use crate::channels::NONE;
use crate::radix::{Order, RadixQueue};
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The number of ranks or effects whose data are loaded together. So the processor waits for memory
/// once for all of them.
const BATCH: usize = 16;

/// The least number of ranks whose lines are too many for the caches near a processor.
const LARGE_MIN: usize = 1 << 13;

/// A rank, as the functions of a share hand it on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here<R> {
    pub(super) rank: u32,
    /// The number of the rank in the share.
    pub(super) at: usize,
    /// The number of the rank's first action.
    pub(super) first: u32,
    pub(super) actions: R,
}

pub(super) struct Share<'p, P, N, O, S> {
    pub(super) program: &'p Program<'p, P>,
    pub(super) noise: &'p N,
    pub(super) observer: O,
    pub(super) store: S,
    pub(super) places: Places,
    pub(super) first_rank: u32,
    pub(super) lines: Lines,
    pub(super) nodes: Nodes,
    queue: RadixQueue,
    order: Order,
    /// By action, the node of one whose dependencies are partly met.
    partly: FxHashMap<u32, u32>,
    /// Nodes of actions of the present rank whose dependencies are met.
    met: Vec<u32>,
    /// By share of their ranks, the effects that were not applied yet.
    pub(super) outgoing: Vec<Vec<Effect>>,
    /// The earliest time of them. `u64::MAX` without one.
    pub(super) outgoing_min: u64,
    pub(super) ended: u64,
    pub(super) events: u64,
    pub(super) unreceived: u64,
    pub(super) fault: Option<ModelError>,
}

impl<'p, P: Source, N: Noise, O: Observer, S: Store> Share<'p, P, N, O, S> {
    /// Makes the share with some ranks, which have these shapes.
    pub(super) fn new(
        program: &'p Program<'p, P>,
        (noise, observer): (&'p N, O),
        store: S,
        ranks: Range<u32>,
        shapes: &[Shape],
    ) -> Self {
        let mut lines = Lines::with_capacity(ranks.len());
        for (rank, &shape) in ranks.clone().zip(shapes) {
            lines.add(|| program.source.rank(rank), program.firsts[rank as usize], shape);
        }
        let places = match observer.needs_places() {
            true => Places::new(program.source),
            false => Places::default(),
        };
        Self {
            outgoing: program.ends.iter().map(|_| Vec::new()).collect(),
            program,
            noise,
            observer,
            store,
            places,
            first_rank: ranks.start,
            lines,
            nodes: Nodes::new(),
            queue: RadixQueue::new(),
            order: Order::new(ranks.len()),
            partly: FxHashMap::default(),
            met: Vec::new(),
            outgoing_min: u64::MAX,
            ended: 0,
            events: 0,
            unreceived: 0,
            fault: None,
        }
    }

    pub(super) fn here(&self, rank: u32) -> Here<P::Rank<'p>> {
        let at = (rank - self.first_rank) as usize;
        let first = self.lines.lines[at].first;
        Here { rank, at, first, actions: self.program.source.rank(rank) }
    }

    /// Makes jobs of the actions that wait for nothing.
    pub(super) fn begin(&mut self) {
        for at in 0..self.lines.lines.len() as u32 {
            let here = self.here(self.first_rank + at);
            for root in here.actions.roots() {
                let node = self.nodes.add(Node::action(here.first + root, 0, 0));
                self.met.push(node);
            }
            self.met.reverse();
            self.activate_met(here);
            self.settle(here.at);
        }
    }

    /// Returns the earliest window with work. It may be work of the share's ranks, or of ranks of
    /// other shares that get effects from this one.
    pub(super) fn next_window(&mut self) -> Option<u64> {
        let of_effects = Some(self.outgoing_min).filter(|&time| time != u64::MAX);
        let of_effects = of_effects.map(|time| time >> self.program.shift);
        [self.queue.first(), of_effects].into_iter().flatten().min()
    }

    /// Simulates the ranks that have something to do in a window. No earlier one has any.
    pub(super) fn simulate_window(&mut self, window: u64, ranks: &mut Vec<u32>) {
        if self.queue.first() != Some(window) {
            return;
        }
        self.queue.take(ranks);
        let is_large = self.lines.lines.len() >= LARGE_MIN;
        if is_large {
            // Lines, tables and files are then read from their start to their end.
            self.order.sort(ranks);
        }
        let end = (window + 1) << self.program.shift;
        for batch in ranks.chunks(BATCH) {
            if is_large {
                self.load_starts(batch);
            }
            self.load_ranks(batch);
            for &at in batch {
                if self.lines.lines[at as usize].wake < end {
                    self.simulate_rank(self.here(self.first_rank + at), end);
                }
            }
        }
        ranks.clear();
    }

    /// Starts the jobs of a rank that can start before `end`.
    fn simulate_rank(&mut self, here: Here<P::Rank<'p>>, end: u64) {
        let mut next = self.lines.first_job(here.at, &self.nodes);
        while let Some(((now, ..), class)) = next.filter(|&((now, ..), _)| now < end) {
            self.start(here, class, now);
            self.activate_met(here);
            next = self.lines.first_job(here.at, &self.nodes);
        }
        self.lines.lines[here.at].wake = u64::MAX;
        if let Some(((start, _, _, number), _)) = next {
            self.wake(here.at, start, number);
        }
    }

    /// Puts a rank in the queue if it has a job to start earlier than the queue knows.
    fn settle(&mut self, at: usize) {
        if let Some(((start, _, _, number), _)) = self.lines.first_job(at, &self.nodes) {
            self.wake(at, start, number);
        }
    }

    /// Puts a rank in the queue if `start`, that of an action, is earlier than the queue knows.
    fn wake(&mut self, at: usize, start: u64, action: u32) {
        let line = &mut self.lines.lines[at];
        if start >= TIME_END {
            self.fail(ModelError::TooLate { action });
        } else if start < line.wake {
            line.wake = start;
            self.queue.push(start >> self.program.shift, at as u32);
        }
    }

    /// Keeps an error, or the other one if that counts.
    pub(super) fn fail(&mut self, error: ModelError) {
        self.fault = ModelError::one_of(self.fault, Some(error));
    }

    /// Returns the number of messages that no receive takes, and of receives with wildcards that
    /// wait.
    pub(super) fn unreceived(&self) -> u64 {
        let wild = self.lines.specials.iter().filter_map(|special| special.wild.as_ref());
        let waiting: u64 = wild.map(|wild| wild.num_waiting()).sum();
        self.unreceived + self.store.unreceived() + waiting
    }

    /// Adds an effect on a rank.
    pub(super) fn send(&mut self, effect: Effect) {
        self.outgoing_min = self.outgoing_min.min(effect.time);
        let share = self.program.share_of(effect.rank);
        self.outgoing[share].push(effect);
    }

    /// Applies what ranks have done to some of the share in a window. No effect is earlier than the
    /// end of the window, or all ranks of this moment are looked at again.
    pub(super) fn apply(&mut self, effects: &[Effect]) {
        for batch in effects.chunks(BATCH) {
            self.load_effects(batch);
            for effect in batch {
                if effect.is_message {
                    self.arrive(effect);
                } else {
                    let here = self.here(effect.rank);
                    self.end(here, effect.send - here.first, effect.time);
                    self.activate_met(here);
                    self.settle(here.at);
                }
            }
        }
    }

    /// Puts a message into the class of the receive that it is meant for.
    fn arrive(&mut self, effect: &Effect) {
        let Effect { time, size, rank, send, from, tag, partner, .. } = *effect;
        let at = (rank - self.first_rank) as usize;
        let Line { first, special, .. } = self.lines.lines[at];
        let arrival = Arrival { rank, first, from, tag, partner };
        let (detail, class) = if special == NONE {
            match self.store.deliver(&arrival, None::<P::Rank<'p>>) {
                None => (0, None),
                Some(delivery) => (delivery.slot.0, Some(Line::class_of(Kind::Recv))),
            }
        } else {
            self.deliver_to_special(&arrival)
        };
        let Some(class) = class else {
            self.unreceived += 1;
            return;
        };
        let node = self.nodes.add(Node::message(send, time, size, from, detail));
        let (start, number) = self.lines.push(at, class, node, &mut self.nodes);
        self.wake(at, start, number);
    }

    /// Returns a message's detail and its class. There is no class if no receive takes it.
    #[cold]
    fn deliver_to_special(&mut self, arrival: &Arrival) -> (u32, Option<u32>) {
        let actions = self.program.source.rank(arrival.rank);
        let at = (arrival.rank - self.first_rank) as usize;
        let Some(special) = self.lines.special(at) else { return (0, None) };
        if let Some(wild) = &special.wild {
            let receive = wild.first_receive(arrival.from, arrival.tag);
            let class = receive.map(|receive| special.class_of(&actions.record(receive)));
            return (arrival.tag, class);
        }
        let unlike = special.has_unlike_receives.then_some(actions);
        match self.store.deliver(arrival, unlike) {
            None => (0, None),
            Some(delivery) => {
                let class = match delivery.receive {
                    Some(receive) => special.class_of(&actions.record(receive)),
                    None => special.class_of_messages(),
                };
                (delivery.slot.0, Some(class))
            }
        }
    }

    /// Starts an action. What waits for its start is ready at `time`.
    #[inline]
    pub(super) fn begin_action(&mut self, here: Here<P::Rank<'p>>, position: u32, time: u64) {
        for waiter in here.actions.start_waiters(position) {
            self.meet(here, waiter, Cause::Start(here.first + position), time);
        }
    }

    #[inline]
    pub(super) fn end(&mut self, here: Here<P::Rank<'p>>, position: u32, time: u64) {
        self.ended += 1;
        let line = &mut self.lines.lines[here.at];
        line.finish = line.finish.max(time);
        let action = here.first + position;
        if time >= TIME_END {
            self.fail(ModelError::TooLate { action });
        }
        self.observer.end(here.rank, action, time);
        for waiter in here.actions.waiters(position) {
            self.meet(here, waiter, Cause::End(action), time);
        }
    }

    fn meet(&mut self, here: Here<P::Rank<'p>>, waiter: u32, cause: Cause, time: u64) {
        let action = here.first + waiter;
        let missing = here.actions.missing(waiter);
        let known = if missing > 1 { self.partly.remove(&action) } else { None };
        let Some(node) = known else {
            self.observer.delay(action, cause, time);
            let node = self.nodes.add(Node::action(action, time, missing - 1));
            if missing > 1 {
                self.partly.insert(action, node);
            } else {
                self.met.push(node);
            }
            return;
        };
        let Node { time: ready, detail: missing, .. } = self.nodes.at_mut(node);
        if time >= *ready {
            *ready = time;
            self.observer.delay(action, cause, time);
        }
        *missing -= 1;
        if *missing > 0 {
            self.partly.insert(action, node);
        } else {
            self.met.push(node);
        }
    }

    /// Returns true if the post of a receive lets no other action become ready at that moment. It
    /// then needs no turn among the rank's jobs.
    fn makes_nothing_ready(
        &mut self,
        here: Here<P::Rank<'p>>,
        position: u32,
        record: &Record,
    ) -> bool {
        let number = here.first + position;
        if !self.store.is_known(number) || here.actions.start_waiters(position).next().is_some() {
            return false;
        }
        let slot = self.store.post(here.rank, number, record);
        slot.is_none_or(|slot| self.store.peek(slot, &self.nodes) == NONE)
    }

    /// Makes jobs of the rank's actions whose dependencies are met, and ends those that need
    /// nothing more.
    pub(super) fn activate_met(&mut self, here: Here<P::Rank<'p>>) {
        while let Some(node) = self.met.pop() {
            let Node { time, number, .. } = *self.nodes.at(node);
            let position = number - here.first;
            let record = here.actions.record(position);
            match record.kind {
                Kind::Dummy => {
                    self.nodes.remove(node);
                    self.events += 1;
                    self.begin_action(here, position, time);
                    self.end(here, position, time);
                }
                Kind::Recv if self.makes_nothing_ready(here, position, &record) => {
                    self.events += 1;
                    self.post(here, node, &record);
                }
                Kind::Recv => self.lines.push_post(here.at, node, &mut self.nodes),
                Kind::Send | Kind::Calc | Kind::Local => {
                    let class = self.lines.class_of(here.at, &record);
                    self.lines.push(here.at, class, node, &mut self.nodes);
                }
            }
        }
    }
}
