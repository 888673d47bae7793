//! Checks one rank of a LogGOPSim binary, whose bytes may come from anywhere.

use super::file::{File, Result, error};
use super::operation::{Node, has_peer};
use super::records::{FIRST_ROOT, KINDS, Places, RankRecords};
use super::write::max_of;
use super::{collective, node};
use goal_lang::{ANY, ActionId, Cycle, Placement, topological_order};

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

/// The numbers of operations that are neither messages nor computations.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Census {
    pub(super) markers: u64,
    pub(super) collectives: u64,
}

impl Census {
    fn add(&mut self, node: &Node, ranks: u32) {
        self.markers += u64::from(node.is_marker(ranks));
        self.collectives += u64::from(node.is_collective());
    }
}

/// Memory that the checks of all ranks share.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By operation, the dependencies that were not found yet.
    missing: Vec<u32>,
    /// By entry of the appendix, true if an operation names it.
    is_used: Vec<bool>,
}

impl<'a> RankReader<'a> {
    /// Checks the rank.
    pub(super) fn check(self, scratch: &mut Scratch) -> Result<RankRecords<'a>> {
        self.check_all(scratch).map(|(records, _)| records)
    }

    /// Checks the rank, and counts what it has besides messages and computations.
    pub(super) fn check_all(self, scratch: &mut Scratch) -> Result<(RankRecords<'a>, Census)> {
        let (records, census, highest) =
            self.check_records(scratch).map_err(|error| error.behind(self.start))?;
        if max_of(highest, self.placement_max) == self.placement_max {
            return Ok((records, census));
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
    fn check_records(self, scratch: &mut Scratch) -> Result<(RankRecords<'a>, Census, Placement)> {
        let rank = self.rank;
        let places = self.places()?;
        let mut highest = Placement::default();
        let mut counts = 0;
        let mut census = Census::default();
        for i in 0..places.nodes as usize {
            let at = places.node(i);
            let node = Node::at(self.file, at);
            if !node.is_right(self.ranks) {
                self.check_node(at)?;
            }
            highest = max_of(highest, node.placement);
            counts |= node.missing | node.dependents | node.start_dependents;
            census.add(&node, self.ranks);
        }
        let mut goes_on = true;
        if places.entries > 0 || counts > 0 {
            goes_on = self.check_dependencies(places, scratch)?;
        }
        self.check_roots(places)?;
        let records = self.records(places);
        if !goes_on && let Err(Cycle(path)) = topological_order(&records.body()) {
            let at = places.node(path[0].index());
            return error(
                at,
                format!("operations of rank {rank} wait for each other, {} in all", path.len()),
            );
        }
        Ok((records, census, highest))
    }

    fn places(&self) -> Result<Places> {
        let (rank, length) = (self.rank, self.file.0.len());
        if length < 8 {
            return error(0, format!("rank {rank} has no room for its counts"));
        }
        let (nodes, roots) = (self.file.u32(0), self.file.u32(4));
        let first_node = FIRST_ROOT as u64 + 4 * u64::from(roots);
        let appendix = first_node + node::LENGTH as u64 * u64::from(nodes);
        if appendix > length as u64 || !(length as u64 - appendix).is_multiple_of(4) {
            return error(0, format!("{nodes} operations and {roots} roots don't fit rank {rank}"));
        }
        let places = Places::new(nodes, roots, length);
        if u32::try_from(places.entries).is_err() {
            return error(
                places.appendix,
                format!("rank {rank} has more dependencies than 32-bit indices hold"),
            );
        }
        Ok(places)
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
        let roots = self.records(places).roots();
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
                        FIRST_ROOT + 4 * i,
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

    fn records(&self, places: Places) -> RankRecords<'a> {
        RankRecords::new(self.file, self.ranks, places)
    }

    /// Returns the error of the operation at byte `at`, if it is wrong.
    #[cold]
    fn check_node(&self, at: usize) -> Result<()> {
        let node = Node::at(self.file, at);
        match node.kind {
            node::SEND if node.tag == ANY => error(at + node::TAG.start, "a send needs a tag"),
            node::SEND | node::RECV if !has_peer(&node, self.ranks) => error(
                at + node::PEER.start,
                format!("there is no rank {} among {}", node.peer, self.ranks),
            ),
            node::SEND | node::RECV | node::CALC => Ok(()),
            kind if collective::of(kind).is_some() => Ok(()),
            other => error(at + node::TYPE, format!("there is no type of operation {other}")),
        }
    }
}
