//! All accesses of a rank to its memories, one after the other, each compared with those before it
//! to the same bytes.
//!
//! The accesses come in an order that the dependencies allow. For each byte only the last write and
//! the reads since are kept: what was ordered before these is ordered before all that is ordered
//! after them. So without races the number of questions is linear in the accesses and the pieces
//! that they cut memory into.

use crate::limits::{RANGE_STEPS_MAX, RANGE_STEPS_PER_PIECE};
use crate::ranges::Ranges;
use goal_lang::{Access, ActionId, ActionKind, Body, Piece, Space};
use goal_opt::whole::Ordered;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// What is wrong with two accesses, or with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Fault {
    /// Neither comes before the other; with itself, a receive that stores a byte twice.
    Race(ActionId, ActionId),
    /// An action reads scratch memory that nothing wrote.
    Uninitialised(ActionId),
    /// What a receive stored is overwritten unread.
    Lost(ActionId, ActionId),
}

/// The first bytes that a fault concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes {
    pub(super) space: Space,
    pub(super) range: Range<u64>,
    /// Whether nothing had written them when the later of two accesses came.
    pub(super) is_fresh: bool,
}

impl Bytes {
    /// Whether a piece has some of them.
    pub(super) fn touches(&self, piece: &Piece) -> bool {
        let end = piece.addr.saturating_add(piece.size);
        piece.space == self.space && piece.addr < self.range.end && self.range.start < end
    }

    /// Returns true if an action writes some of them.
    pub(super) fn are_written_by(&self, body: &Body, id: ActionId) -> bool {
        let mut writes = false;
        body.visit_accesses(body.action(id), |piece, access| {
            writes |= access.writes() && self.touches(piece);
        });
        writes
    }
}

/// What a sweep found.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) faults: FxHashMap<Fault, Bytes>,
    /// Pairs of which the bound on the work left open whether they are ordered.
    pub(super) undecided: u64,
    /// Whether the bound on the work ended the sweep.
    pub(super) cut: bool,
    /// The actions that share scratch memory with another in no order.
    raced: FxHashSet<ActionId>,
    has_race: bool,
}

impl Faults {
    /// Whether a pair is not ordered for certain.
    pub(super) fn is_open(&self) -> bool {
        self.undecided > 0 || self.has_race
    }

    /// Names the two sides of each race in the order of the text.
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

/// The accesses to some bytes that a later one has to come after.
#[derive(Debug, Clone, Copy)]
struct Accesses {
    /// The last write.
    write: Option<ActionId>,
    /// The newest of the reads since, in `Sweep::reads`; `NO_READ` if there is none.
    reads: u32,
}

const NO_READ: u32 = u32::MAX;

/// A read and the one before it of the same bytes. Ranges that were cut share the reads from
/// before.
#[derive(Debug, Clone, Copy)]
struct Read {
    action: ActionId,
    before: u32,
}

/// When an action has done with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// When it has started: a send that combines has read its operand and written its message then.
    AtStart,
    /// When it has ended.
    AtEnd,
}

/// A sweep under way. `ordered` answers whether its first action has done with bytes before its
/// second begins with them.
pub(super) struct Sweep<'b, F> {
    body: &'b Body,
    ordered: F,
    spaces: [Ranges<Accesses>; 2],
    reads: Vec<Read>,
    /// The last pair that was compared.
    last: Option<(ActionId, ActionId, Done, Ordered)>,
    /// Parts of memory and reads that were looked at.
    steps: u64,
    /// Most parts and reads that are looked at, as a multiple of the usual.
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

    /// The same with so many times as much work.
    pub(super) fn with_effort(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// Goes through `actions`, which must come in an order that the dependencies allow. With
    /// `until_open` it ends at the first pair that is not ordered for certain.
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

    fn access(&mut self, id: ActionId, kind: ActionKind, piece: Piece, access: Access) {
        let space = piece.space;
        let range = piece.addr..piece.addr.saturating_add(piece.size);
        let mut ranges = std::mem::take(&mut self.spaces[space as usize]);
        // A user function may only write where nobody can tell, so that its reads prove nothing.
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

    /// Compares an access with those before it to the same bytes, and notes a read.
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
                // A send that combines goes on to read what it has written.
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

    /// Adds a read to those of some bytes. One that comes before it needs not be known any more.
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

    /// When an action has done with the bytes that it only reads, or writes for others to read.
    fn done(&self, id: ActionId) -> Done {
        let action = self.body.action(id);
        let combines = action.kind() == ActionKind::Send && self.body.reduction(action).is_some();
        if combines { Done::AtStart } else { Done::AtEnd }
    }

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
