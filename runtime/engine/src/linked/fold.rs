//! Lets one operation of a linked run do the work of several actions.

use super::build::{Draft, Kind, NONE};
use goal_lang::{Datatype, Op as Operator, Piece, Space};
use rustc_hash::FxHashMap;

/// Merges writes of one message for several ranks.
pub(super) fn merge_puts(drafts: &mut [Draft]) {
    for at in 0..drafts.len() {
        let Kind::Put { mut readers, lines } = drafts[at].op.kind else { continue };
        if drafts[at].is_merged {
            continue;
        }
        let (first, operand) = (drafts[at].op, drafts[at].operands[0]);
        for other in at + 1..drafts.len() {
            let Draft { op, operands, .. } = &drafts[other];
            if let Kind::Put { readers: more, .. } = op.kind
                && (op.at, op.needs, operands[0]) == (first.at, first.needs, operand)
            {
                readers |= more;
                replace(drafts, other, at);
            }
        }
        drafts[at].op.kind = Kind::Put { readers, lines };
    }
}

/// Lets the operation `by` do the work of the operation `which`.
fn replace(drafts: &mut [Draft], which: usize, by: usize) {
    drafts[which].is_merged = true;
    for draft in drafts {
        if draft.op.needs >> which & 1 != 0 {
            draft.op.needs = draft.op.needs & !(1 << which) | 1 << by;
        }
    }
}

/// Combines messages where they lie: a message that only one operation uses need not be copied to
/// scratch memory before. `drafts` are the operations of a block, and `uses` knows those of all
/// blocks.
pub(super) fn fold_messages(drafts: &mut [Draft], uses: &Uses) {
    for at in 0..drafts.len() {
        let Kind::Take { writer } = drafts[at].op.kind else { continue };
        let Some(user) = only_user(drafts, at) else { continue };
        let Some((operator, datatype, reversed)) = combines(drafts, at, user) else { continue };
        let ([a, b, c], arrived) = (drafts[user].operands, drafts[at].operands[0]);
        if c != arrived && !uses.are_of_pairs(&arrived) {
            continue;
        }
        let own = if reversed { a } else { b };
        let place = drafts[at].op.at;
        let (taken, underway) = (drafts[at].op.needs, drafts[at].underway);
        let fold = &mut drafts[user];
        fold.op.kind = match operator {
            // A copy is B = A.
            Operator::Copy if !reversed => Kind::Take { writer },
            Operator::Copy => continue,
            _ => Kind::Fold { writer, operator, datatype, reversed },
        };
        fold.op.at = place;
        fold.op.needs = fold.op.needs & !(1 << at) | taken;
        fold.operands = if operator == Operator::Copy { [b, b, NONE] } else { [own, c, NONE] };
        // The report of a rank that waits names the receive.
        fold.underway = underway;
        replace(drafts, at, user);
    }
}

/// Returns the operation by which `user` combines the message that `at` reads, and true if the
/// message is its second operand. Returns `None` if it does not combine it.
fn combines(drafts: &[Draft], at: usize, user: usize) -> Option<(Operator, Datatype, bool)> {
    let Kind::Exec { operator, datatype } = drafts[user].op.kind else { return None };
    let ([a, b, _], arrived) = (drafts[user].operands, drafts[at].operands[0]);
    match (a == arrived, b == arrived) {
        (true, false) => Some((operator, datatype, false)),
        (false, true) => Some((operator, datatype, true)),
        _ => None,
    }
}

/// Returns the operation that uses the memory into which `at` reads its message. Nobody else sees
/// the message there: it is scratch memory, or the operation overwrites all of it. Returns `None`
/// if several operations use this memory, or if others wait for the message. They must not wait for
/// what the user waits for.
fn only_user(drafts: &[Draft], at: usize) -> Option<usize> {
    let arrived = drafts[at].operands[0];
    let overlaps = |piece: &Piece| overlap(piece, &arrived);
    let others = || (0..drafts.len()).filter(|&other| other != at && !drafts[other].is_merged);
    let mut users = others().filter(|&other| drafts[other].operands.iter().any(overlaps));
    let user = users.next()?;
    let waits = others().filter(|&other| drafts[other].op.needs >> at & 1 != 0);
    let is_unseen = arrived.space == Space::Scratch || drafts[user].operands[2] == arrived;
    (users.next().is_none() && waits.eq([user]) && is_unseen).then_some(user)
}

/// The uses of scratch memory in all blocks of a schedule. A *pair* is a receive into scratch memory
/// and the only operation of its block that uses the message.
#[derive(Default)]
pub(super) struct Uses {
    /// The first bytes of all operands in ascending order, and the bytes behind them.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// The number of operands of pairs that use the memory of each pair's message.
    of_pairs: FxHashMap<Piece, usize>,
    /// True if there is one block.
    is_one_block: bool,
}

impl Uses {
    pub(super) fn of(blocks: &[Vec<Draft>]) -> Self {
        let mut uses = Self { is_one_block: blocks.len() == 1, ..Self::default() };
        if uses.is_one_block {
            return uses;
        }
        let is_used = |piece: &&Piece| piece.space == Space::Scratch && piece.size > 0;
        for drafts in blocks {
            let unmerged = drafts.iter().filter(|draft| !draft.is_merged);
            for piece in unmerged.flat_map(|draft| draft.operands.iter().filter(is_used)) {
                uses.starts.push(piece.addr);
                uses.ends.push(piece.addr + piece.size);
            }
            for (at, draft) in drafts.iter().enumerate() {
                let is_take = matches!(draft.op.kind, Kind::Take { .. }) && !draft.is_merged;
                let arrived = draft.operands[0];
                if is_take
                    && is_used(&&arrived)
                    && let Some(user) = only_user(drafts, at)
                    && combines(drafts, at, user).is_some()
                {
                    let both = draft.operands.iter().chain(&drafts[user].operands);
                    let count = both.filter(|piece| overlap(piece, &arrived)).count();
                    *uses.of_pairs.entry(arrived).or_default() += count;
                }
            }
        }
        uses.starts.sort_unstable();
        uses.ends.sort_unstable();
        uses
    }

    /// Returns true if nobody but pairs uses the memory of a message that a pair reads. Each pair
    /// writes the memory before it reads it, so no other pair sees this message there.
    fn are_of_pairs(&self, arrived: &Piece) -> bool {
        let end = arrived.addr + arrived.size;
        let begun = self.starts.partition_point(|&start| start < end);
        let ended = self.ends.partition_point(|&end| end <= arrived.addr);
        self.is_one_block || self.of_pairs.get(arrived) == Some(&(begun - ended))
    }
}

fn overlap(one: &Piece, other: &Piece) -> bool {
    let (end, other_end) = (one.addr + one.size, other.addr + other.size);
    one.space == other.space && one.addr < other_end && other.addr < end
}
