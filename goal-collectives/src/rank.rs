//! The graph of one rank while it is generated.

use crate::hazards::Hazards;
use crate::request::Request;
use goal_lang::limits::TAG_MAX;
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, CollectiveKind, Datatype, Function, Op, Payload, Piece,
    Placement, Space,
};
use rustc_hash::FxHashMap;

/// The most actions that one action waits for; NISA counts them in 16 bits.
const JOINED_MAX: usize = 1 << 15;

/// Consecutive bytes of one of a rank's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buf {
    space: Space,
    addr: u64,
    size: u64,
}

impl Buf {
    /// Returns `size` bytes from `offset` on.
    pub(crate) fn part(self, offset: u64, size: u64) -> Self {
        debug_assert!(offset + size <= self.size, "{offset} + {size} of {self:?}");
        Self { addr: self.addr + offset, size, ..self }
    }

    /// Returns the bytes from its first to the last of `end`, which lies behind it.
    pub(crate) fn until(self, end: Self) -> Self {
        Self { size: end.addr + end.size - self.addr, ..self }
    }

    /// The number of bytes.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    fn piece(self) -> Piece {
        Piece { addr: self.addr, size: self.size, space: self.space }
    }
}

/// The graph of one rank. Its actions are stated one after the other, as a program with blocking
/// calls would execute them. Each waits only for those that its buffers call for ([`Hazards`]), and
/// for those that [`after`](Self::after) names, so that all else may happen at the same time.
///
/// The messages from one rank to another have the tags from [`Request::tag`] on, in the order in
/// which both state them, so the order in which they start does not matter. Sender and receiver
/// must state the same messages. A message without bytes is left out, unless it is a signal.
pub(crate) struct Rank<'r> {
    pub(crate) request: &'r Request,
    pub(crate) me: u32,
    body: BodyBuilder,
    /// Bytes of scratch memory so far.
    scratch: u64,
    memory: Hazards,
    scratched: Hazards,
    /// The number of messages to each rank so far, and from it.
    messages: FxHashMap<u32, [u32; 2]>,
    /// True if tags have run out.
    has_no_tag: bool,
}

impl<'r> Rank<'r> {
    pub(crate) fn new(request: &'r Request, me: u32) -> Self {
        Self {
            request,
            me,
            body: BodyBuilder::default(),
            scratch: 0,
            memory: Hazards::default(),
            scratched: Hazards::default(),
            messages: FxHashMap::default(),
            has_no_tag: false,
        }
    }

    /// Returns the graph, or `None` if two ranks exchange more messages than there are tags.
    pub(crate) fn finish(mut self) -> Option<Body> {
        self.body.scratch(self.scratch);
        (!self.has_no_tag).then(|| self.body.finish())
    }

    /// The number of ranks.
    pub(crate) fn ranks(&self) -> u32 {
        self.request.ranks
    }

    pub(crate) fn is_root(&self) -> bool {
        self.me == self.request.root
    }

    /// The bytes of a block.
    pub(crate) fn block(&self) -> u64 {
        self.request.block()
    }

    /// The bytes of an element.
    pub(crate) fn width(&self) -> u64 {
        self.request.datatype.width()
    }

    /// Returns the rank at a distance, in the circle of all ranks.
    pub(crate) fn up(&self, distance: u32) -> u32 {
        let (me, ranks) = (u64::from(self.me), u64::from(self.ranks()));
        ((me + u64::from(distance)) % ranks) as u32
    }

    /// Returns the rank from which this one is at a distance.
    pub(crate) fn down(&self, distance: u32) -> u32 {
        let ranks = self.ranks();
        self.up(ranks - distance % ranks)
    }

    /// Returns `blocks` blocks of the output.
    pub(crate) fn output(&self, blocks: u32) -> Buf {
        let size = u64::from(blocks) * self.block();
        Buf { space: Space::Memory, addr: self.request.output, size }
    }

