//! Holds the program under construction: its nodes, and the order of the messages so far.

use std::collections::BTreeMap;

use goal_lang::{ImageId, MemoryImage, Placement, Program, ProgramBuilder};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::image;
use crate::node::Node;
use crate::shape::Shape;

/// The way in which messages from one node to another are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairMode {
    /// All sends are ordered, and all receives are ordered too. So tags are free, and a receive may
    /// accept any tag.
    Ordered,
    /// Messages with the same tag are ordered, and others race. Groups with wildcards have their
    /// own tags.
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
    /// A node that receives one group and nothing else, so that its receives may accept any source
    /// and any tag.
    pub(crate) sink: Option<usize>,
    pub(crate) sink_used: bool,
    pub(crate) tag_base: u32,
    modes: BTreeMap<(usize, usize), PairMode>,
    /// The last send and the last receive between two ranks with a tag. The tag is `None` for an
    /// ordered pair, which has one entry for all tags.
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

    /// Returns a size from 1 to `max`. Small sizes are as likely as large ones.
    pub(crate) fn size(&mut self, max: u64) -> u64 {
        let bits = self.rng.random_range(0..=u64::BITS - max.max(1).leading_zeros());
        self.rng.random_range(1..=max.max(1).min(1 << bits))
    }

    /// Returns a size of at most `max`. Half of the time it is the size of the buffer that the node
    /// wrote last.
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
        Placement { cpu: small().into(), nic: small() }
    }

    /// Returns how messages between two nodes are kept apart. The first call for two nodes decides
    /// it.
    pub(crate) fn mode(&mut self, from: usize, to: usize, first: Option<PairMode>) -> PairMode {
        let random = if self.rng.random() { PairMode::Ordered } else { PairMode::Tagged };
        *self.modes.entry((from, to)).or_insert(first.unwrap_or(random))
    }

    /// Orders a message after the last message between the same ranks that could be taken for it.
    pub(crate) fn order_message(&mut self, send: End, recv: End, tag: Option<u32>) {
        let ends = (send.action, recv.action);
        if let Some((last_send, last_recv)) = self.last.insert((send.rank, recv.rank, tag), ends) {
            self.order(send.node, send.action, last_send);
            self.order(recv.node, recv.action, last_recv);
        }
    }

    /// Makes `later` start after `earlier`.
    fn order(&mut self, node: usize, later: usize, earlier: usize) {
        if self.shape.start_dependencies && self.rng.random_bool(0.6) {
            self.nodes[node].require_start(later, earlier);
        } else {
            self.nodes[node].require(later, earlier);
        }
    }

    /// Returns the finished program, with the text order of actions shuffled.
    pub(crate) fn finish(mut self) -> Program {
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
