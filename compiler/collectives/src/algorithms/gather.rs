//! Gathers and scatters.

use super::tree::{at, family, place, span};
use crate::buf::Buf;
use crate::rank::Rank;

/// Copies the root's own block to its place in the output.
fn keep_own(rank: &mut Rank<'_>) {
    rank.copy(rank.own_input(), rank.output_of(rank.me()));
}

pub(super) fn linear(rank: &mut Rank<'_>) {
    let root = rank.root();
    if !rank.is_root() {
        return rank.send(rank.own_input(), root);
    }
    keep_own(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        rank.recv(rank.output_of(other), other);
    }
}

/// A rank sends when the root is ready for it: a first segment, then the rest.
pub(super) fn synchronised(rank: &mut Rank<'_>) {
    let root = rank.root();
    let parts = |rank: &Rank<'_>, block: Buf| {
        // The thresholds of Open MPI's decision, in bytes of a block (thesis 5.5).
        let default = if block.size() > 92_160 { 32_768 } else { 1024 };
        let first = super::parts::segment(rank, block.size(), default).min(block.size());
        (block.part(0, first), block.part(first, block.size() - first))
    };
    if !rank.is_root() {
        let own = rank.own_input();
        let (first, rest) = parts(rank, own);
        let ready = rank.await_signal(own.part(0, 0), root);
        let begun = rank.signal(first, root);
        rank.after(begun, ready);
        if rest.size() > 0 {
            let rest = rank.signal(rest, root);
            rank.after(rest, begun);
        }
        return;
    }
    keep_own(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        let (first, rest) = parts(rank, rank.output_of(other));
        // The receive starts before the signal that allows its message.
        let posted = rank.await_signal(first, other);
        let ready = rank.signal(first.part(0, 0), other);
        rank.after_start(ready, posted);
        rank.recv(rest, other);
    }
}

/// A binomial tree with a block at each place, as one rank sees it.
struct Tree {
    place: u32,
    ranks: u32,
    root: u32,
    children: Vec<u32>,
    parent: Option<u32>,
}

impl Tree {
    fn new(rank: &Rank<'_>) -> Self {
        let (root, ranks) = (rank.root(), rank.ranks());
        let place = place(rank, root);
        let (mut children, parent) = family(place, ranks);
        children.reverse();
        Self { place, ranks, root, children, parent }
    }

    /// Returns the total size in bytes of the blocks of `count` places from `first` on.
    fn bytes(&self, rank: &Rank<'_>, first: u32, count: u32) -> u64 {
        rank.bytes_of(at(rank, self.root, first), count)
    }

    /// Returns the part of `subtree` with the blocks of a child's subtree. `subtree` has the blocks
    /// of this rank's subtree.
    fn part_of(&self, rank: &Rank<'_>, subtree: Buf, child: u32) -> Buf {
        let before = self.bytes(rank, self.place, child - self.place);
        subtree.part(before, self.bytes(rank, child, span(child, self.ranks)))
    }

    /// Calls `message` with each message between the root and a child, about the blocks of the
    /// child's subtree. The root has the blocks in the order of ranks, so a subtree may continue
    /// with rank 0 behind the last rank. Equal blocks then go in two messages, one up to the last
    /// rank and one from rank 0 on. Other blocks go in one message.
    fn at_root(
        &self,
        rank: &mut Rank<'_>,
        child: u32,
        of: impl Fn(&Rank<'_>, u32) -> Buf,
        mut message: impl FnMut(&mut Rank<'_>, &[Buf], u32),
    ) {
        let first = at(rank, self.root, child);
        let parts = rank.circle(first, span(child, self.ranks), |number| of(rank, number));
        if rank.has_equal_blocks() {
            parts.into_iter().for_each(|part| message(rank, &[part], first));
        } else {
            message(rank, &parts, first);
        }
    }

    /// Returns the messages between this rank and its parent, as parts of `subtree`: the blocks of
    /// this rank's subtree.
    fn messages(&self, rank: &Rank<'_>, subtree: Buf, parent: u32) -> Vec<Buf> {
        let first = at(rank, self.root, self.place);
        let count = span(self.place, self.ranks);
        let before = rank.ranks() - first;
        if parent > 0 || before >= count || !rank.has_equal_blocks() {
            return vec![subtree];
        }
        let bytes = u64::from(before) * rank.block();
        vec![subtree.part(0, bytes), subtree.part(bytes, subtree.size() - bytes)]
    }

    /// Returns scratch memory for the blocks of this rank's subtree.
    fn subtree(&self, rank: &mut Rank<'_>) -> Buf {
        rank.scratch(self.bytes(rank, self.place, span(self.place, self.ranks)))
    }
}

pub(super) fn binomial(rank: &mut Rank<'_>) {
    let tree = Tree::new(rank);
    let Some(parent) = tree.parent else {
        keep_own(rank);
        for &child in &tree.children {
            tree.at_root(
                rank,
                child,
                |rank, number| rank.output_of(number),
                |rank, bufs, from| {
                    rank.recv_all(bufs, from);
                },
            );
        }
        return;
    };
    let own = rank.own_input();
    let mut subtree = own;
    if !tree.children.is_empty() {
        subtree = tree.subtree(rank);
        rank.copy(own, subtree.part(0, own.size()));
        for &child in &tree.children {
            rank.recv(tree.part_of(rank, subtree, child), at(rank, tree.root, child));
        }
    }
    for message in tree.messages(rank, subtree, parent) {
        rank.send(message, at(rank, tree.root, parent));
    }
}

pub(super) fn scatter_linear(rank: &mut Rank<'_>) {
    let root = rank.root();
    if !rank.is_root() {
        return rank.recv(rank.own_output(), root);
    }
    keep_part(rank);
    for other in (0..rank.ranks()).filter(|&other| other != root) {
        rank.send(rank.input_for(other), other);
    }
}

/// Copies the root's own block to its output; in place it stays where it is.
fn keep_part(rank: &mut Rank<'_>) {
    if !rank.is_in_place() {
        rank.copy(rank.input_for(rank.me()), rank.own_output());
    }
}

pub(super) fn scatter_binomial(rank: &mut Rank<'_>) {
    let tree = Tree::new(rank);
    let Some(parent) = tree.parent else {
        keep_part(rank);
        for &child in &tree.children {
            tree.at_root(
                rank,
                child,
                |rank, number| rank.input_for(number),
                |rank, bufs, to| {
                    rank.send_all(bufs, to);
                },
            );
        }
        return;
    };
    let output = rank.own_output();
    let subtree = if tree.children.is_empty() { output } else { tree.subtree(rank) };
    for message in tree.messages(rank, subtree, parent) {
        rank.recv(message, at(rank, tree.root, parent));
    }
    for &child in &tree.children {
        rank.send(tree.part_of(rank, subtree, child), at(rank, tree.root, child));
    }
    rank.copy(subtree.part(0, output.size()), output);
}
