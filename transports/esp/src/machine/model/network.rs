//! Two ends and the frames between them.

use crate::machine::{Body, Change, Ends, Identity, Segment, Slot, Timer};
use crate::seq::Seq;
use crate::transfer::Rules;
use stateright::{Checker, Model, Property};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The parameters of an exploration.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The rules of both ends.
    pub(super) rules: Rules,
    /// The number of packets with which a transfer after the first may begin.
    pub(super) start_window: u16,
    /// The most different frames in flight.
    pub(super) frames_max: usize,
    /// For each end, the number of packets in each of its writes.
    pub(super) writes: [&'static [u8]; 2],
    /// True for an end that asks for a connection.
    pub(super) connects: [bool; 2],
    /// True if the ends are connected at the beginning.
    pub(super) is_connected: bool,
    /// True if both ends close after their writes.
    pub(super) closes: bool,
    /// The number of times that each end may restart.
    pub(super) restarts: [u8; 2],
    /// True for an end that at first does not know the communicator of the stream that it receives.
    pub(super) opens_late: [bool; 2],
    /// True if ends read at any time, and not at once.
    pub(super) reads_late: bool,
    /// True if ends send at any time, and not at once, as if their interface had no room.
    pub(super) sends_late: bool,
    /// True if frames may be lost.
    pub(super) loses: bool,
    /// True if frames may be duplicated.
    pub(super) duplicates: bool,
}

/// The state of both ends and of the frames in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) ends: [Slot<u8>; 2],
    /// The number of writes done.
    pub(super) written: [u8; 2],
    pub(super) is_closed: [bool; 2],
    /// The number of packets that each end has read.
    pub(super) read: [u8; 2],
    /// True if a packet was read that was not the next one.
    pub(super) is_broken: bool,
    /// True if an end has replaced its connection by another one.
    pub(super) is_replaced: bool,
    pub(super) restarts: [u8; 2],
    /// True for an end that knows the communicator of the stream that it receives.
    pub(super) is_open: [bool; 2],
    /// The frames in flight with their receivers, in no order.
    pub(super) frames: Vec<(usize, Segment<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Arrive(usize, Segment<u8>),
    ArriveAndStay(usize, Segment<u8>),
    Lose(usize, Segment<u8>),
    Pass(usize, Timer),
    Write(usize),
    Read(usize),
    Send(usize),
    Close(usize),
    Open(usize),
    Restart(usize),
}

impl Network {
    fn identity(end: usize, number: u8) -> Identity {
        // Sequence numbers wrap around during the run.
        Identity {
            nonce: 100 * (end as u64 + 1) + u64::from(number),
            first: Seq(u32::MAX - end as u32),
        }
    }

    fn step(&self, state: &mut State, action: &Action) {
        let take = |state: &mut State, to: usize, segment: &Segment<u8>| {
            let end = &mut state.ends[to];
            let new_identity = Identity {
                nonce: end.own_nonces_for(u64::MAX)[1].expect("there is a next one") + 1,
                first: Self::identity(to, 0).first,
            };
            if let Some(machine) = end.machine_mut() {
                machine.set_share(self.rules.burst_length, self.start_window);
            }
            if let Segment::Packet { from, to: of, body: Body::Data { seq, .. } } = segment
                && end.ends() == Some(Ends { own: *of, peer: *from })
                && let Some(machine) = end.machine_mut()
                && machine.receiver().is_first(*seq)
            {
                // An endpoint does this after it has read the communicator in the payload.
                if state.is_open[to] { machine.admit() } else { machine.postpone() }
            }
            let is_connected = end.ends().is_some();
            if end.handle(segment.clone(), || new_identity, drop) == Change::Established {
                state.is_replaced |= is_connected;
                (state.written[to], state.read[to], state.is_closed[to]) = (0, 0, false);
            }
        };
        match action {
            Action::Arrive(to, segment) => {
                state.frames.retain(|frame| frame != &(*to, segment.clone()));
                take(state, *to, segment);
            }
            Action::ArriveAndStay(to, segment) => take(state, *to, segment),
            Action::Lose(to, segment) => {
                state.frames.retain(|frame| frame != &(*to, segment.clone()))
            }
            Action::Pass(end, timer) => state.ends[*end].expire(*timer),
            Action::Write(end) => {
                let writes = self.writes[*end];
                let before: u8 = writes[..state.written[*end].into()].iter().sum();
                let count = writes[usize::from(state.written[*end])];
                state.written[*end] += 1;
                let mark = Self::mark(state.ends[*end].ends().expect("it is connected").own);
                let machine = state.ends[*end].machine_mut().expect("it is connected");
                for number in 0..count {
                    machine.push(mark + before + number, number + 1 == count);
                }
            }
            Action::Read(end) => self.read(state, *end),
            Action::Send(end) => self.send(state, *end),
            Action::Close(end) => {
                state.is_closed[*end] = true;
                state.ends[*end].machine_mut().expect("it is connected").close();
            }
            Action::Open(end) => {
                state.is_open[*end] = true;
                if let Some(machine) = state.ends[*end].machine_mut() {
                    machine.admit();
                }
            }
            Action::Restart(end) => {
                state.restarts[*end] += 1;
                let identity = Self::identity(*end, 50 * state.restarts[*end]);
                state.ends[*end] = Slot::new(self.rules, identity);
                state.ends[*end].connect();
            }
        }
        self.settle_ends(state);
    }

