//! Builds a rank's part: translates each action of the rank to actions of the engine.

use super::matched::Matched;
use crate::analysis::segments;
use crate::graph::{Exec, Graph, Hand, Work, is_long};
use crate::image::Call;
use crate::layout::{NONE, ReceiveEntry, SendEntry};
use crate::matching::Match;
use goal_lang::{Op, Piece, Space};
use std::ops::Range;

/// A place in the part's memory. It lies in one of three areas: the fixed area, which begins with
/// the rank's own memory; the gathered operands; or the area that alternates between runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Fixed(u64),
    Gathered(u64),
    Alternating(u64),
}

/// The work of an action of the engine, before its dependents are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) op: u8,
    pub(super) datatype: u8,
    pub(super) places: [Place; 3],
    pub(super) bytes: u64,
    pub(super) send: u32,
    /// True if the rank's process does the work.
    pub(super) handed: bool,
}

pub(super) const NOTHING: Step =
    Step { op: 0, datatype: 0, places: [Place::Fixed(0); 3], bytes: 0, send: NONE, handed: false };

pub(super) fn copied(from: Place, to: Place, bytes: u64) -> Step {
    if bytes == 0 {
        return NOTHING;
    }
    let datatype = goal_lang::Datatype::UInt8 as u8;
    Step {
        op: Op::Copy as u8,
        datatype,
        places: [from, from, to],
        bytes,
        send: NONE,
        handed: false,
    }
}

pub(super) struct Builder<'a> {
    pub(super) matched: &'a Matched,
    pub(super) rank: u32,
    pub(super) graph: &'a Graph,
    pub(super) steps: Vec<Step>,
    /// By action of the engine, the number of dependencies that are counted down before it runs.
    pub(super) initial: Vec<u32>,
    pub(super) dependents: Vec<Vec<u32>>,
    pub(super) origins: Vec<u32>,
    pub(super) independent: Vec<u32>,
    /// By action of the rank's section, the first of the engine's actions that it became.
    pub(super) entries: Vec<u32>,
    /// By action of the rank's section, the last of the engine's actions that it became.
    pub(super) exits: Vec<u32>,
    /// By action of the rank's section, the action of the engine that an arriving message releases;
    /// [`NONE`] without a receive.
    pub(super) arrivals: Vec<u32>,
    pub(super) receives: Vec<ReceiveEntry>,
    pub(super) sends: Vec<SendEntry>,
    pub(super) held: u32,
    pub(super) acks: u32,
    pub(super) constants: Vec<u8>,
    pub(super) gathered: u64,
    pub(super) alternating: u64,
    pub(super) calls: Vec<Call>,
    /// By action of the rank's section, the place where a receive's message from the rank itself
    /// lands.
    pub(super) landings: Vec<Option<u64>>,
}

pub(super) fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

impl<'a> Builder<'a> {
    pub(super) fn new(matched: &'a Matched, rank: u32) -> Self {
        let graph = &matched.graphs[rank as usize];
        let none = vec![NONE; graph.nodes.len()];
        Self {
            matched,
            rank,
            graph,
            steps: Vec::new(),
            initial: Vec::new(),
            dependents: Vec::new(),
            origins: Vec::new(),
            independent: Vec::new(),
            entries: none.clone(),
            exits: none.clone(),
            arrivals: none,
            receives: Vec::new(),
            sends: Vec::new(),
            held: 0,
            acks: 0,
            constants: Vec::new(),
            gathered: 0,
            alternating: 0,
            calls: Vec::new(),
            landings: vec![None; graph.nodes.len()],
        }
    }

    pub(super) fn step(&mut self, origin: usize, step: Step) -> u32 {
        self.steps.push(step);
        self.initial.push(0);
        self.dependents.push(Vec::new());
        self.origins.push(origin as u32);
        self.steps.len() as u32 - 1
    }

    pub(super) fn depends(&mut self, waiter: u32, on: u32) {
        self.dependents[on as usize].push(waiter);
        self.initial[waiter as usize] += 1;
    }

    /// Appends a chain of steps. Each step depends on the one before. Returns the numbers of
    /// the first and the last step.
    pub(super) fn chain(&mut self, origin: usize, steps: Vec<Step>) -> (u32, u32) {
        let steps = if steps.is_empty() { vec![NOTHING] } else { steps };
        let first = self.steps.len() as u32;
        for (i, step) in steps.into_iter().enumerate() {
            let at = self.step(origin, step);
            if i > 0 {
                self.depends(at, at - 1);
            }
        }
        (first, self.steps.len() as u32 - 1)
    }

    pub(super) fn alternate(&mut self, bytes: u64) -> u64 {
        self.alternating += aligned(bytes);
        self.alternating - aligned(bytes)
    }

    fn at(&self, piece: Piece) -> u64 {
        match piece.space {
            Space::Memory => piece.addr,
            Space::Scratch => aligned(self.graph.memory) + piece.addr,
        }
    }

    pub(super) fn place(&self, piece: Piece) -> Place {
        Place::Fixed(self.at(piece))
    }

