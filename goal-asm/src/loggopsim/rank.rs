//! Reads one rank of a LogGOPSim binary as a [`Body`].

use super::file::{File, Result, error};
use super::node;
use super::write::{max_of, placement};
use goal_lang::{
    ANY, Action, ActionId, Body, Csr, Cycle, Payload, Placement, StatedOrder, StatedRows,
    topological_order,
};
use std::ops::Range;

pub(super) struct RankReader<'a> {
    pub(super) file: File<'a>,
    pub(super) rank: u32,
    pub(super) ranks: u32,
    /// The highest cpu and the highest nic that the header states.
    pub(super) placement_max: Placement,
}

/// The counts of a rank's nodes and roots, and the places of its parts in the file.
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

/// A rank's dependencies of one kind: on the completion of operations, or on their start.
struct Dependencies {
    edges: Csr,
    /// The rows that the file does not state in ascending order.
    stated: StatedRows,
}

impl Places {
    fn node(&self, i: usize) -> usize {
        self.first_node + node::LENGTH * i
    }
}

impl RankReader<'_> {
    /// Reads the graph of the rank at `range`.
    pub(super) fn body(&self, range: Range<usize>) -> Result<Body> {
        let rank = self.rank;
        let places = self.places(range)?;
        let mut body =
            Body { actions: Vec::with_capacity(places.nodes as usize), ..Body::default() };
        let mut highest = Placement::default();
        let mut stated_dependencies = 0u64;
        for i in 0..places.nodes as usize {
            let action = self.action(places.node(i))?;
            highest = max_of(highest, placement(&action));
            body.actions.push(action);
            stated_dependencies +=
                u64::from(self.file.u32(places.node(i) + node::DEPENDENCIES.start));
        }
        if max_of(highest, self.placement_max) != self.placement_max {
            let Placement { cpu, nic } = highest;
            return error(
                12,
                format!(
                    "rank {rank} names cpu {cpu} or nic {nic}, above the highest that the file states"
                ),
            );
        }
        let mut order = StatedOrder::default();
        if places.entries > 0 || stated_dependencies > 0 {
            let [requires, irequires] = self.dependencies(places)?;
            (body.requires, order.requires) = (requires.edges, requires.stated);
            (body.irequires, order.irequires) = (irequires.edges, irequires.stated);
        }
        order.roots = self.roots(places)?;
        body.debug.order = order.boxed();
        let goes_on = |csr: &Csr| csr.edges().all(|edge| edge.prerequisite < edge.waiter);
        if !(goes_on(&body.requires) && goes_on(&body.irequires))
            && let Err(Cycle(path)) = topological_order(&body)
        {
            let at = places.node(path[0].index());
            return error(
                at,
                format!("operations of rank {rank} wait for each other, {} in all", path.len()),
            );
        }
        Ok(body)
    }

    fn places(&self, range: Range<usize>) -> Result<Places> {
        let rank = self.rank;
        if range.len() < 8 {
            return error(range.start, format!("rank {rank} has no room for its counts"));
        }
        let (nodes, roots) = (self.file.u32(range.start), self.file.u32(range.start + 4));
        let first_root = range.start + 8;
        let first_node = first_root as u64 + 4 * u64::from(roots);
        let appendix = first_node + node::LENGTH as u64 * u64::from(nodes);
        if appendix > range.end as u64 || !(range.end as u64 - appendix).is_multiple_of(4) {
            return error(
                range.start,
                format!("{nodes} operations and {roots} roots don't fit rank {rank}"),
            );
        }
        let (first_node, appendix) = (first_node as usize, appendix as usize);
        let entries = (range.end - appendix) / 4;
        if u32::try_from(entries).is_err() {
            return error(
                appendix,
                format!("rank {rank} has more dependencies than 32-bit indices hold"),
            );
        }
        Ok(Places { nodes, roots, first_root, first_node, appendix, entries })
    }

    /// Reads both kinds of dependencies. Returns those on completion first, then those on the
    /// start.
    fn dependencies(&self, places: Places) -> Result<[Dependencies; 2]> {
        let rank = self.rank;
        let mut missing: Vec<u32> = (0..places.nodes as usize)
            .map(|i| self.file.u32(places.node(i) + node::DEPENDENCIES.start))
            .collect();
        let mut is_used = vec![false; places.entries];
        let mut kind = |count: Range<usize>, first: Range<usize>| -> Result<Dependencies> {
            let mut starts = Vec::with_capacity(places.nodes as usize + 1);
            let mut waiters = Vec::new();
            starts.push(0);
            for i in 0..places.nodes as usize {
                let at = places.node(i) + count.start;
                let len = self.file.u32(at) as usize;
                if len > 0 {
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
                                format!(
                                    "two operations of rank {rank} share an entry of the appendix"
                                ),
                            );
                        }
                        waiters.push(self.waiter(entry, &mut missing)?);
                    }
                }
                starts.push(waiters.len() as u32);
            }
            let (edges, stated) = Csr::from_rows(starts, waiters);
            Ok(Dependencies { edges, stated })
        };
        let requires = kind(node::DEPENDENTS, node::FIRST_DEPENDENT)?;
        let irequires = kind(node::START_DEPENDENTS, node::FIRST_START_DEPENDENT)?;
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
        Ok([requires, irequires])
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

    /// Reads the roots, which must be exactly the operations that wait for nothing. Returns an
    /// empty list if the roots ascend, otherwise the roots in the file's order.
    fn roots(&self, places: Places) -> Result<Vec<ActionId>> {
        let rank = self.rank;
        let waits = |i: usize| self.file.u32(places.node(i) + node::DEPENDENCIES.start) > 0;
        let roots = (0..places.roots as usize).map(|i| self.file.u32(places.first_root + 4 * i));
        if roots.clone().is_sorted_by(|a, b| a < b)
            && roots
                .clone()
                .map(|root| root as usize)
                .eq((0..places.nodes as usize).filter(|&i| !waits(i)))
        {
            return Ok(Vec::new());
        }
        let mut is_missing: Vec<bool> = (0..places.nodes as usize).map(|i| !waits(i)).collect();
        for (i, root) in roots.clone().enumerate() {
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
            None => Ok(roots.map(ActionId).collect()),
        }
    }

    fn action(&self, at: usize) -> Result<Action> {
        let bytes = self.file.0;
        let peer = self.file.u32(at + node::PEER.start);
        let size = self.file.u64(at + node::BYTES.start);
        let tag = self.file.u32(at + node::TAG.start);
        let placement = Placement { cpu: bytes[at + node::CPU], nic: bytes[at + node::NIC] };
        let payload = Payload::Pattern { size };
        let known = peer < self.ranks;
        match bytes[at + node::TYPE] {
            node::SEND if !known => error(
                at + node::PEER.start,
                format!("there is no rank {peer} among {}", self.ranks),
            ),
            node::SEND if tag == ANY => error(at + node::TAG.start, "a send needs a tag"),
            node::SEND => Ok(Action::Send { payload, to: peer, tag, placement }),
            node::RECV if !known && peer != ANY => error(
                at + node::PEER.start,
                format!("there is no rank {peer} among {}", self.ranks),
            ),
            node::RECV => Ok(Action::Recv { payload, from: peer, tag, placement }),
            node::CALC => Ok(Action::Calc { nanos: size, placement }),
            other => error(at + node::TYPE, format!("there is no type of operation {other}")),
        }
    }
}
