//! A rank of a LogGOPSim binary that was checked, read as it lies there or as a [`Body`].

use super::file::File;
use super::operation::{Node, Operation, OperationKind};
use super::{collective, node};
use goal_lang::{
    Action, ActionId, Body, CollectiveStatement, Csr, Payload, StatedOrder, StatedRows,
};
use std::ops::Range;

/// A rank of a LogGOPSim binary that was checked: its operations as they lie in the file.
#[derive(Debug, Clone, Copy)]
pub struct RankRecords<'a> {
    /// The bytes of the rank.
    file: File<'a>,
    /// The number of ranks of the file.
    ranks: u32,
    places: Places,
}

/// The two kinds of dependents: the fields with their number and their first entry.
pub(super) const KINDS: [(Range<usize>, Range<usize>); 2] = [
    (node::DEPENDENTS, node::FIRST_DEPENDENT),
    (node::START_DEPENDENTS, node::FIRST_START_DEPENDENT),
];

/// The counts of a rank's nodes and roots, and the places of its parts among its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) nodes: u32,
    pub(super) roots: u32,
    first_node: usize,
    pub(super) appendix: usize,
    /// The number of entries of the appendix.
    pub(super) entries: usize,
}

/// The place of a rank's roots.
pub(super) const FIRST_ROOT: usize = 8;

impl Places {
    /// Returns the places in a rank of `length` bytes, which has room for them.
    #[inline]
    pub(super) fn new(nodes: u32, roots: u32, length: usize) -> Self {
        let first_node = FIRST_ROOT + 4 * roots as usize;
        let appendix = first_node + node::LENGTH * nodes as usize;
        let entries = (length.saturating_sub(appendix)) / 4;
        Self { nodes, roots, first_node, appendix, entries }
    }

    #[inline]
    pub(super) fn node(&self, i: usize) -> usize {
        self.first_node + node::LENGTH * i
    }
}

impl<'a> RankRecords<'a> {
    /// Returns the rank at its places, which were checked.
    pub(super) fn new(file: File<'a>, ranks: u32, places: Places) -> Self {
        Self { file, ranks, places }
    }

    /// Returns the number of operations.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.nodes as usize
    }

    /// Returns true if the rank has no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the operation at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn action(&self, index: usize) -> Action {
        let Operation { kind, peer, size, tag, placement, .. } = self.operation(index);
        let payload = Payload::Pattern { size };
        match kind {
            OperationKind::Send => Action::Send { payload, to: peer, tag, placement },
            OperationKind::Recv => Action::Recv { payload, from: peer, tag, placement },
            OperationKind::Calc => Action::Calc { nanos: size, placement },
            OperationKind::Marker => Action::Marker { to: peer, tag, placement },
            OperationKind::Collective => Action::Nop,
        }
    }

    /// Returns the fields of the operation at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn operation(&self, index: usize) -> Operation {
        assert!(index < self.len(), "there is no operation {index}");
        Node::at(self.file, self.places.node(index)).operation(self.ranks)
    }

    /// Returns a rank that was checked before.
    pub(super) fn of_checked(bytes: &'a [u8], ranks: u32) -> Self {
        let file = File(bytes);
        let [nodes, roots] = [file.u32(0), file.u32(4)];
        Self { file, ranks, places: Places::new(nodes, roots, bytes.len()) }
    }

    /// Returns the number of dependencies that the operation at `index` waits for.
    #[inline]
    pub fn missing(&self, index: usize) -> u32 {
        self.file.u32(self.places.node(index) + node::DEPENDENCIES.start)
    }

    /// Returns the operations that wait for the end of the one at `index`, in the file's order.
    #[inline]
    pub fn waiters(&self, index: usize) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.dependents(index, &KINDS[0])
    }

    /// Returns the operations that wait for the start of the one at `index`, in the file's order.
    #[inline]
    pub fn start_waiters(&self, index: usize) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.dependents(index, &KINDS[1])
    }

    #[inline]
    fn dependents(
        &self,
        index: usize,
        (count, first): &(Range<usize>, Range<usize>),
    ) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        let (file, at) = (self.file, self.places.node(index));
        let len = file.u32(at + count.start) as usize;
        let entry = self.places.appendix + 4 * file.u32(at + first.start) as usize;
        (0..len).map(move |i| file.u32(entry + 4 * i))
    }

    /// Returns the operations that wait for nothing, in the file's order.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        let (file, first) = (self.file, FIRST_ROOT);
        (0..self.places.roots as usize).map(move |i| file.u32(first + 4 * i))
    }

    /// Returns the number of collective statements. They are dummies among the operations.
    pub fn num_collectives(&self) -> u32 {
        self.collectives().count() as u32
    }

    /// Returns the collective statements, in the file's order.
    fn collectives(&self) -> impl Iterator<Item = CollectiveStatement> {
        let (file, places) = (self.file, self.places);
        (0..self.len()).filter_map(move |index| collective::read(file, places.node(index), index))
    }

    /// Returns the graph of the rank. If the file lists dependents and roots in another order than
    /// the graph, the body's [`StatedOrder`] keeps the file's order.
    pub fn body(&self) -> Body {
        let (requires, stated_requires) = self.rows(&KINDS[0]);
        let (irequires, stated_irequires) = self.rows(&KINDS[1]);
        let roots = self.roots().map(ActionId);
        let roots =
            if roots.clone().is_sorted_by(|a, b| a < b) { Vec::new() } else { roots.collect() };
        let order = StatedOrder { roots, requires: stated_requires, irequires: stated_irequires };
        let mut body = Body {
            actions: (0..self.len()).map(|index| self.action(index)).collect(),
            requires,
            irequires,
            collectives: self.collectives().collect(),
            ..Body::default()
        };
        body.debug.order = order.boxed();
        body
    }

    /// Returns a kind of dependencies, and the rows that the file does not state in ascending
    /// order.
    fn rows(&self, kind: &(Range<usize>, Range<usize>)) -> (Csr, StatedRows) {
        if self.places.entries == 0 {
            return Default::default();
        }
        let (mut starts, mut waiters) = (Vec::with_capacity(self.len() + 1), Vec::new());
        starts.push(0);
        for index in 0..self.len() {
            waiters.extend(self.dependents(index, kind).map(ActionId));
            starts.push(waiters.len() as u32);
        }
        Csr::from_rows(starts, waiters)
    }
}
