//! Checks one rank of a LogGOPSim binary, and reads it as it lies there or as a [`Body`].

use super::file::{File, Result, error};
use super::write::max_of;
use super::{collective, node};
use goal_lang::{
    ANY, Action, ActionId, Body, CollectiveForm, CollectiveStatement, Csr, Cycle, Payload,
    Placement, StatedOrder, StatedRows, is_marker, topological_order,
};
use std::ops::Range;

/// `MPI_ANY_SOURCE` of MPICH, -2. ATLAHS's Schedgen writes it as the traces have it.
const ANY_OF_MPICH: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
pub(super) struct RankReader<'a> {
    /// The bytes of the rank.
    pub(super) file: File<'a>,
    /// The byte of the file at which they begin.
    pub(super) start: usize,
    pub(super) rank: u32,
    pub(super) ranks: u32,
    /// The highest cpu and the highest nic that the header states.
    pub(super) placement_max: Placement,
}

/// A rank of a LogGOPSim binary that was checked: its operations as they lie in the file.
#[derive(Clone, Copy)]
pub struct RankRecords<'a> {
    reader: RankReader<'a>,
    places: Places,
    has_markers: bool,
    /// The number of collective statements.
    collectives: u32,
}

/// Memory that the checks of all ranks share.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By operation, the dependencies that were not found yet.
    missing: Vec<u32>,
    /// By entry of the appendix, true if an operation names it.
    is_used: Vec<bool>,
}

/// The two kinds of dependents: the fields with their number and their first entry.
const KINDS: [(Range<usize>, Range<usize>); 2] = [
    (node::DEPENDENTS, node::FIRST_DEPENDENT),
    (node::START_DEPENDENTS, node::FIRST_START_DEPENDENT),
];

/// The counts of a rank's nodes and roots, and the places of its parts among its bytes.
#[derive(Clone, Copy)]
struct Places {
    nodes: u32,
    roots: u32,
    first_root: usize,
    first_node: usize,
    appendix: usize,
    /// The number of entries of the appendix.
    entries: usize,
}

impl Places {
    fn node(&self, i: usize) -> usize {
        self.first_node + node::LENGTH * i
    }
}

