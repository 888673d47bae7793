//! Executes a linked schedule.

use super::build::{Bindings, Block, Linked};
use super::lanes::{Lanes, Look, Place, Ring};
use super::operation::{Kind, Op};
use crate::engine::Underway;
use crate::memory::{Region, Span, Zeroed, copy_short};
use crate::ops;
use goal_lang::{Piece, Space, buffer_of};
use std::sync::Arc;

/// A message of another schedule lies where this run expects one of its own: the ranks have called
/// different operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// The rank of the communicator that has written the message.
    pub writer: u32,
    /// The signature in its cell.
    pub signature: u16,
}

/// The bytes of a message of a tiny run, if it has any.
const TINY: u32 = 8;

/// An operation and its operands.
#[derive(Debug)]
#[repr(align(128))]
struct Step {
    op: Op,
    spans: [Span; 3],
    /// The rank that writes the message which the operation reads; 0 if it reads none.
    writer: u32,
    /// The operations that need this one, as a mask.
    users: u64,
}

/// The state of a run of several blocks.
#[derive(Debug)]
struct Long {
    /// The number of the current block.
    block: usize,
    /// The operations of the block that need no operation which has not ended, as a mask. They have
    /// not ended themselves.
    ready: u64,
    /// The steps of all blocks. Those of the current block are in [`Run::steps`].
    steps: Box<[Box<[Step]>]>,
}

/// The result of [`Run::read_next`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The operation has read its message.
    Read,
    /// The message has not come.
    Missing,
    /// The operation reads no message. Nothing was executed.
    Other,
}

impl Step {
    fn new(op: &Op, users: u64) -> Self {
        let writer = match op.kind {
            Kind::Take { writer } | Kind::Fold { writer, .. } => writer,
            _ => 0,
        };
        Self { op: *op, spans: [Region::EMPTY.whole(); 3], writer, users }
    }

    /// Writes the message of the operation, in a run that begins at the position `base`.
    #[inline(always)]
    fn put(&self, lanes: &impl Lanes, base: u64, signature: u16) {
        let Self { op, spans: [a, ..], .. } = self;
        let Kind::Put { readers, .. } = op.kind else { return };
        let fill = |to: &mut [u8]| a.read(|bytes| copy_short(to, bytes));
        lanes.put(base + u64::from(op.at), signature, op.len as usize, readers, fill);
    }

    /// Reads the message of the operation, which has come to its place.
    #[inline(always)]
    fn take(&self, place: &impl Place) {
        let Self { op, spans: [a, b, _], .. } = self;
        let len = op.len as usize;
        match op.kind {
            Kind::Take { .. } => {
                place.read(len, |message| a.write(|to| copy_short(to, message)));
            }
            Kind::Fold { operator, datatype, reversed, .. } => {
                let fold = |message: &[u8]| {
                    ops::fold(operator, datatype, message, *a, *b, reversed);
                };
                place.read(len, fold);
            }
            _ => {}
        }
    }

    /// Returns true if the operation may be one of a [tiny](Run::is_tiny) run.
    fn is_tiny(&self) -> bool {
        match self.op.kind {
            Kind::Put { .. } | Kind::Take { .. } => matches!(self.op.len, 0 | TINY),
            Kind::Fold { .. } => self.op.len == TINY,
            Kind::Exec { .. } | Kind::Nop => false,
        }
    }

    /// Writes the message of an operation of a tiny run, if it writes one. Returns its readers,
    /// which the caller wakes if they sleep.
    #[inline(always)]
    fn put_tiny(&self, lanes: &impl Lanes, base: u64, signature: u16) -> u64 {
        let Kind::Put { readers, .. } = self.op.kind else { return 0 };
        let position = base + u64::from(self.op.at);
        match self.spans[0].eight() {
            Some(bytes) => {
                let fill = |to: &mut [u8]| to.copy_from_slice(&bytes);
                lanes.put_quietly(position, signature, bytes.len(), fill);
            }
            None => lanes.put_quietly(position, signature, 0, |_| ()),
        }
        readers
    }

