//! The graph of one rank while it is generated.

mod blocks;

use crate::buf::{Address, Buf, joined};
use crate::hazards::Hazards;
use crate::request::Request;
use crate::view::View;
use goal_lang::limits::TAG_MAX;
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, CollectiveKind, Datatype, Function, Op, Payload,
    Placement, Space,
};
use rustc_hash::FxHashMap;

/// The most actions that one action waits for; NISA counts them in 16 bits.
const JOINED_MAX: usize = 1 << 15;

/// A function that returns the generator of another algorithm, by its collective and its name.
pub(crate) type Find = fn(CollectiveKind, &str) -> Option<fn(&mut Rank<'_>)>;

/// The graph of one rank. Its actions are stated one after the other, as a program with blocking
/// calls would execute them. Each action waits only for earlier actions on the same bytes
/// ([`Hazards`]), and for the actions that [`after`](Self::after) and [`gate`](Self::gate) name.
/// All other actions may run at the same time.
///
/// The messages from one rank to another have the tags from [`Request::tag`] on, in the order in
/// which both ranks state these messages. So they may start in any order. Sender and receiver must
/// state the same messages. A message without bytes is left out, unless it is a signal.
pub(crate) struct Rank<'r> {
    pub(crate) request: &'r Request,
    view: View,
    body: BodyBuilder,
    /// Bytes of scratch memory so far.
    scratch: u64,
    memory: Hazards,
    scratched: Hazards,
    /// The number of messages so far to each rank, and from each rank.
    messages: FxHashMap<u32, [u32; 2]>,
    /// True if tags have run out.
    has_no_tag: bool,
    /// The action that every later action waits for.
    gate: Option<ActionId>,
    find: Option<Find>,
}

impl<'r> Rank<'r> {
    pub(crate) fn new(request: &'r Request, me: u32, find: Option<Find>) -> Self {
        Self {
            request,
            view: View::new(request, me),
            body: BodyBuilder::default(),
            scratch: 0,
            memory: Hazards::default(),
            scratched: Hazards::default(),
            messages: FxHashMap::default(),
            has_no_tag: false,
            gate: None,
            find,
        }
    }

    /// Returns the graph, or `None` if two ranks exchange more messages than there are tags.
    pub(crate) fn finish(mut self) -> Option<Body> {
        self.body.scratch(self.scratch);
        (!self.has_no_tag).then(|| self.body.finish())
    }

