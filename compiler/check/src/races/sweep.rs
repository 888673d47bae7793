//! Goes through all accesses of a rank to its memories and compares each with earlier accesses to
//! the same bytes.
//!
//! The accesses come in an order that the dependencies allow. For each byte, only the last write
//! and the reads since that write are kept. An access that is ordered after these is also ordered
//! after all earlier ones. So without races the number of questions is linear: in the accesses, and
//! in the parts that they cut memory into.

use crate::limits::{RANGE_STEPS_MAX, RANGE_STEPS_PER_PIECE};
use crate::ranges::Ranges;
use goal_lang::{Access, ActionId, ActionKind, Body, Piece, Space};
use goal_opt::whole::Ordered;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A fault of two accesses, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fault {
    /// Two actions access the same bytes, one of them writes, and neither comes before the other.
    /// If both are the same action, it is a receive that stores a byte twice.
    Race(ActionId, ActionId),
    /// The action reads scratch memory that nothing wrote.
    Uninitialised(ActionId),
    /// The first action, a receive, stored bytes. The second action overwrites them before any
    /// action reads them.
    Lost(ActionId, ActionId),
}

/// The first bytes that a fault concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes {
    pub(super) space: Space,
    pub(super) range: Range<u64>,
    /// True if nothing had written the bytes when the later of two accesses came.
    pub(super) is_fresh: bool,
}

impl Bytes {
    /// Returns true if a piece contains some of the bytes.
    pub(super) fn touches(&self, piece: &Piece) -> bool {
        let end = piece.addr.saturating_add(piece.size);
        piece.space == self.space && piece.addr < self.range.end && self.range.start < end
    }

    /// Returns true if an action writes some of the bytes.
    pub(super) fn are_written_by(&self, body: &Body, id: ActionId) -> bool {
        let mut writes = false;
        body.visit_accesses(body.action(id), |piece, access| {
            writes |= access.writes() && self.touches(piece);
        });
        writes
    }
}

/// The result of a sweep.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) faults: FxHashMap<Fault, Bytes>,
    /// The number of pairs of accesses whose order was left undecided, as the bound on the work was
    /// reached.
    pub(super) undecided: u64,
    /// True if the bound on the work ended the sweep.
    pub(super) cut: bool,
    /// The actions that have a race on scratch memory.
    raced: FxHashSet<ActionId>,
    has_race: bool,
}

impl Faults {
    /// Returns true if some pair is unordered or undecided.
    pub(super) fn is_open(&self) -> bool {
        self.undecided > 0 || self.has_race
    }

    /// Puts the two actions of each race in the order of the text.
    pub(super) fn in_order(&mut self) {
        let swapped = self.faults.drain().map(|(fault, bytes)| match fault {
            Fault::Race(first, second) => {
                (Fault::Race(first.min(second), first.max(second)), bytes)
            }
            _ => (fault, bytes),
        });
        self.faults = swapped.collect();
    }

    fn add(&mut self, fault: Fault, bytes: &Bytes) {
        if let Fault::Race(first, second) = fault {
            self.has_race = true;
            if bytes.space == Space::Scratch {
                self.raced.extend([first, second]);
            }
        }
        self.faults.entry(fault).or_insert_with(|| bytes.clone());
    }
}

/// The earlier accesses to some bytes with which a later access has to be compared.
#[derive(Debug, Clone, Copy)]
struct Accesses {
    /// The last write.
    write: Option<ActionId>,
    /// The index in `Sweep::reads` of the newest read since the last write, or `NO_READ`.
    reads: u32,
}

const NO_READ: u32 = u32::MAX;

/// A read of some bytes, and the index in `Sweep::reads` of the read before it. Ranges that were
/// cut out of one range share their earlier reads.
#[derive(Debug, Clone, Copy)]
struct Read {
    action: ActionId,
    before: u32,
}

/// The moment when an action no longer uses some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// When the action has started: a send that combines has then read its operand and written its
    /// message.
    AtStart,
    /// When the action has ended.
    AtEnd,
}

/// A sweep in progress. `ordered` decides if its first action no longer uses bytes when its second
/// begins to use them. Its third argument says when the first action is done with them.
pub(super) struct Sweep<'b, F> {
    body: &'b Body,
    ordered: F,
    spaces: [Ranges<Accesses>; 2],
    reads: Vec<Read>,
    /// The last question to `ordered` and its answer.
    last: Option<(ActionId, ActionId, Done, Ordered)>,
    /// The number of parts of memory and reads that were visited.
    steps: u64,
    /// The bound on visited parts and reads, as a multiple of the default.
    effort: u64,
    found: Faults,
}

impl<'b, F: FnMut(ActionId, ActionId, Done) -> Ordered> Sweep<'b, F> {
    pub(super) fn new(body: &'b Body, ordered: F) -> Self {
        let spaces = <[Ranges<Accesses>; 2]>::default();
        Self {
            body,
            ordered,
            spaces,
            reads: Vec::new(),
            last: None,
            steps: 0,
            effort: 1,
            found: Faults::default(),
        }
    }