    /// Reads the message of an operation of a tiny run, which has come to its place. Returns false
    /// if the operation reads none.
    #[inline(always)]
    #[allow(unsafe_code)] // memory of the run
    fn take_tiny(&self, place: &impl Place) -> bool {
        match self.op.kind {
            Kind::Take { .. } => {
                // SAFETY: nothing else uses the run's memory meanwhile.
                if let Some(to) = unsafe { self.spans[0].eight_mut() } {
                    place.read(to.len(), |message| to.copy_from_slice(message));
                }
            }
            Kind::Fold { operator, datatype, reversed, .. } => {
                let [a, b, _] = self.spans;
                place.read(TINY as usize, |message| {
                    ops::fold(operator, datatype, message, a, b, reversed);
                });
            }
            _ => return false,
        }
        true
    }
}

/// An instance of a linked schedule, which can run again and again, on other buffers if need be. If
/// the schedule has several blocks, most of this is about the current block.
#[derive(Debug)]
pub struct Run {
    linked: Arc<Linked>,
    bindings: Bindings,
    /// The operations, with their operands where they lie now.
    steps: Box<[Step]>,
    /// All operations, as a mask.
    all: u64,
    /// The operations that need no message, directly or not, as a mask.
    initial: u64,
    is_simple: bool,
    is_tiny: bool,
    /// The most lines that any rank writes.
    lines: u64,
    ring: Ring,
    board: u8,
    has_relay: bool,
    signature: u16,
    /// The operations that have ended in the current run, as a mask.
    done: u64,
    /// The position of the run's first line.
    base: u64,
    /// The scratch memory.
    scratch: Zeroed,
    /// `None` if the schedule has one block.
    long: Option<Box<Long>>,
}

impl Run {
    /// Creates an instance that has no buffers yet. Returns `None` if there is no memory.
    pub fn new(linked: Arc<Linked>, bindings: Bindings) -> Option<Self> {
        let scratch = Zeroed::try_new(usize::try_from(linked.schedule.scratch_size()).ok()?)?;
        let mut steps: Box<[Box<[Step]>]> = linked.blocks.iter().map(steps_of).collect();
        let first = std::mem::take(&mut steps[0]);
        let long = (steps.len() > 1).then(|| Box::new(Long { block: 0, ready: 0, steps }));
        let Block { all, initial, lines, .. } = linked.blocks[0];
        let (lines, ring, board) = (lines.into(), linked.ring(), linked.board() as u8);
        let has_relay = linked.has_relay();
        let Linked { is_simple, signature, .. } = *linked;
        let is_tiny = is_simple && first.iter().all(Step::is_tiny);
        Some(Self {
            linked,
            bindings,
            steps: first,
            all,
            initial,
            is_simple,
            is_tiny,
            lines,
            ring,
            board,
            has_relay,
            signature,
            done: all,
            base: 0,
            scratch,
            long,
        })
    }

    /// Returns the schedule.
    #[inline]
    pub fn linked(&self) -> &Linked {
        &self.linked
    }

    /// Sets the buffers of the next run, by number.
    ///
    /// # Panics
    /// If a buffer is smaller than the schedule says, or if a run is under way.
    ///
    /// # Safety
    /// For each run until the next call, the contract of [`Region::new`] holds for each buffer, and
    /// no other code uses the buffers against the schedule.
    #[allow(unsafe_code)] // the caller answers for the memory of later runs
    pub unsafe fn bind(&mut self, buffers: &[Region]) {
        assert!(self.has_ended(), "the buffers of a run under way");
        self.rewind();
        let scratch = self.scratch.region();
        let span = |piece: Piece| match piece.space {
            _ if piece.size == 0 => Region::EMPTY.whole(),
            Space::Scratch => scratch.span(piece.addr, piece.size),
            Space::Memory => {
                let (buffer, offset) = buffer_of(piece.addr);
                buffers[buffer].span(offset, piece.size)
            }
        };
        let later = self.long.iter_mut().flat_map(|long| &mut long.steps).flatten();
        for (step, operands) in self.steps.iter_mut().chain(later).zip(&self.bindings.0) {
            step.spans = operands.map(span);
        }
    }

    /// Returns the ring of the schedule's messages.
    #[inline(always)]
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Returns the number of the communicator's boards.
    #[inline(always)]
    pub fn board(&self) -> usize {
        self.board.into()
    }