    /// Returns the number that marks the payloads of the incarnation with this nonce.
    fn mark(nonce: u64) -> u8 {
        (nonce % 100 / 50) as u8 * 16
    }

    fn read(&self, state: &mut State, end: usize) {
        let Some(Ends { peer, .. }) = state.ends[end].ends() else { return };
        let machine = state.ends[end].machine_mut().expect("it is connected");
        if let Some(payload) = machine.read() {
            state.is_broken |= payload != Self::mark(peer) + state.read[end];
            state.read[end] += 1;
        }
    }

    /// Sends the frames of both ends, and reads their packets, unless the model allows ends to send
    /// or to read late.
    fn settle_ends(&self, state: &mut State) {
        for end in 0..2 {
            let is_ready = |state: &State| {
                state.ends[end].machine().is_some_and(|of| of.receiver().has_ready())
            };
            while !self.reads_late && is_ready(state) {
                self.read(state, end);
            }
            if !self.sends_late {
                self.send(state, end);
            }
        }
        state.frames.sort_by_cached_key(|frame| {
            let mut hasher = DefaultHasher::new();
            frame.hash(&mut hasher);
            hasher.finish()
        });
    }

    /// Sends the frames of an end.
    fn send(&self, state: &mut State, end: usize) {
        while state.ends[end].is_ready() {
            let segment = state.ends[end].poll().expect("it is ready");
            let frame = (1 - end, segment.cloned());
            if state.frames.len() < self.frames_max && !state.frames.contains(&frame) {
                state.frames.push(frame);
            }
        }
    }

    fn is_done(&self, state: &State) -> bool {
        let is_all_read =
            (0..2).all(|end| state.read[end] == self.writes[1 - end].iter().sum::<u8>());
        let ends = state.ends.each_ref().map(Slot::ends);
        let [Some(one), Some(other)] = ends else { return false };
        let has_closed = |end: usize| {
            state.is_closed[end]
                && state.ends[end].machine().is_some_and(|machine| machine.is_closed())
        };
        let is_confirmed =
            |end: usize| state.ends[end].machine().is_some_and(|machine| machine.is_confirmed());
        let all = |test: &dyn Fn(usize) -> bool| (0..2).all(test);
        if (one.own, one.peer) != (other.peer, other.own) {
            // After a restart, late frames of the old incarnation can make the peer believe in it
            // again. Then neither end hears from the other, and both are told in bounded time.
            return state.restarts != [0; 2] && all(&is_confirmed);
        }
        is_all_read && all(&is_confirmed) && (!self.closes || all(&has_closed))
    }