    /// Returns the input of `blocks` blocks. In place, it lies where the output has it.
    pub(crate) fn input(&self, blocks: u32) -> Buf {
        use CollectiveKind as Kind;
        let size = u64::from(blocks) * self.block();
        let own = u64::from(self.me) * self.block();
        let offset = match (self.request.input, self.request.kind) {
            (Some(addr), _) => return Buf { space: Space::Memory, addr, size },
            (None, Kind::Allgather) => own,
            (None, Kind::Gather) if self.is_root() => own,
            (None, _) => 0,
        };
        Buf { space: Space::Memory, addr: self.request.output + offset, size }
    }

    /// Returns the place of a rank's block in the output.
    pub(crate) fn output_of(&self, rank: u32) -> Buf {
        let block = self.block();
        self.output(self.ranks()).part(u64::from(rank) * block, block)
    }

    /// Returns the place of the block for a rank in the input.
    pub(crate) fn input_for(&self, rank: u32) -> Buf {
        let block = self.block();
        self.input(self.ranks()).part(u64::from(rank) * block, block)
    }

    /// Returns new bytes of scratch memory.
    pub(crate) fn scratch(&mut self, size: u64) -> Buf {
        let addr = self.scratch;
        // Operands of every type are aligned.
        self.scratch += size.next_multiple_of(16);
        Buf { space: Space::Scratch, addr, size }
    }

    /// Sends a buffer.
    pub(crate) fn send(&mut self, buf: Buf, to: u32) {
        if buf.size > 0 {
            self.signal(buf, to);
        }
    }

    /// Receives into a buffer.
    pub(crate) fn recv(&mut self, buf: Buf, from: u32) {
        if buf.size > 0 {
            self.await_signal(buf, from);
        }
    }

    /// Sends a buffer that may be empty. Returns the action.
    pub(crate) fn signal(&mut self, buf: Buf, to: u32) -> ActionId {
        let (payload, tag) = (Payload::Buffer(buf.piece()), self.tag(to, 0));
        let placement = Placement::default();
        let action = self.body.action(Action::Send { payload, to, tag, placement });
        self.access(action, buf, false);
        action
    }

    /// Receives into a buffer that may be empty. Returns the action.
    pub(crate) fn await_signal(&mut self, buf: Buf, from: u32) -> ActionId {
        let (payload, tag) = (Payload::Buffer(buf.piece()), self.tag(from, 1));
        let placement = Placement::default();
        let action = self.body.action(Action::Recv { payload, from, tag, placement });
        self.access(action, buf, true);
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

    /// Returns an action that ends when all of `earlier` have ended. No action waits for more than
    /// [`JOINED_MAX`] others.
    pub(crate) fn join(&mut self, earlier: &[ActionId]) -> ActionId {
        let joins: Vec<ActionId> = earlier
            .chunks(JOINED_MAX)
            .map(|earlier| {
                let join = self.body.action(Action::Nop);
                earlier.iter().for_each(|&earlier| self.after(join, earlier));
                join
            })
            .collect();
        match joins[..] {
            [join] => join,
            [] => self.body.action(Action::Nop),
            _ => self.join(&joins),
        }
    }

    /// Copies a buffer to another one of its size; nothing if they are the same.
    pub(crate) fn copy(&mut self, from: Buf, to: Buf) {
        if from != to && from.size > 0 {
            self.exec(Op::Copy, Datatype::UInt8, from, to);
        }
    }

    /// Computes B = A f B. A holds what comes from lower ranks if the operation does not commute.
    pub(crate) fn combine(&mut self, a: Buf, b: Buf) {
        if a.size == 0 {
            return;
        }
        match self.request.function {
            Function::Predefined(op, datatype) => self.exec(op, datatype, a, b),
            Function::User(function) => {
                let operands = [a, b].map(|buf| self.body.pieces(&[buf.piece()]));
                let action = self.body.action(Action::User { function, operands });
                // A function may write to both of its buffers.
                self.access(action, a, true);
                self.access(action, b, true);
            }
        }
    }

    fn exec(&mut self, op: Op, datatype: Datatype, a: Buf, b: Buf) {
        let action = self.body.action(Action::Exec {
            op,
            datatype,
            spaces: [a.space, b.space, Space::Memory],
            has_c: false,
            a: a.addr,
            b: b.addr,
            c: 0,
            size: a.size,
        });
        self.access(action, a, false);
        self.access(action, b, true);
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
            body.requires(action, earlier);
        });
    }
}