    /// Returns the bytes that pieces occupy in the part's memory.
    fn ranges(&self, pieces: &[Piece]) -> Vec<Range<usize>> {
        let range = |&piece: &Piece| {
            let start = self.at(piece) as usize;
            start..start + piece.size as usize
        };
        pieces.iter().map(range).collect()
    }

    pub(super) fn constants_at(&self) -> u64 {
        aligned(self.graph.memory) + aligned(self.graph.scratch)
    }

    pub(super) fn other(&self, action: usize) -> Match {
        self.matched.matching.matches[self.rank as usize][action].expect("messages are matched")
    }

    pub(super) fn number(&self, rank: u32, action: u32) -> u32 {
        self.matched.numbers[rank as usize][action as usize]
    }

    pub(super) fn exec(&mut self, exec: &Exec) -> Vec<Step> {
        let (op, datatype) = (exec.op as u8, exec.datatype as u8);
        if let Some(segments) = segments(exec) {
            let steps = segments.into_iter().filter(|[a, ..]| a.size > 0).map(|[a, b, c]| Step {
                op,
                datatype,
                places: [self.place(a), self.place(b), self.place(c)],
                bytes: a.size,
                send: NONE,
                handed: is_long(exec.op, exec.datatype, a.size),
            });
            return steps.collect();
        }
        // An element lies in two pieces: operands are gathered, and the result is scattered.
        let bytes: u64 = exec.a.iter().map(|piece| piece.size).sum();
        let gathered = self.gathered;
        self.gathered += 2 * aligned(bytes);
        let mut steps = Vec::new();
        for (pieces, start) in [(&exec.a, gathered), (&exec.b, gathered + aligned(bytes))] {
            let mut at = start;
            for &piece in pieces {
                steps.push(copied(self.place(piece), Place::Gathered(at), piece.size));
                at += piece.size;
            }
        }
        let [a, b] = [gathered, gathered + aligned(bytes)].map(Place::Gathered);
        let handed = is_long(exec.op, exec.datatype, bytes);
        steps.push(Step { op, datatype, places: [a, b, b], bytes, send: NONE, handed });
        let mut at = gathered + aligned(bytes);
        for &piece in &exec.c {
            steps.push(copied(Place::Gathered(at), self.place(piece), piece.size));
            at += piece.size;
        }
        steps
    }

    pub(super) fn actions(&mut self) {
        // The send of a message of the rank to itself is built with the place where the message
        // lands. So these places come first.
        for action in 0..self.graph.nodes.len() {
            if let Work::Recv { payload, .. } = &self.graph.nodes[action].work
                && self.other(action).rank == self.rank
            {
                self.landings[action] = Some(self.alternate(payload.bytes()));
            }
        }
        for (action, node) in self.graph.nodes.iter().enumerate() {
            let (entry, exit) = match &node.work {
                Work::Nothing => self.chain(action, vec![NOTHING]),
                Work::Exec(exec) => {
                    let steps = self.exec(exec);
                    self.chain(action, steps)
                }
                Work::Send { payload, before, .. } => self.send(action, payload, before.as_ref()),
                Work::Recv { .. } => self.receive(action),
                Work::Handed(hand) => {
                    let mut handed = Step { handed: true, ..NOTHING };
                    if let Hand::Time(piece) = hand {
                        handed =
                            Step { places: [self.place(*piece); 3], bytes: piece.size, ..handed };
                    }
                    // The action takes long, so actions that wait for its start must not wait for
                    // its end.
                    match node.start_dependents.is_empty() {
                        true => self.chain(action, vec![handed]),
                        false => self.chain(action, vec![NOTHING, handed]),
                    }
                }
                Work::Refused(_) => unreachable!("refused before"),
            };
            if let Work::Handed(Hand::Call { function, a, b }) = &node.work {
                let operands = [a, b].map(|pieces| self.ranges(pieces));
                self.calls.push(Call { action: exit, function: *function, operands });
            }
            self.entries[action] = entry;
            self.exits[action] = exit;
            self.initial[entry as usize] += node.sources;
            if node.sources == 0 {
                self.initial[entry as usize] += 1;
                self.independent.push(entry);
            }
        }
        for (action, node) in self.graph.nodes.iter().enumerate() {
            for &waiter in &node.dependents {
                self.dependents[self.exits[action] as usize].push(self.entries[waiter as usize]);
            }
            for &waiter in &node.start_dependents {
                self.dependents[self.entries[action] as usize].push(self.entries[waiter as usize]);
            }
            if let Work::Send { peer, .. } = node.work
                && peer == self.rank
            {
                let receive = self.other(action).action as usize;
                self.dependents[self.exits[action] as usize].push(self.arrivals[receive]);
            }
        }
        if self.steps.is_empty() {
            // Only the end of an action ends an epoch, so a part without actions gets one that does
            // nothing.
            self.step(0, NOTHING);
            self.initial[0] = 1;
            self.independent.push(0);
        }
    }
}