    /// Returns true if everything arrives from here, once no more frames are lost.
    fn ends_well(&self, state: &State) -> bool {
        let mut state = state.clone();
        for _ in 0..100 {
            if self.is_done(&state) {
                return true;
            }
            let mut actions = Vec::new();
            self.own_actions(&state, &mut actions);
            let arrival =
                state.frames.first().map(|(to, segment)| Action::Arrive(*to, segment.clone()));
            let is_own = |action: &Action| !matches!(action, Action::Pass(..) | Action::Restart(_));
            if let Some(action) =
                arrival.or_else(|| actions.iter().find(|action| is_own(action)).cloned())
            {
                self.step(&mut state, &action);
                continue;
            }
            let passed: Vec<_> =
                actions.into_iter().filter(|action| matches!(action, Action::Pass(..))).collect();
            if passed.is_empty() {
                return false;
            }
            passed.iter().for_each(|action| self.step(&mut state, action));
        }
        false
    }

    /// Appends the actions of the ends. What may happen to frames is not among them.
    fn own_actions(&self, state: &State, actions: &mut Vec<Action>) {
        for end in 0..2 {
            let armed = Timer::ALL.into_iter().filter(|&timer| state.ends[end].is_armed(timer));
            actions.extend(armed.map(|timer| Action::Pass(end, timer)));
            if !state.is_open[end] {
                actions.push(Action::Open(end));
            }
            if state.restarts[end] < self.restarts[end] {
                actions.push(Action::Restart(end));
            }
            if self.sends_late && state.ends[end].is_ready() {
                actions.push(Action::Send(end));
            }
            let Some(machine) = state.ends[end].machine() else { continue };
            if self.reads_late && machine.receiver().has_ready() {
                actions.push(Action::Read(end));
            }
            if usize::from(state.written[end]) < self.writes[end].len() {
                actions.push(Action::Write(end));
            } else if self.closes && !state.is_closed[end] {
                actions.push(Action::Close(end));
            }
        }
    }

    /// Explores all states. Returns the number of states, or the violated property with the path to
    /// the violation.
    pub(super) fn explore(self) -> Result<usize, String> {
        let checker = self.checker().spawn_bfs().join();
        match checker.discoveries().into_iter().find(|(name, _)| *name != "everything arrives") {
            None => {
                checker.assert_any_discovery("everything arrives");
                Ok(checker.unique_state_count())
            }
            Some((name, path)) => {
                let last = path.last_state().clone();
                let steps: Vec<_> =
                    path.into_actions().iter().map(|step| format!("{step:?}\n")).collect();
                Err(format!("{name} does not hold:\n{}{last:#?}", steps.concat()))
            }
        }
    }
}

impl Model for Network {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            ends: [0, 1].map(|end| Slot::new(self.rules, Self::identity(end, 0))),
            written: [0; 2],
            is_closed: [false; 2],
            read: [0; 2],
            is_broken: false,
            is_replaced: false,
            restarts: [0; 2],
            is_open: self.opens_late.map(|is_late| !is_late),
            frames: Vec::new(),
        };
        for end in 0..2 {
            if self.connects[end] {
                state.ends[end].connect();
            }
        }
        self.settle_ends(&mut state);
        while self.is_connected
            && let Some((to, segment)) = state.frames.first().cloned()
        {
            self.step(&mut state, &Action::Arrive(to, segment));
        }
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.own_actions(state, actions);
        for (to, segment) in &state.frames {
            actions.push(Action::Arrive(*to, segment.clone()));
            if self.duplicates {
                actions.push(Action::ArriveAndStay(*to, segment.clone()));
            }
            if self.loses {
                actions.push(Action::Lose(*to, segment.clone()));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.step(&mut state, &action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("in order and exactly once", |_, state: &State| !state.is_broken),
            Property::always("a postponed stream is not kept", |model: &Network, state: &State| {
                let early_max = usize::from(model.rules.initial()) - 1;
                let kept =
                    |end: usize| state.ends[end].machine().map_or(0, |of| of.receiver().kept());
                (0..2)
                    .all(|end| state.is_open[end] || state.read[end] == 0 && kept(end) <= early_max)
            }),
            Property::always(
                "a connection is replaced only after a restart",
                |_, state: &State| !state.is_replaced || state.restarts != [0; 2],
            ),
            Property::always("all ends well once nothing is lost", |model: &Network, state| {
                model.ends_well(state)
            }),
            Property::sometimes("everything arrives", |model: &Network, state| {
                model.is_done(state)
            }),
        ]
    }
}