impl<'a> RankReader<'a> {
    /// Checks the rank.
    pub(super) fn check(self, scratch: &mut Scratch) -> Result<RankRecords<'a>> {
        let (records, highest) =
            self.check_records(scratch).map_err(|error| error.behind(self.start))?;
        if max_of(highest, self.placement_max) == self.placement_max {
            return Ok(records);
        }
        let (rank, Placement { cpu, nic }) = (self.rank, highest);
        error(
            12,
            format!(
                "rank {rank} names cpu {cpu} or nic {nic}, above the highest that the file states"
            ),
        )
    }

    /// Checks the records and their dependencies. Also returns the highest cpu and nic. Errors
    /// count bytes from the start of the rank.
    fn check_records(self, scratch: &mut Scratch) -> Result<(RankRecords<'a>, Placement)> {
        let rank = self.rank;
        let places = self.places()?;
        let mut highest = Placement::default();
        let mut counts = 0;
        let mut has_markers = false;
        let mut collectives = 0;
        for i in 0..places.nodes as usize {
            let collective = collective::read(self.file, places.node(i), i);
            collectives += u32::from(collective.is_some());
            let named = match collective.map(|stated| stated.form) {
                Some(CollectiveForm::Group { placement, .. }) => placement,
                _ => {
                    let action = self.action(places.node(i))?;
                    has_markers |= matches!(action, Action::Marker { .. });
                    action.placement()
                }
            };
            highest = max_of(highest, named);
            for count in [node::DEPENDENCIES, node::DEPENDENTS, node::START_DEPENDENTS] {
                counts |= self.file.u32(places.node(i) + count.start);
            }
        }
        let mut goes_on = true;
        if places.entries > 0 || counts > 0 {
            goes_on = self.check_dependencies(places, scratch)?;
        }
        self.check_roots(places)?;
        let records = RankRecords { reader: self, places, has_markers, collectives };
        if !goes_on && let Err(Cycle(path)) = topological_order(&records.body()) {
            let at = places.node(path[0].index());
            return error(
                at,
                format!("operations of rank {rank} wait for each other, {} in all", path.len()),
            );
        }
        Ok((records, highest))
    }

    fn places(&self) -> Result<Places> {
        let (rank, length) = (self.rank, self.file.0.len());
        if length < 8 {
            return error(0, format!("rank {rank} has no room for its counts"));
        }
        let (nodes, roots) = (self.file.u32(0), self.file.u32(4));
        let first_root = 8;
        let first_node = first_root as u64 + 4 * u64::from(roots);
        let appendix = first_node + node::LENGTH as u64 * u64::from(nodes);
        if appendix > length as u64 || !(length as u64 - appendix).is_multiple_of(4) {
            return error(0, format!("{nodes} operations and {roots} roots don't fit rank {rank}"));
        }
        let (first_node, appendix) = (first_node as usize, appendix as usize);
        let entries = (length - appendix) / 4;
        if u32::try_from(entries).is_err() {
            return error(
                appendix,
                format!("rank {rank} has more dependencies than 32-bit indices hold"),
            );
        }
        Ok(Places { nodes, roots, first_root, first_node, appendix, entries })
    }

    /// Checks both kinds of dependencies. Returns true if all operations come before those that
    /// wait for them.
    fn check_dependencies(&self, places: Places, scratch: &mut Scratch) -> Result<bool> {
        let (rank, nodes) = (self.rank, places.nodes as usize);
        let Scratch { missing, is_used } = scratch;
        missing.clear();
        missing
            .extend((0..nodes).map(|i| self.file.u32(places.node(i) + node::DEPENDENCIES.start)));
        is_used.clear();
        is_used.resize(places.entries, false);
        let mut goes_on = true;
        for (count, first) in KINDS {
            for i in 0..nodes {
                let at = places.node(i) + count.start;
                let len = self.file.u32(at) as usize;
                if len == 0 {
                    continue;
                }
                let index = self.file.u32(places.node(i) + first.start) as usize;
                if index + len > places.entries {
                    let end = index + len;
                    return error(
                        at,
                        format!("dependents {index} to {end} lie outside the appendix"),
                    );
                }
                for (j, is_used) in is_used[index..index + len].iter_mut().enumerate() {
                    let entry = places.appendix + 4 * (index + j);
                    if std::mem::replace(is_used, true) {
                        return error(
                            entry,
                            format!("two operations of rank {rank} share an entry of the appendix"),
                        );
                    }
                    goes_on &= self.waiter(entry, missing)?.index() > i;
                }
            }
        }
        if let Some(i) = missing.iter().position(|&missing| missing > 0) {
            return error(
                places.node(i),
                format!("operation {i} of rank {rank} has fewer dependencies than it says"),
            );
        }
        if let Some(unused) = is_used.iter().position(|is_used| !is_used) {
            return error(
                places.appendix + 4 * unused,
                format!("entry {unused} of the appendix of rank {rank} belongs to no operation"),
            );
        }
        Ok(goes_on)
    }

    /// Returns the operation that the appendix entry at byte `at` names. Subtracts one from the
    /// operation's count in `missing`, the dependencies that were not found yet.
    fn waiter(&self, at: usize, missing: &mut [u32]) -> Result<ActionId> {
        let (waiter, rank) = (self.file.u32(at), self.rank);
        let Some(missing) = missing.get_mut(waiter as usize) else {
            return error(at, format!("there is no operation {waiter} in rank {rank}"));
        };
        match missing.checked_sub(1) {
            Some(rest) => *missing = rest,
            None => {
                return error(
                    at,
                    format!("operation {waiter} of rank {rank} has more dependencies than it says"),
                );
            }
        }
        Ok(ActionId(waiter))
    }

    /// Checks the roots, which must be exactly the operations that wait for nothing.
    fn check_roots(&self, places: Places) -> Result<()> {
        let rank = self.rank;
        let waits = |i: usize| self.file.u32(places.node(i) + node::DEPENDENCIES.start) > 0;
        let roots = roots(self.file, places);
        if roots.clone().is_sorted_by(|a, b| a < b)
            && roots
                .clone()
                .map(|root| root as usize)
                .eq((0..places.nodes as usize).filter(|&i| !waits(i)))
        {
            return Ok(());
        }
        let mut is_missing: Vec<bool> = (0..places.nodes as usize).map(|i| !waits(i)).collect();
        for (i, root) in roots.enumerate() {
            match is_missing.get_mut(root as usize) {
                Some(missing) if *missing => *missing = false,
                _ => {
                    return error(
                        places.first_root + 4 * i,
                        format!("operation {root} of rank {rank} is no root, or listed twice"),
                    );
                }
            }
        }
        match is_missing.iter().position(|&missing| missing) {
            Some(i) => error(
                places.node(i),
                format!(
                    "operation {i} of rank {rank} waits for nothing and is not among the roots"
                ),
            ),
            None => Ok(()),
        }
    }

    fn action(&self, at: usize) -> Result<Action> {
        let bytes = self.file.0;
        let peer = self.file.u32(at + node::PEER.start);
        let size = self.file.u64(at + node::BYTES.start);
        let tag = self.file.u32(at + node::TAG.start);
        let placement = Placement { cpu: bytes[at + node::CPU].into(), nic: bytes[at + node::NIC] };
        let payload = Payload::Pattern { size };
        let known = peer < self.ranks;
        match bytes[at + node::TYPE] {
            node::SEND if tag == ANY => error(at + node::TAG.start, "a send needs a tag"),
            node::SEND if is_marker(size, peer, self.ranks) => {
                Ok(Action::Marker { to: peer, tag, placement })
            }
            node::SEND if !known => error(
                at + node::PEER.start,
                format!("there is no rank {peer} among {}", self.ranks),
            ),
            node::SEND => Ok(Action::Send { payload, to: peer, tag, placement }),
            node::RECV if !known && peer != ANY && peer != ANY_OF_MPICH => error(
                at + node::PEER.start,
                format!("there is no rank {peer} among {}", self.ranks),
            ),
            node::RECV => {
                let from = if known { peer } else { ANY };
                Ok(Action::Recv { payload, from, tag, placement })
            }
            node::CALC => Ok(Action::Calc { nanos: size, placement }),
            kind if collective::of(kind).is_some() => Ok(Action::Nop),
            other => error(at + node::TYPE, format!("there is no type of operation {other}")),
        }
    }
}

