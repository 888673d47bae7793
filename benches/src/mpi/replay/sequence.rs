//! The buffers of a program's messages, and the sequence of a rank's calls.

use super::super::operands::{block, block_mut};
use goal_lang::{
    ANY, Action, ActionId, Body, BodyBuilder, Datatype, Op, Payload, Piece, Placement, Program,
    ProgramBuilder, Space,
};
use std::collections::{BTreeMap, VecDeque};

/// The memory of messages to or from one peer in one size, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffer {
    pub(super) at: u64,
    pub(super) bytes: u64,
}

impl Buffer {
    /// Returns the whole integers of the buffer.
    pub(super) fn words(self, memory: &[u8]) -> &[u32] {
        block(memory, self.at, self.bytes & !3)
    }

    /// Returns the whole integers of the buffer, for changes.
    pub(super) fn words_mut(self, memory: &mut [u8]) -> &mut [u32] {
        block_mut(memory, self.at, self.bytes & !3)
    }

    fn piece(self) -> Payload {
        Payload::Buffer(Piece { addr: self.at, size: self.bytes, space: Space::Memory })
    }
}

/// A call, with the numbers of buffers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Add {
        to: usize,
        from: usize,
    },
    Send {
        buffer: usize,
        peer: u32,
        tag: u32,
    },
    Recv {
        buffer: usize,
        peer: u32,
        tag: u32,
    },
    /// Waits for the message with this number among the rank's messages.
    Wait(usize),
}

/// One rank's part.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) buffers: Vec<Buffer>,
    pub(super) steps: Vec<Step>,
    /// The number of messages.
    pub(super) messages: usize,
    /// The size of the memory with all buffers.
    pub(super) bytes: u64,
}

/// Returns the program with buffers, and the sequence of each rank.
///
/// # Errors
/// An action is neither a message nor a computation, or a receive takes messages of any source.
pub(super) fn sequences(program: &Program) -> Result<(Program, Vec<Part>), String> {
    let mut tags = BTreeMap::new();
    let mut builder = ProgramBuilder::default();
    let mut parts = Vec::new();
    for rank in 0..program.num_ranks() {
        let mut writer = Writer::default();
        let body = program.body_of(rank);
        let before = [&body.requires, &body.irequires].map(|of| of.transposed(body.actions.len()));
        for action in order(body) {
            let [requires, irequires] = [0, 1].map(|of| {
                let row = before[of].row(action).iter();
                row.map(|before| writer.number[before]).collect::<Vec<_>>()
            });
            let number = match body.actions[action.index()] {
                Action::Send { payload: Payload::Pattern { size }, to, tag, .. } => {
                    let count = tags.len() as u32;
                    let tag = *tags.entry(tag).or_insert(count);
                    writer.send(size, to, tag, &requires)
                }
                Action::Recv { payload: Payload::Pattern { size }, from, tag, .. }
                    if from != ANY && tag != ANY =>
                {
                    let count = tags.len() as u32;
                    let tag = *tags.entry(tag).or_insert(count);
                    writer.recv(size, from, tag, &requires)
                }
                other @ (Action::Calc { .. } | Action::Nop | Action::Marker { .. }) => {
                    writer.wait_for(&requires);
                    let number = writer.body.action(other);
                    requires.iter().for_each(|&before| writer.body.requires(number, before));
                    number
                }
                other => {
                    return Err(format!(
                        "rank {rank}: a {} can't be replayed",
                        other.kind().name()
                    ));
                }
            };
            irequires.iter().for_each(|&before| writer.body.irequires(number, before));
            writer.number.insert(action, number);
        }
        let all: Vec<usize> = (0..writer.waited.len()).collect();
        all.into_iter().for_each(|message| writer.wait(message));
        writer.part.messages = writer.waited.len();
        builder.rank_with(writer.body.finish());
        parts.push(writer.part);
    }
    Ok((builder.finish(), parts))
}

/// Returns the actions in a topological order: an action comes behind all actions that it waits
/// for. The first ones are those that wait for nothing. Then follow those that wait only for these,
/// and so on.
fn order(body: &Body) -> Vec<ActionId> {
    let mut missing = vec![0u32; body.actions.len()];
    for edge in body.requires.edges().chain(body.irequires.edges()) {
        missing[edge.waiter.index()] += 1;
    }
    let all = (0..body.actions.len()).map(ActionId::new);
    let mut ready: VecDeque<ActionId> = all.filter(|action| missing[action.index()] == 0).collect();
    let mut order = Vec::new();
    while let Some(action) = ready.pop_front() {
        order.push(action);
        for &waiter in [&body.requires, &body.irequires].into_iter().flat_map(|of| of.row(action)) {
            missing[waiter.index()] -= 1;
            if missing[waiter.index()] == 0 {
                ready.push_back(waiter);
            }
        }
    }
    order
}