    /// Returns the lines by which a start of the schedule advances the position, for its first
    /// block.
    #[inline(always)]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns true if a send waits for a receive; see [`Linked::has_relay`].
    #[inline(always)]
    pub fn has_relay(&self) -> bool {
        self.has_relay
    }

    /// Starts a run whose first line is at the position `base`. The caller executes it then. A run
    /// of several blocks is [rewound](Self::rewind) before.
    #[inline(always)]
    pub fn start(&mut self, base: u64) {
        (self.done, self.base) = (0, base);
    }

    /// Returns true if the schedule has several blocks. Such a run is executed by
    /// [`execute_ready`](Self::execute_ready) and [`next_block`](Self::next_block).
    #[inline(always)]
    pub fn is_long(&self) -> bool {
        self.long.is_some()
    }

    /// Goes back to the first block. The run has ended.
    pub fn rewind(&mut self) {
        if self.long.is_some() {
            self.enter(0);
            self.done = self.all;
        }
    }

    /// Returns the position behind the lines of the last block. `fit` is as for
    /// [`next_block`](Self::next_block).
    pub fn end_of_blocks(&self, fit: impl Fn(u64, u64) -> u64) -> u64 {
        let block = self.long.as_ref().map_or(0, |long| long.block);
        let later = self.linked.blocks[block + 1..].iter().map(|block| u64::from(block.lines));
        later.fold(self.end(), |end, lines| fit(end, lines) + lines)
    }

    /// Goes on with the next block in which this rank has operations. All operations of the current
    /// block have ended. `fit` returns the position of lines from the position behind the lines
    /// before, and from their number. Returns false if the run has ended.
    pub fn next_block(&mut self, fit: impl Fn(u64, u64) -> u64) -> bool {
        let Some(long) = &self.long else { return false };
        for next in long.block + 1..self.linked.blocks.len() {
            let end = self.end();
            self.enter(next);
            self.base = fit(end, self.lines);
            if self.all != 0 {
                return true;
            }
        }
        false
    }

    /// Makes the block with this number the current one.
    fn enter(&mut self, block: usize) {
        let Some(long) = &mut self.long else { return };
        std::mem::swap(&mut self.steps, &mut long.steps[long.block]);
        std::mem::swap(&mut self.steps, &mut long.steps[block]);
        let Block { ops, all, initial, lines, .. } = &self.linked.blocks[block];
        let is_ready = |op: &Op| op.needs == 0;
        long.ready = mask_of(ops.iter().map(is_ready));
        long.block = block;
        (self.all, self.initial, self.lines, self.done) = (*all, *initial, (*lines).into(), 0);
    }

