//! Generates the sequence of events of a program.

use std::collections::BTreeMap;

use goal_lang::{Action, ImageId, MemoryImage, Placement, Program, ProgramBuilder};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::cells::Cell;
use crate::node::Node;
use crate::operands::{Use, buffer};
use crate::shape::Shape;
use crate::{group, image, local, message};

/// The way in which messages from one node to another are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairMode {
    /// All sends are ordered and so are all receives: tags are free, also for receives with any
    /// tag.
    Ordered,
    /// Messages of the same tag are ordered, others race; groups with wildcards have tags of their
    /// own.
    Tagged,
}

/// A send or a receive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) node: usize,
    pub(crate) rank: u32,
    /// The number of the action in its node.
    pub(crate) action: usize,
}

/// The program under construction.
pub(crate) struct Generator<'a> {
    pub(crate) rng: ChaCha8Rng,
    pub(crate) shape: &'a Shape,
    pub(crate) nodes: Vec<Node>,
    /// The number of groups of messages with wildcard receives so far.
    pub(crate) groups: u32,
    /// A node that receives one group and nothing else: its receives may accept any source and any
    /// tag.
    pub(crate) sink: Option<usize>,
    pub(crate) sink_used: bool,
    pub(crate) tag_base: u32,
    modes: BTreeMap<(usize, usize), PairMode>,
    /// The last send and receive between two ranks with a tag; `None` stands for all tags of an
    /// ordered pair.
    last: BTreeMap<(u32, u32, Option<u32>), (usize, usize)>,
    images: Vec<(u32, MemoryImage)>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(mut rng: ChaCha8Rng, shape: &'a Shape) -> Self {
        let ranks = rng.random_range(shape.ranks.0.max(1)..=shape.ranks.1.max(1));
        let mut nodes: Vec<Node> = Vec::new();
        for rank in 0..ranks {
            if shape.shared_bodies && rank > 0 && rng.random_bool(0.3) {
                let node = rng.random_range(0..nodes.len());
                nodes[node].members.push(rank);
            } else {
                nodes.push(Node::new(vec![rank], shape.memory, shape.scratch));
            }
        }
        let mut images = Vec::new();
        for node in &mut nodes {
            let made = image::images(&mut rng, node, shape.floats);
            images.extend(node.members.iter().copied().zip(made));
        }
        let sink = rng.random_range(0..nodes.len());
        let sink_fits = shape.wildcards && nodes.len() > 1 && nodes[sink].members.len() == 1;
        let tag_base = if rng.random_bool(0.2) { rng.random_range(0..u32::MAX - 4096) } else { 0 };
        Self {
            sink: (sink_fits && rng.random_bool(0.3)).then_some(sink),
            sink_used: false,
            rng,
            shape,
            nodes,
            groups: 0,
            tag_base,
            modes: BTreeMap::new(),
            last: BTreeMap::new(),
            images,
        }
    }

    pub(crate) fn program(mut self) -> Program {
        let events = self
            .rng
            .random_range(self.shape.events.0..=self.shape.events.1.max(self.shape.events.0));
        for _ in 0..events {
            let before: Vec<usize> = self.nodes.iter().map(Node::len).collect();
            self.event();
            self.extra_dependencies(&before);
        }
        self.finish()
    }

    fn event(&mut self) {
        let groups = if self.shape.outcomes_may_differ { 30 } else { 13 };
        match self.rng.random_range(0..87 + groups) {
            0..42 => message::event(self),
            87.. if self.shape.wildcards => group::event(self),
            42..47 => self.calc(),
            47..51 => {
                let node = self.any_node();
                self.nodes[node].add(Action::Nop, &[], &[]);
            }
            51..56 if self.shape.wtime => self.wtime(),
            _ => local::event(self),
        }
    }

    fn calc(&mut self) {
        let node = self.any_node();
        let nanos = self.rng.random_range(0..=self.shape.calc_nanos_max);
        let placement = self.placement();
        self.nodes[node].add(Action::Calc { nanos, placement }, &[], &[]);
    }

    fn wtime(&mut self) {
        let node = self.any_node();
        if let Some(pieces) = buffer(&mut self.rng, &self.nodes[node], 8, Use::Write, false, &[]) {
            let (addr, space) = (pieces[0].addr, pieces[0].space);
            self.nodes[node].add(Action::Wtime { addr, space }, &[], &pieces);
            self.nodes[node].cells.write(&pieces, &[Cell::PLAIN; 8]);
        }
    }

    /// Adds a few unnecessary dependencies of this event's actions on those of earlier events.
    fn extra_dependencies(&mut self, before: &[usize]) {
        for (node, &before) in self.nodes.iter_mut().zip(before) {
            for index in before..node.len() {
                while before > 0 && self.rng.random_bool(0.2) {
                    let earlier = self.rng.random_range(0..before);
                    if self.shape.start_dependencies && self.rng.random() {
                        node.require_start(index, earlier);
                    } else {
                        node.require(index, earlier);
                    }
                }
            }
        }
    }

    /// A size from 1 to `max`; small sizes are as likely as large ones.
    pub(crate) fn size(&mut self, max: u64) -> u64 {
        let bits = self.rng.random_range(0..=u64::BITS - max.max(1).leading_zeros());
        self.rng.random_range(1..=max.max(1).min(1 << bits))
    }

    /// A size of at most `max`: half of the time that of the last written buffer of a node.
    pub(crate) fn size_on(&mut self, node: usize, max: u64) -> u64 {
        let recent = self.nodes[node].recent.map(|piece| piece.size).filter(|&size| size <= max);
        match recent {
            Some(size) if self.rng.random() => size,
            _ => self.size(max),
        }
    }

    pub(crate) fn any_node(&mut self) -> usize {
        self.rng.random_range(0..self.nodes.len())
    }

    pub(crate) fn placement(&mut self) -> Placement {
        let mut small = || if self.rng.random_bool(0.2) { self.rng.random_range(0..4) } else { 0 };
        Placement { cpu: small(), nic: small() }
    }

    /// The way in which messages between two nodes are distinguished, decided for the first one.
    pub(crate) fn mode(&mut self, from: usize, to: usize, first: Option<PairMode>) -> PairMode {
        let random = if self.rng.random() { PairMode::Ordered } else { PairMode::Tagged };
        *self.modes.entry((from, to)).or_insert(first.unwrap_or(random))
    }

    /// Orders a message after the last one between the same ranks that it could be taken for.
    pub(crate) fn order_message(&mut self, send: End, recv: End, tag: Option<u32>) {
        let ends = (send.action, recv.action);
        if let Some((last_send, last_recv)) = self.last.insert((send.rank, recv.rank, tag), ends) {
            self.order(send.node, send.action, last_send);
            self.order(recv.node, recv.action, last_recv);
        }
    }

    /// Starts `later` after `earlier`.
    fn order(&mut self, node: usize, later: usize, earlier: usize) {
        if self.shape.start_dependencies && self.rng.random_bool(0.6) {
            self.nodes[node].require_start(later, earlier);
        } else {
            self.nodes[node].require(later, earlier);
        }
    }

    fn finish(mut self) -> Program {
        let mut program = ProgramBuilder::default();
        let mut bodies = BTreeMap::new();
        for node in &self.nodes {
            let body = program.body(node.finish(&mut self.rng));
            bodies.extend(node.members.iter().map(|&rank| (rank, body)));
        }
        self.images.sort_by_key(|(rank, _)| *rank);
        let mut images: Vec<(u32, Option<ImageId>)> = Vec::new();
        for (rank, image) in self.images {
            images.push((rank, (!image.is_empty()).then(|| program.image(image))));
        }
        for (rank, image) in images {
            program.rank(bodies[&rank], image);
        }
        program.finish()
    }
}