    /// Sets the bound on the work, as a multiple of the default.
    pub(super) fn with_effort(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// Goes through `actions`, which must come in an order that the dependencies allow. With
    /// `until_open`, stops at the first pair that is unordered or undecided.
    pub(super) fn run(
        mut self,
        actions: impl IntoIterator<Item = ActionId>,
        until_open: bool,
    ) -> Faults {
        let mut steps_max = RANGE_STEPS_MAX.saturating_mul(self.effort);
        let mut pieces: Vec<(Piece, Access)> = Vec::new();
        for id in actions {
            let action = self.body.action(id);
            pieces.clear();
            self.body.visit_accesses(action, |piece, access| pieces.push((*piece, access)));
            for &(piece, access) in &pieces {
                self.access(id, action.kind(), piece, access);
                steps_max += RANGE_STEPS_PER_PIECE;
            }
            if self.steps > steps_max {
                self.found.cut = true;
                break;
            }
            if until_open && self.found.is_open() {
                break;
            }
        }
        let Faults { faults, raced, .. } = &mut self.found;
        faults.retain(|fault, _| !matches!(fault, Fault::Uninitialised(id) if raced.contains(id)));
        self.found
    }

    /// Compares one access of an action with the earlier ones to the same bytes, and records it.
    fn access(&mut self, id: ActionId, kind: ActionKind, piece: Piece, access: Access) {
        let space = piece.space;
        let range = piece.addr..piece.addr.saturating_add(piece.size);
        let mut ranges = std::mem::take(&mut self.spaces[space as usize]);
        // A user function may write bytes without reading them. Its operands count as read, so such
        // a read proves nothing.
        let needs_content = access.reads() && kind != ActionKind::User && space == Space::Scratch;
        let mut unwritten: Option<Range<u64>> = None;
        let fresh = Accesses { write: None, reads: NO_READ };
        self.steps += ranges.update(range.clone(), &fresh, |part, accesses| {
            let is_first = unwritten.as_ref().is_none_or(|first| part.start < first.start);
            if needs_content && accesses.write.is_none() && is_first {
                unwritten = Some(part.clone());
            }
            let bytes = Bytes { space, range: part, is_fresh: accesses.write.is_none() };
            self.follow(id, kind, &bytes, access, accesses);
        });
        if access.writes() {
            ranges.set(range, Accesses { write: Some(id), reads: NO_READ });
        }
        self.spaces[space as usize] = ranges;
        if let Some(range) = unwritten {
            self.found.add(Fault::Uninitialised(id), &Bytes { space, range, is_fresh: true });
        }
    }

    /// Compares an access with the earlier ones to the same bytes, and records a read.
    fn follow(
        &mut self,
        id: ActionId,
        kind: ActionKind,
        bytes: &Bytes,
        access: Access,
        accesses: &mut Accesses,
    ) {
        if let Some(write) = accesses.write {
            if write != id {
                // A send that combines still reads its message after it has written it.
                let done = if access == Access::Read { self.done(write) } else { Done::AtEnd };
                let ordered = self.compare(write, id, done, bytes);
                let is_unread = accesses.reads == NO_READ && access == Access::Write;
                let is_received = self.body.action(write).kind() == ActionKind::Recv;
                if ordered == Ordered::Yes && is_unread && is_received {
                    self.found.add(Fault::Lost(write, id), bytes);
                }
            } else if kind == ActionKind::Recv {
                self.found.add(Fault::Race(id, id), bytes);
            }
        }
        if !access.writes() {
            return self.read(id, accesses);
        }
        let mut at = accesses.reads;
        while at != NO_READ {
            let read = self.reads[at as usize];
            if read.action != id {
                self.compare(read.action, id, self.done(read.action), bytes);
            }
            at = read.before;
            self.steps += 1;
        }
    }

    /// Records a read. Earlier reads that are ordered before it are dropped.
    fn read(&mut self, id: ActionId, accesses: &mut Accesses) {
        while let Some(&Read { action, before }) = self.reads.get(accesses.reads as usize) {
            if action == id {
                return;
            }
            if self.is_ordered(action, id, self.done(action)) != Ordered::Yes {
                break;
            }
            accesses.reads = before;
            self.steps += 1;
        }
        self.reads.push(Read { action: id, before: accesses.reads });
        accesses.reads = (self.reads.len() - 1) as u32;
    }

    /// The moment when an action no longer uses bytes that it only reads, or that it writes for
    /// later readers.
    fn done(&self, id: ActionId) -> Done {
        let action = self.body.action(id);
        let combines = action.kind() == ActionKind::Send && self.body.reduction(action).is_some();
        if combines { Done::AtStart } else { Done::AtEnd }
    }

    /// Asks for the order of two actions, and records a race if there is none.
    fn compare(&mut self, first: ActionId, second: ActionId, done: Done, bytes: &Bytes) -> Ordered {
        let is_new = self.last.is_none_or(|(a, b, ..)| (a, b) != (first, second));
        let ordered = self.is_ordered(first, second, done);
        match ordered {
            Ordered::Yes => {}
            Ordered::No => self.found.add(Fault::Race(first, second), bytes),
            Ordered::Unknown => self.found.undecided += u64::from(is_new),
        }
        ordered
    }

    /// Asks for the order of two actions. The last answer is cached, as the pieces of two buffers
    /// often raise the same question.
    fn is_ordered(&mut self, first: ActionId, second: ActionId, done: Done) -> Ordered {
        if let Some((a, b, until, ordered)) = self.last
            && (a, b, until) == (first, second, done)
        {
            return ordered;
        }
        let ordered = (self.ordered)(first, second, done);
        self.last = Some((first, second, done, ordered));
        ordered
    }
}
