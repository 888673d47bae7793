//! Holds a body under construction: its actions, and the dependencies that their buffers need.

use goal_lang::{Action, ActionId, Body, BodyBuilder, Payload, Piece, Pieces, Space};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::cells::Cells;

/// A body and the ranks that run it.
pub(crate) struct Node {
    pub(crate) members: Vec<u32>,
    pub(crate) cells: Cells,
    pub(crate) scratch: u64,
    /// The contiguous buffer that was written last. The next action often reads this buffer.
    pub(crate) recent: Option<Piece>,
    drafts: Vec<Draft>,
    pieces: Vec<Piece>,
}

struct Draft {
    action: Action,
    reads: Vec<Piece>,
    writes: Vec<Piece>,
    requires: Vec<usize>,
    irequires: Vec<usize>,
    /// A bit for each action that is complete before this action starts, and for this action.
    before: Vec<u64>,
}

/// Returns true if two pieces have a byte in common.
pub(crate) fn overlap(a: &Piece, b: &Piece) -> bool {
    a.space == b.space && a.addr < b.addr + b.size && b.addr < a.addr + a.size
}

pub(crate) fn any_overlap(a: &[Piece], b: &[Piece]) -> bool {
    a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
}

impl Node {
    pub(crate) fn new(members: Vec<u32>, memory: u64, scratch: u64) -> Self {
        Self {
            members,
            cells: Cells::new(memory, scratch),
            scratch,
            recent: None,
            drafts: Vec::new(),
            pieces: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.drafts.len()
    }

    /// Stores the pieces of an operand.
    pub(crate) fn pieces(&mut self, pieces: &[Piece]) -> Pieces {
        let first = self.pieces.len() as u32;
        self.pieces.extend_from_slice(pieces);
        Pieces { first, len: pieces.len() as u32 }
    }

    /// Returns a payload with addresses for these pieces.
    pub(crate) fn payload(&mut self, pieces: &[Piece]) -> Payload {
        match pieces {
            [piece] => Payload::Buffer(*piece),
            many => Payload::Vector(self.pieces(many)),
        }
    }

    /// Adds an action and returns its number. The action requires every earlier action that
    /// accesses the same bytes, unless both only read them.
    pub(crate) fn add(&mut self, action: Action, reads: &[Piece], writes: &[Piece]) -> usize {
        let index = self.drafts.len();
        if let &[piece] = writes {
            self.recent = Some(piece).filter(|piece| piece.size > 0);
        }
        let mut before = vec![0; index / 64 + 1];
        before[index / 64] |= 1 << (index % 64);
        self.drafts.push(Draft {
            action,
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            requires: Vec::new(),
            irequires: Vec::new(),
            before,
        });
        for earlier in (0..index).rev() {
            let draft = &self.drafts[earlier];
            let conflict = any_overlap(writes, &draft.reads)
                || any_overlap(writes, &draft.writes)
                || any_overlap(reads, &draft.writes);
            if conflict && !self.completes_before(earlier, index) {
                self.require(index, earlier);
            }
        }
        index
    }

    /// Makes `waiter` wait for the end of `earlier`.
    pub(crate) fn require(&mut self, waiter: usize, earlier: usize) {
        let (head, tail) = self.drafts.split_at_mut(waiter);
        let waiter = &mut tail[0];
        waiter.requires.push(earlier);
        for (mine, theirs) in waiter.before.iter_mut().zip(&head[earlier].before) {
            *mine |= theirs;
        }
    }

    /// Makes `waiter` wait for the start of `other`, whichever was added first.
    pub(crate) fn require_start(&mut self, waiter: usize, other: usize) {
        self.drafts[waiter].irequires.push(other);
    }

    /// Returns true if the dependencies so far ensure that `earlier` is complete before `later`
    /// starts.
    fn completes_before(&self, earlier: usize, later: usize) -> bool {
        let before = &self.drafts[later].before;
        before[earlier / 64] >> (earlier % 64) & 1 == 1
    }

    /// Returns the body, with its actions in random order.
    pub(crate) fn finish(&self, rng: &mut ChaCha8Rng) -> Body {
        let mut order: Vec<usize> = (0..self.drafts.len()).collect();
        if rng.random_bool(0.9) {
            order.shuffle(rng);
        }
        let mut id_of = vec![ActionId(0); order.len()];
        let mut body = BodyBuilder::default();
        body.pieces(&self.pieces);
        for &index in &order {
            id_of[index] = body.action(self.drafts[index].action);
        }
        for (index, draft) in self.drafts.iter().enumerate() {
            draft.requires.iter().for_each(|&earlier| body.requires(id_of[index], id_of[earlier]));
            draft.irequires.iter().for_each(|&other| body.irequires(id_of[index], id_of[other]));
        }
        let accesses =
            || self.drafts.iter().flat_map(|draft| draft.reads.iter().chain(&draft.writes));
        if accesses().any(|piece| piece.space == Space::Scratch) {
            body.scratch(self.scratch);
        }
        body.finish()
    }
}