    /// Returns the position of the first line of the current block. This rank has read all that the
    /// run reads before.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the position behind the lines of the current block.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.base + self.lines
    }

    /// Returns true if no run is under way.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        self.done == self.all
    }

    /// Executes the operations in the mask `which`, except for those that have to wait. A message
    /// is written if its lines end before the position `writable`. Returns true if the run has
    /// ended.
    ///
    /// # Errors
    /// [`Mismatch`]; the run can't go on.
    #[inline(always)]
    pub fn execute(
        &mut self,
        lanes: &impl Lanes,
        writable: u64,
        which: u64,
    ) -> Result<bool, Mismatch> {
        let mut pending = self.all & which & !self.done;
        let mut executed = Ok(());
        while pending != 0 {
            let at = pending.trailing_zeros();
            pending &= pending - 1;
            if let Err(mismatch) = self.execute_one(lanes, writable, at) {
                executed = Err(mismatch);
            }
        }
        executed.map(|()| self.has_ended())
    }

    /// Executes the operations of the current block of a long run, except for those that have to
    /// wait. `writable` is as for [`execute`](Self::execute). Returns true if the block has ended.
    ///
    /// # Errors
    /// [`Mismatch`]; the run can't go on.
    pub fn execute_ready(&mut self, lanes: &impl Lanes, writable: u64) -> Result<bool, Mismatch> {
        let mut ready = self.long.as_ref().map_or(0, |long| long.ready);
        let (mut pending, mut executed) = (ready, Ok(()));
        while pending != 0 {
            let at = pending.trailing_zeros();
            pending &= pending - 1;
            if let Err(mismatch) = self.execute_one(lanes, writable, at) {
                executed = Err(mismatch);
            }
            if self.done >> at & 1 == 0 {
                continue;
            }
            ready &= !(1 << at);
            let mut users = self.steps[at as usize].users;
            while users != 0 {
                let user = users.trailing_zeros();
                users &= users - 1;
                if self.steps[user as usize].op.needs & !self.done == 0 {
                    (ready, pending) = (ready | 1 << user, pending | 1 << user);
                }
            }
        }
        if let Some(long) = &mut self.long {
            long.ready = ready;
        }
        executed.map(|()| self.has_ended())
    }

    /// Executes an operation of the run that has not ended, unless it has to wait.
    ///
    /// # Errors
    /// [`Mismatch`]; the run can't go on.
    fn execute_one(&mut self, lanes: &impl Lanes, writable: u64, at: u32) -> Result<(), Mismatch> {
        let step = &self.steps[at as usize];
        if step.op.needs & !self.done != 0 {
            return Ok(());
        }
        match step.op.kind {
            Kind::Put { lines, .. } => {
                let position = self.base + u64::from(step.op.at);
                if position + u64::from(lines) > writable {
                    return Ok(());
                }
                step.put(lanes, self.base, self.signature);
            }
            Kind::Take { writer } | Kind::Fold { writer, .. } => {
                let position = self.base + u64::from(step.op.at);
                let place = lanes.place(writer, position);
                match place.look(self.signature) {
                    Look::Arrived => step.take(&place),
                    Look::Missing => return Ok(()),
                    Look::Other(signature) => return Err(Mismatch { writer, signature }),
                }
            }
            Kind::Exec { operator, datatype } => {
                let [a, b, c] = step.spans;
                let computed = ops::apply(operator, datatype, a, b, c);
                debug_assert!(computed.is_ok(), "a division is not linked");
            }
            Kind::Nop => {}
        }
        self.done |= 1 << at;
        Ok(())
    }

    /// Returns true if the schedule is *simple*. Its messages lie in the short ring. At most one
    /// operation needs nothing, and it writes a message. All others need messages, and none of them
    /// writes one. The operation that writes is the first one.
    #[inline(always)]
    pub fn is_simple(&self) -> bool {
        self.is_simple
    }

    /// Writes the message of a simple run that has just started, if it has one. All lines of the
    /// run end before the position up to which this rank may write.
    #[inline(always)]
    pub fn put_first(&mut self, lanes: &impl Lanes) {
        if let Some(step) = self.steps.first() {
            step.put(lanes, self.base, self.signature);
        }
        self.done = self.initial;
    }

    /// Returns true if the schedule is *tiny*: it is [simple](Self::is_simple), and all its
    /// operations have messages of no or 8 bytes.
    #[inline(always)]
    pub fn is_tiny(&self) -> bool {
        self.is_tiny
    }

    /// Starts a tiny run whose first line is at the position `base`, and writes its message, if it
    /// has one. Returns the readers of the message, which the caller wakes if they sleep. The
    /// caller keeps what [`Run::put_first`] says.
    #[inline(always)]
    pub fn start_tiny(&mut self, lanes: &impl Lanes, base: u64) -> u64 {
        (self.done, self.base) = (self.initial, base);
        match self.steps.first() {
            Some(step) => step.put_tiny(lanes, base, self.signature),
            None => 0,
        }
    }

    /// Reads the messages of a tiny run in their order, after its write. `has_come` tells if the
    /// message at a place has come. Returns true if the run has ended, and false at the first
    /// message that has not come.
    #[inline(always)]
    pub fn read_tiny<L: Lanes>(
        &mut self,
        lanes: &L,
        mut has_come: impl FnMut(&L::Place) -> bool,
    ) -> bool {
        let mut pending = self.all & !self.done;
        while let Some(step) = self.steps.get(pending.trailing_zeros() as usize) {
            let place = lanes.place(step.writer, self.base + u64::from(step.op.at));
            // Operations need only operations before them, so this one need not wait. If the write
            // had no room, it is the first.
            if !has_come(&place) || !step.take_tiny(&place) {
                break;
            }
            pending &= pending - 1;
            if pending == 0 {
                self.done = self.all;
                return true;
            }
        }
        self.done = self.all & !pending;
        false
    }

    /// Executes the first operation that has not ended, in a simple run after its write.
    /// If it reads a message, `has_come` tells if the message at its place has come.
    #[inline(always)]
    pub fn read_next<L: Lanes>(
        &mut self,
        lanes: &L,
        has_come: impl FnOnce(&L::Place) -> bool,
    ) -> Next {
        let at = (self.all & !self.done).trailing_zeros();
        let Some(step) = self.steps.get(at as usize) else { return Next::Other };
        let (Kind::Take { writer } | Kind::Fold { writer, .. }) = step.op.kind else {
            return Next::Other;
        };
        let place = lanes.place(writer, self.base + u64::from(step.op.at));
        if !has_come(&place) {
            return Next::Missing;
        }
        // Operations need only operations before them, so this one need not wait.
        step.take(&place);
        self.done |= 1 << at;
        Next::Read
    }

    /// Returns the operations of the current block that have ended, as a mask, and the position of
    /// the block.
    pub fn ended(&self) -> (u64, u64) {
        (self.done, self.base)
    }

    /// Returns the first operation that has not ended, as a mask; 0 if the run has ended. It needs
    /// no other operation.
    #[inline(always)]
    pub fn first_pending(&self) -> u64 {
        let pending = self.all & !self.done;
        pending & pending.wrapping_neg()
    }

    /// Returns the actions that could go on if a message came or a peer had read its messages, in
    /// the order of the schedule.
    pub fn underway(&self) -> Vec<Underway> {
        let block = self.long.as_ref().map_or(0, |long| long.block);
        let waiting = self.waiting(|_| true);
        let mut waiting: Vec<_> = self.linked.blocks[block].actions(waiting).collect();
        // An action may have several pieces.
        waiting.sort_by_key(|action| action.number);
        waiting.dedup_by_key(|action| action.number);
        waiting
    }

    /// Returns the operations that need no message, directly or not, as a mask.
    #[inline(always)]
    pub fn initial(&self) -> u64 {
        self.initial
    }

    /// Calls `visit` with the writer and the position of each message that the run waits for.
    pub fn awaited(&self, mut visit: impl FnMut(u32, u64)) {
        let is_read = |kind| matches!(kind, Kind::Take { .. } | Kind::Fold { .. });
        let mask = self.waiting(is_read);
        for (_, step) in self.steps.iter().enumerate().filter(|(at, _)| mask >> at & 1 != 0) {
            if let Kind::Take { writer } | Kind::Fold { writer, .. } = step.op.kind {
                visit(writer, self.base + u64::from(step.op.at));
            }
        }
    }

    /// Returns true if the run waits for room on this rank's own board.
    pub fn waits_for_room(&self) -> bool {
        self.waiting(|kind| matches!(kind, Kind::Put { .. })) != 0
    }

    /// Returns the operations of a kind that wait for nothing on this rank.
    fn waiting(&self, is_wanted: impl Fn(Kind) -> bool) -> u64 {
        let pending = self.all & !self.done;
        mask_of(self.steps.iter().enumerate().map(|(at, Step { op, .. })| {
            pending >> at & 1 != 0 && op.needs & !self.done == 0 && is_wanted(op.kind)
        }))
    }

    /// Returns the signature of the schedule's messages.
    #[inline]
    pub fn signature(&self) -> u16 {
        self.signature
    }
}

/// Returns the steps of a block, whose operands are not bound yet.
fn steps_of(block: &Block) -> Box<[Step]> {
    let ops = &block.ops;
    let step = |(at, op): (usize, &Op)| {
        Step::new(op, mask_of(ops.iter().map(|user| user.needs >> at & 1 != 0)))
    };
    ops.iter().enumerate().map(step).collect()
}

/// Returns the numbers of the values that are true, as a mask.
fn mask_of(which: impl Iterator<Item = bool>) -> u64 {
    (0..).zip(which).fold(0, |mask, (at, is_in)| mask | u64::from(is_in) << at)
}