fn roots(file: File<'_>, places: Places) -> impl ExactSizeIterator<Item = u32> + Clone {
    (0..places.roots as usize).map(move |i| file.u32(places.first_root + 4 * i))
}

impl<'a> RankRecords<'a> {
    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.places.nodes as usize
    }

    /// Returns true if the rank has no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the rank has markers.
    pub fn has_markers(&self) -> bool {
        self.has_markers
    }

    /// Returns the operation at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn action(&self, index: usize) -> Action {
        assert!(index < self.len(), "there is no operation {index}");
        self.reader.action(self.places.node(index)).expect("it was checked")
    }

    /// Returns the number of dependencies that the operation at `index` waits for.
    pub fn missing(&self, index: usize) -> u32 {
        self.reader.file.u32(self.places.node(index) + node::DEPENDENCIES.start)
    }

    /// Returns the operations that wait for the end of the one at `index`, in the file's order.
    pub fn waiters(&self, index: usize) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.dependents(index, &KINDS[0])
    }

    /// Returns the operations that wait for the start of the one at `index`, in the file's order.
    pub fn start_waiters(&self, index: usize) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.dependents(index, &KINDS[1])
    }

    fn dependents(
        &self,
        index: usize,
        (count, first): &(Range<usize>, Range<usize>),
    ) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        let (file, at) = (self.reader.file, self.places.node(index));
        let len = file.u32(at + count.start) as usize;
        let entry = self.places.appendix + 4 * file.u32(at + first.start) as usize;
        (0..len).map(move |i| file.u32(entry + 4 * i))
    }

    /// Returns the operations that wait for nothing, in the file's order.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        roots(self.reader.file, self.places)
    }

    /// Returns the number of collective statements. They are dummies among the operations.
    pub fn num_collectives(&self) -> u32 {
        self.collectives
    }

    /// Returns the collective statements, in the file's order.
    fn collectives(&self) -> Vec<CollectiveStatement> {
        let indices = 0..if self.collectives > 0 { self.len() } else { 0 };
        let (file, places) = (self.reader.file, self.places);
        indices.filter_map(|index| collective::read(file, places.node(index), index)).collect()
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
            collectives: self.collectives(),
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