    /// Generates another collective, among some of the ranks.
    pub(crate) fn within(&mut self, view: View, generate: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.view, view);
        generate(self);
        self.view = outer;
    }

    /// Returns new bytes of scratch memory.
    pub(crate) fn scratch(&mut self, size: u64) -> Buf {
        let addr = self.scratch;
        // Operands of every type are aligned.
        self.scratch += size.next_multiple_of(16);
        Address { space: Space::Scratch, addr }.part(0, size)
    }

    /// Sends a buffer to rank `to`, unless the buffer is empty.
    pub(crate) fn send(&mut self, buf: Buf, to: u32) {
        if buf.size > 0 {
            self.signal(buf, to);
        }
    }

    /// Receives from rank `from` into a buffer, unless the buffer is empty.
    pub(crate) fn recv(&mut self, buf: Buf, from: u32) {
        if buf.size > 0 {
            self.await_signal(buf, from);
        }
    }

    /// Sends several buffers as one message.
    pub(crate) fn send_all(&mut self, bufs: &[Buf], to: u32) {
        let bufs = joined(bufs.iter().copied());
        if !bufs.is_empty() {
            self.send_message(&bufs, to);
        }
    }

    /// Receives one message into several buffers.
    pub(crate) fn recv_all(&mut self, bufs: &[Buf], from: u32) {
        let bufs = joined(bufs.iter().copied());
        if !bufs.is_empty() {
            self.recv_message(&bufs, from);
        }
    }

    /// Sends a buffer that may be empty. Returns the action.
    pub(crate) fn signal(&mut self, buf: Buf, to: u32) -> ActionId {
        self.send_message(&[buf], to)
    }

    /// Receives into a buffer that may be empty. Returns the action.
    pub(crate) fn await_signal(&mut self, buf: Buf, from: u32) -> ActionId {
        self.recv_message(&[buf], from)
    }

    fn send_message(&mut self, bufs: &[Buf], to: u32) -> ActionId {
        let (payload, to) = (self.payload(bufs), self.view.member(to));
        let (tag, placement) = (self.tag(to, 0), Placement::default());
        let action = self.push(Action::Send { payload, to, tag, placement });
        bufs.iter().for_each(|&buf| self.access(action, buf, false));
        action
    }

    fn recv_message(&mut self, bufs: &[Buf], from: u32) -> ActionId {
        let (payload, from) = (self.payload(bufs), self.view.member(from));
        let (tag, placement) = (self.tag(from, 1), Placement::default());
        let action = self.push(Action::Recv { payload, from, tag, placement });
        bufs.iter().for_each(|&buf| self.access(action, buf, true));
        action
    }

    fn payload(&mut self, bufs: &[Buf]) -> Payload {
        match bufs {
            [buf] => Payload::Buffer(buf.piece()),
            _ => {
                let pieces: Vec<_> = bufs.iter().map(|buf| buf.piece()).collect();
                Payload::Vector(self.body.pieces(&pieces))
            }
        }
    }

    /// Receives a message A and computes B = A f B. If the operation does not commute, A must hold
    /// the inputs of lower ranks than B. The message needs no memory of its own, unless f is a user
    /// function.
    pub(crate) fn recv_combine(&mut self, b: Buf, from: u32) {
        if b.size == 0 {
            return;
        }
        let Function::Predefined(op, datatype) = self.request.function else {
            let arrived = self.scratch(b.size);
            self.recv(arrived, from);
            return self.combine(arrived, b);
        };
        let operands = self.body.pieces(&[b.piece()]).first;
        let (payload, from) = (Payload::Reduced { op, datatype, operands }, self.view.member(from));
        let (tag, placement) = (self.tag(from, 1), Placement::default());
        let action = self.push(Action::Recv { payload, from, tag, placement });
        self.access(action, b, true);
    }

    fn push(&mut self, action: Action) -> ActionId {
        let action = self.body.action(action);
        if let Some(gate) = self.gate {
            self.body.requires(action, gate);
        }
        action
    }

    /// Makes `action` wait for another one.
    pub(crate) fn after(&mut self, action: ActionId, earlier: ActionId) {
        self.body.requires(action, earlier);
    }

    /// Makes `action` wait for the start of another one.
    pub(crate) fn after_start(&mut self, action: ActionId, earlier: ActionId) {
        self.body.irequires(action, earlier);
    }

    /// Makes every later action wait for all of `earlier`.
    pub(crate) fn gate(&mut self, earlier: &[ActionId]) {
        match *earlier {
            [] => {}
            [earlier] => self.gate = Some(earlier),
            _ => self.gate = Some(self.join(earlier)),
        }
    }

    /// Returns the number of actions so far.
    pub(crate) fn mark(&self) -> usize {
        self.body.len()
    }

    /// Makes every later action wait for all actions from a [`mark`](Self::mark) on.
    pub(crate) fn gate_since(&mut self, mark: usize) {
        let since: Vec<ActionId> = (mark..self.body.len()).map(ActionId::new).collect();
        self.gate(&since);
    }

    /// Returns an action that ends when all of `earlier` have ended. No action waits for more than
    /// [`JOINED_MAX`] others.
    pub(crate) fn join(&mut self, earlier: &[ActionId]) -> ActionId {
        let joins: Vec<ActionId> = earlier
            .chunks(JOINED_MAX)
            .map(|earlier| {
                let join = self.push(Action::Nop);
                earlier.iter().for_each(|&earlier| self.after(join, earlier));
                join
            })
            .collect();
        match joins[..] {
            [join] => join,
            [] => self.push(Action::Nop),
            _ => self.join(&joins),
        }
    }

    /// Copies a buffer to another one of the same size. Does nothing if both are the same buffer.
    pub(crate) fn copy(&mut self, from: Buf, to: Buf) {
        debug_assert_eq!(from.size, to.size);
        if from != to && from.size > 0 {
            self.exec(Op::Copy, Datatype::UInt8, from, to, None);
        }
    }

    /// Computes B = A f B. If the operation does not commute, A must hold the inputs of lower ranks
    /// than B.
    pub(crate) fn combine(&mut self, a: Buf, b: Buf) {
        if a.size == 0 {
            return;
        }
        match self.request.function {
            Function::Predefined(op, datatype) => self.exec(op, datatype, a, b, None),
            Function::User(function) => {
                let operands = [a, b].map(|buf| self.body.pieces(&[buf.piece()]));
                let action = self.push(Action::User { function, operands });
                // A function may write to both of its buffers.
                self.access(action, a, true);
                self.access(action, b, true);
            }
        }
    }

    /// Computes C = A f B, with A and B as in [`combine`](Self::combine). C may be A or B. It
    /// shares no other bytes with them. If C is A and f is a user function, B is lost.
    pub(crate) fn combine_to(&mut self, a: Buf, b: Buf, c: Buf) {
        if b == c || a.size == 0 {
            return self.combine(a, b);
        }
        match self.request.function {
            Function::Predefined(op, datatype) => self.exec(op, datatype, a, b, Some(c)),
            Function::User(_) if a == c => {
                self.combine(a, b);
                self.copy(b, c);
            }
            Function::User(_) => {
                self.copy(b, c);
                self.combine(a, c);
            }
        }
    }

    fn exec(&mut self, op: Op, datatype: Datatype, a: Buf, b: Buf, c: Option<Buf>) {
        let result = c.unwrap_or(b);
        let action = self.push(Action::Exec {
            op,
            datatype,
            spaces: [a.space, b.space, c.map_or(Space::Memory, |c| c.space)],
            has_c: c.is_some(),
            a: a.addr,
            b: b.addr,
            c: c.map_or(0, |c| c.addr),
            size: a.size,
        });
        self.access(action, a, false);
        if c.is_some() {
            self.access(action, b, false);
        }
        self.access(action, result, true);
    }

    fn tag(&mut self, peer: u32, way: usize) -> u32 {
        let count = &mut self.messages.entry(peer).or_default()[way];
        let tag = self.request.tag.checked_add(*count).filter(|&tag| tag <= TAG_MAX);
        *count += 1;
        self.has_no_tag |= tag.is_none();
        tag.unwrap_or(self.request.tag)
    }

    fn access(&mut self, action: ActionId, buf: Buf, writes: bool) {
        let Self { body, memory, scratched, .. } = self;
        let hazards = if buf.space == Space::Memory { memory } else { scratched };
        hazards.access(buf.addr..buf.addr + buf.size, writes, action, |earlier| {
            // An action may have several buffers. It does not wait for itself.
            if earlier != action {
                body.requires(action, earlier);
            }
        });
    }
}
