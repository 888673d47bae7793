//! Lets one operation of a linked run do the work of several actions.

use super::operation::{Draft, Kind, NONE};
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
        let Some((user, operator, datatype, reversed)) = pair(drafts, at) else { continue };
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

/// Returns the only operation that waits for the message that `at` reads, if it combines the
/// message. Returns its operation and type, too, and true if the message is its second operand.
/// Others may use the memory of the message before `at`, or after that operation.
fn pair(drafts: &[Draft], at: usize) -> Option<(usize, Operator, Datatype, bool)> {
    let others = || (0..drafts.len()).filter(|&other| other != at && !drafts[other].is_merged);
    let mut waits = others().filter(|&other| drafts[other].op.needs >> at & 1 != 0);
    let user = waits.next().filter(|_| waits.next().is_none())?;
    let Kind::Exec { operator, datatype } = drafts[user].op.kind else { return None };
    let ([a, b, _], arrived) = (drafts[user].operands, drafts[at].operands[0]);
    match (a == arrived, b == arrived) {
        (true, false) => Some((user, operator, datatype, false)),
        (false, true) => Some((user, operator, datatype, true)),
        _ => None,
    }
}

/// The uses of scratch memory in all blocks of a schedule. A *pair* is a receive into scratch
/// memory and the only operation of its block that waits for it, which combines the message.
#[derive(Default)]
pub(super) struct Uses {
    /// The first bytes of all operands in ascending order, and the bytes behind them.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// The number of operands of pairs that use the memory of each pair's message.
    of_pairs: FxHashMap<Piece, usize>,
}

impl Uses {
    pub(super) fn of(blocks: &[Vec<Draft>]) -> Self {
        let mut uses = Self::default();
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
                    && let Some((user, ..)) = pair(drafts, at)
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
        self.of_pairs.get(arrived) == Some(&(begun - ended))
    }
}

fn overlap(one: &Piece, other: &Piece) -> bool {
    let (end, other_end) = (one.addr + one.size, other.addr + other.size);
    one.space == other.space && one.addr < other_end && other.addr < end
}