/// The last uses of a buffer.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    message: Option<ActionId>,
    reader: Option<ActionId>,
}

/// Writes one rank's schedule and its sequence.
#[derive(Default)]
struct Writer {
    body: BodyBuilder,
    part: Part,
    /// The actions of the schedule, by those of the program.
    number: BTreeMap<ActionId, ActionId>,
    /// The messages of actions of the schedule.
    messages: BTreeMap<ActionId, usize>,
    /// For each message, true if the sequence has waited for it.
    waited: Vec<bool>,
    /// The buffers by peer, size and direction: more than one if messages are under way together.
    numbers: BTreeMap<(u32, u64, bool), Vec<usize>>,
    uses: Vec<Uses>,
    /// For each message that is received, its action and its buffer.
    receives: BTreeMap<usize, (ActionId, usize)>,
    /// The last receive of each size that the sequence has waited for, and its buffer.
    received: BTreeMap<u64, (ActionId, usize)>,
}

impl Writer {
    /// Returns a buffer without a message under way.
    fn buffer(&mut self, peer: u32, bytes: u64, is_send: bool) -> usize {
        let numbers = self.numbers.entry((peer, bytes, is_send)).or_default();
        let is_free = |&&buffer: &&usize| {
            let message = self.uses[buffer].message.and_then(|action| self.messages.get(&action));
            message.is_none_or(|&message| self.waited[message])
        };
        if let Some(&buffer) = numbers.iter().find(is_free) {
            return buffer;
        }
        self.part.buffers.push(Buffer { at: self.part.bytes, bytes });
        self.part.bytes = (self.part.bytes + bytes).next_multiple_of(4096);
        numbers.push(self.uses.len());
        self.uses.push(Uses::default());
        self.uses.len() - 1
    }

    fn wait(&mut self, message: usize) {
        if !std::mem::replace(&mut self.waited[message], true) {
            self.part.steps.push(Step::Wait(message));
            if let Some(&(action, buffer)) = self.receives.get(&message) {
                self.received.insert(self.part.buffers[buffer].bytes, (action, buffer));
            }
        }
    }

    fn wait_for(&mut self, actions: &[ActionId]) {
        for action in actions {
            if let Some(&message) = self.messages.get(action) {
                self.wait(message);
            }
        }
    }

    fn message(&mut self, action: Action, requires: &[ActionId], step: Step) -> ActionId {
        self.wait_for(requires);
        let number = self.body.action(action);
        requires.iter().for_each(|&before| self.body.requires(number, before));
        self.messages.insert(number, self.waited.len());
        self.waited.push(false);
        self.part.steps.push(step);
        number
    }

    fn send(&mut self, size: u64, to: u32, tag: u32, requires: &[ActionId]) -> ActionId {
        self.wait_for(requires);
        let buffer = self.buffer(to, size, true);
        let mut requires = requires.to_vec();
        requires.extend(self.uses[buffer].message);
        let words = size & !3;
        // The buffer must not be the target of a receive again.
        let last = |&&(received, from): &&(ActionId, usize)| {
            words > 0 && self.uses[from].message == Some(received)
        };
        if let Some(&(received, from)) = self.received.get(&size).filter(last) {
            requires.push(received);
            let [a, b] = [from, buffer].map(|buffer| self.part.buffers[buffer].at);
            let spaces = [Space::Memory; 3];
            let (op, datatype) = (Op::Sum, Datatype::Int32);
            let sum = Action::Exec { op, datatype, spaces, has_c: false, a, b, c: 0, size: words };
            let sum = self.body.action(sum);
            requires.iter().for_each(|&before| self.body.requires(sum, before));
            self.part.steps.push(Step::Add { to: buffer, from });
            self.uses[from].reader = Some(sum);
            requires = vec![sum];
        }
        let payload = self.part.buffers[buffer].piece();
        let action = Action::Send { payload, to, tag, placement: Placement::default() };
        let number = self.message(action, &requires, Step::Send { buffer, peer: to, tag });
        self.uses[buffer].message = Some(number);
        number
    }

    fn recv(&mut self, size: u64, from: u32, tag: u32, requires: &[ActionId]) -> ActionId {
        self.wait_for(requires);
        let buffer = self.buffer(from, size, false);
        let mut requires = requires.to_vec();
        requires.extend(self.uses[buffer].message);
        requires.extend(self.uses[buffer].reader);
        let payload = self.part.buffers[buffer].piece();
        let action = Action::Recv { payload, from, tag, placement: Placement::default() };
        let number = self.message(action, &requires, Step::Recv { buffer, peer: from, tag });
        self.uses[buffer].message = Some(number);
        self.receives.insert(self.waited.len() - 1, (number, buffer));
        number
    }
}
