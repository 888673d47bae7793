//! Groups of ranks with a matching space of their own.

use crate::error::{Error, ErrorCode, Result};
use goal_collectives::Nodes;
use goal_engine::WORLD;
use goal_lang::Neighbors;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Some ranks of the group, numbered anew, with a matching space of their own: a message in one
/// communicator never meets a receive in another.
///
/// All of its ranks start schedules on it in the same order, as MPI's ranks call collectives on a
/// communicator.
#[derive(Debug, Clone)]
pub struct Communicator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The number that all of its ranks know it by.
    id: u32,
    /// The number of the matching space of the library's own messages.
    shadow: u32,
    /// The rank of this process in it.
    rank: u32,
    size: u32,
    /// The rank in the group of each of its ranks; `None` if they are the same.
    ranks: Option<Box<[u32]>>,
    /// The neighbours of this process's rank, if the communicator has a graph.
    neighbors: Option<Neighbors>,
    /// A number for the host of each rank of the group, if there are several.
    hosts: Option<Arc<[u32]>>,
    /// The hosts of its ranks, if one of them has several ranks.
    nodes: Option<Arc<Nodes>>,
}

impl Communicator {
    /// The communicator of all ranks.
    pub(crate) fn world(rank: u32, size: u32, hosts: Option<Vec<u32>>) -> Self {
        let hosts: Option<Arc<[u32]>> = hosts.map(Arc::from);
        let nodes = match &hosts {
            Some(hosts) => nodes_of(hosts),
            None => nodes_of(&vec![0; size as usize]),
        };
        let (id, shadow, ranks, neighbors) = (WORLD, shadow_of(&[], 0), None, None);
        Self(Arc::new(Inner { id, shadow, rank, size, ranks, neighbors, hosts, nodes }))
    }

    /// This process's rank.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// The number of its matching space.
    pub(crate) fn id(&self) -> u32 {
        self.0.id
    }

    /// Returns the same ranks with the matching space of the library's own messages.
    pub(crate) fn shadow(&self) -> Self {
        let Inner { shadow, rank, size, .. } = *self.0;
        let (ranks, hosts, nodes) =
            (self.0.ranks.clone(), self.0.hosts.clone(), self.0.nodes.clone());
        let neighbors = None;
        Self(Arc::new(Inner { id: shadow, shadow, rank, size, ranks, neighbors, hosts, nodes }))
    }

    /// The ranks that this process's rank gets data from and sends data to in collectives of
    /// neighbours, if the communicator has a graph ([`Group::graph_communicator`]).
    ///
    /// [`Group::graph_communicator`]: crate::Group::graph_communicator
    pub fn neighbors(&self) -> Option<&Neighbors> {
        self.0.neighbors.as_ref()
    }

    /// The hosts of its ranks, if two levels of algorithms are of use.
    pub(crate) fn nodes(&self) -> Option<&Arc<Nodes>> {
        self.0.nodes.as_ref()
    }

    /// Returns the rank in the group of a rank of the communicator.
    pub fn in_group(&self, rank: u32) -> Option<u32> {
        match &self.0.ranks {
            None => (rank < self.0.size).then_some(rank),
            Some(ranks) => ranks.get(rank as usize).copied(),
        }
    }

    /// Returns the ranks in the group of all of its ranks.
    pub(crate) fn all_in_group(&self) -> Vec<u32> {
        match &self.0.ranks {
            None => (0..self.0.size).collect(),
            Some(ranks) => ranks.to_vec(),
        }
    }

    /// Returns true if its ranks are those of the job's start, with the same numbers.
    pub(crate) fn is_start(&self) -> bool {
        self.0.ranks.is_none()
    }

    /// The two ranks of a message that tells a new rank of its communicator: the one that accepts
    /// it, and the new one.
    pub(crate) fn welcome(own: u32, accepting: u32, new: u32) -> Self {
        // No list of ranks ends with this number.
        let id = number_of(&[new, u32::MAX - 1], 0);
        let (rank, ranks) = (u32::from(own == new), Some([accepting, new].into()));
        let (neighbors, hosts, nodes) = (None, None, None);
        let (shadow, size) = (id, 2);
        Self(Arc::new(Inner { id, shadow, rank, size, ranks, neighbors, hosts, nodes }))
    }

    /// Returns true if the two have the same matching space.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

/// Returns the nodes of ranks on these hosts, if one of them has several ranks.
fn nodes_of(hosts: &[u32]) -> Option<Arc<Nodes>> {
    let nodes = Nodes::new(hosts);
    (nodes.count() < nodes.ranks()).then(|| Arc::new(nodes))
}

/// The communicators that this process has made.
#[derive(Debug, Default)]
pub(crate) struct Communicators {
    /// For each list of ranks, the number of communicators that were made of it.
    made: FxHashMap<Box<[u32]>, u32>,
    ids: FxHashSet<u32>,
}

impl Communicators {
    /// Makes a communicator of `ranks`, which count in `parent`. Every rank in the list makes it;
    /// those that make several of the same ranks do so in the same order. No message is exchanged:
    /// its number follows from the list and from how often it was made.
    pub(crate) fn make(&mut self, parent: &Communicator, ranks: &[u32]) -> Result<Communicator> {
        self.make_in(parent, ranks, 0)
    }

    /// Makes a communicator of `ranks`, which count in `parent`, for ranks that have regrouped: in
    /// each generation above 0 it has other numbers, so that ranks need not have made the same
    /// communicators before.
    pub(crate) fn make_in(
        &mut self,
        parent: &Communicator,
        ranks: &[u32],
        generation: u32,
    ) -> Result<Communicator> {
        let mut in_group = Vec::with_capacity(ranks.len());
        let mut own = None;
        for (number, &rank) in ranks.iter().enumerate() {
            let Some(world) = parent.in_group(rank) else {
                let size = parent.size();
                let text =
                    format!("entry {number} is rank {rank}, and the communicator has {size}");
                return Err(Error::new(ErrorCode::Rank, text));
            };
            if world == parent.in_group(parent.rank()).unwrap_or(u32::MAX) {
                own = Some(number as u32);
            }
            in_group.push(world);
        }
        let mut sorted = in_group.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::new(ErrorCode::Rank, "a rank is in the list twice"));
        }
        let Some(rank) = own else {
            let text =
                "this process's own rank is not in the list: only ranks in the list may call this";
            return Err(Error::new(ErrorCode::Rank, text));
        };
        self.make_of(in_group.into_boxed_slice(), rank, parent.0.hosts.clone(), generation)
    }

    /// Makes a communicator of the ranks of `parent` followed by new ranks of the job. All of them
    /// make it, the new ones by [`make_first`](Self::make_first). They agree on its number, since
    /// no list with a new rank was made before.
    pub(crate) fn make_larger(
        &mut self,
        parent: &Communicator,
        new: &[u32],
    ) -> Result<Communicator> {
        let old = (0..parent.size()).filter_map(|rank| parent.in_group(rank));
        let list: Box<[u32]> = old.chain(new.iter().copied()).collect();
        self.make_of(list, parent.rank(), parent.0.hosts.clone(), 0)
    }

    /// Makes the communicator in which this process, a new rank of the job, was accepted.
    pub(crate) fn make_first(&mut self, own: u32, list: Box<[u32]>) -> Result<Communicator> {
        let Some(rank) = list.iter().position(|&rank| rank == own) else {
            let text = "the rank that accepted this one did not name it";
            return Err(Error::new(ErrorCode::Internal, text));
        };
        self.make_of(list, rank as u32, None, 0)
    }

    /// Makes a communicator of ranks of the job, of which this process's is the one at `rank`.
    fn make_of(
        &mut self,
        list: Box<[u32]>,
        rank: u32,
        hosts: Option<Arc<[u32]>>,
        generation: u32,
    ) -> Result<Communicator> {
        // No list of ranks contains the second number.
        let marks: &[u32] = if generation > 0 { &[generation, u32::MAX - 1] } else { &[] };
        let name: Box<[u32]> = list.iter().chain(marks).copied().collect();
        let made = self.made.entry(name.clone()).or_insert(0);
        let (id, shadow) = (number_of(&name, *made), shadow_of(&name, *made));
        // Also if the number is taken here: the other ranks count too.
        *made += 1;
        let reserved = [WORLD, shadow_of(&[], 0)];
        let is_taken = |id: u32| reserved.contains(&id) || self.ids.contains(&id);
        if is_taken(id) || is_taken(shadow) || id == shadow {
            let text = "its number is that of another communicator of this process (1 in 4 billion): list the ranks in another order";
            return Err(Error::new(ErrorCode::Limit, text));
        }
        self.ids.extend([id, shadow]);
        let size = list.len() as u32;
        let host = |&rank: &u32| hosts.as_ref().map_or(0, |hosts| hosts[rank as usize]);
        let nodes = nodes_of(&list.iter().map(host).collect::<Vec<u32>>());
        let (ranks, neighbors) = (Some(list), None);
        Ok(Communicator(Arc::new(Inner { id, shadow, rank, size, ranks, neighbors, hosts, nodes })))
    }

    /// Makes a communicator of all ranks of `parent` with a graph. All of these ranks make it, in
    /// the same order as others of `parent`. No message is exchanged.
    pub(crate) fn make_graph(
        &mut self,
        parent: &Communicator,
        neighbors: Neighbors,
    ) -> Result<Communicator> {
        let (own, size) = (parent.rank(), parent.size());
        let lists = [("source", &neighbors.sources), ("destination", &neighbors.destinations)];
        for (name, list) in lists {
            if let Some(at) = list.iter().position(|&rank| rank >= size) {
                let text =
                    format!("{name} {at} is rank {}, and the communicator has {size}", list[at]);
                return Err(Error::new(ErrorCode::Rank, text));
            }
        }
        let [from, to] = lists.map(|(_, list)| list.iter().filter(|&&rank| rank == own).count());
        if from != to {
            let text = format!(
                "rank {own} is {from} times among its own sources, and {to} times among its own destinations: an edge is in both lists"
            );
            return Err(Error::new(ErrorCode::Rank, text));
        }
        let all: Vec<u32> = (0..size).collect();
        let Communicator(made) = self.make(parent, &all)?;
        let made = Arc::into_inner(made).expect("it is new");
        Ok(Communicator(Arc::new(Inner { neighbors: Some(neighbors), ..made })))
    }
}

/// Returns the number of a communicator: a hash (FNV-1a, folded) of its ranks, and behind it the
/// next ones for the others that are made of them, so that those never meet. It is the same on
/// every machine.
fn number_of(ranks: &[u32], before: u32) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in ranks.iter().flat_map(|word| word.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    ((hash >> 32) as u32 ^ hash as u32).wrapping_add(before)
}

/// Returns the number of the matching space of the library's own messages in a communicator.
fn shadow_of(ranks: &[u32], before: u32) -> u32 {
    let marked: Vec<u32> = ranks.iter().copied().chain([u32::MAX]).collect();
    number_of(&marked, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_without_a_message() {
        let of = |rank| {
            let (world, mut made) = (Communicator::world(rank, 4, None), Communicators::default());
            [&[3, 1, 0][..], &[3, 1, 0], &[0, 3, 1]].map(|list| made.make(&world, list).unwrap())
        };
        let (zero, three) = (of(0), of(3));
        for (zero, three) in zero.iter().zip(&three) {
            assert!(zero.is_same(three));
            assert_eq!((zero.size(), zero.in_group(zero.rank())), (3, Some(0)));
            assert_eq!(three.in_group(three.rank()), Some(3));
        }
        assert!(!zero[0].is_same(&zero[1]) && !zero[0].is_same(&zero[2]));
    }

    #[test]
    fn a_list_makes_any_number_of_communicators() {
        let (world, mut made) = (Communicator::world(0, 1, None), Communicators::default());
        assert!((0..200_000).all(|_| made.make(&world, &[0]).is_ok()));
    }

    #[test]
    fn lists_are_checked() {
        let (world, mut made) = (Communicator::world(1, 4, None), Communicators::default());
        let mut says = |ranks: &[u32]| made.make(&world, ranks).unwrap_err().to_string();
        assert_eq!(says(&[1, 4]), "entry 1 is rank 4, and the communicator has 4");
        assert_eq!(says(&[1, 2, 1]), "a rank is in the list twice");
        assert!(says(&[0, 2]).starts_with("this process's own rank is not in the list"));
        assert!(says(&[]).starts_with("this process's own rank is not in the list"));
    }

    #[test]
    fn hosts_become_nodes_if_one_has_several_ranks() {
        let mut made = Communicators::default();
        let world = Communicator::world(0, 5, Some(vec![7, 7, 4, 4, 4]));
        let nodes = world.nodes().unwrap();
        assert_eq!((nodes.count(), nodes.leaders()[..].to_vec()), (2, vec![0, 2]));
        let mixed = made.make(&world, &[3, 0, 1, 2]).unwrap();
        let nodes = mixed.nodes().unwrap();
        assert_eq!((nodes.place(3), nodes.is_contiguous()), ((0, 1), false));
        // The ranks of one host, and one rank of each host.
        assert_eq!(made.make(&mixed, &[1, 2]).unwrap().nodes().unwrap().count(), 1);
        assert!(made.make(&world, &[0, 4]).unwrap().nodes().is_none());
        let one = Communicator::world(0, 5, None);
        assert_eq!(one.nodes().unwrap().count(), 1);
        assert_eq!(made.make(&one, &[1, 0]).unwrap().nodes().unwrap().count(), 1);
        assert!(made.make(&one, &[0]).unwrap().nodes().is_none());
    }

    #[test]
    fn graphs_are_checked() {
        let (world, mut made) = (Communicator::world(1, 4, None), Communicators::default());
        let graph = |sources: &[u32], destinations: &[u32]| Neighbors {
            sources: sources.into(),
            destinations: destinations.into(),
        };
        let right = made.make_graph(&world, graph(&[0, 1, 0], &[1, 3])).unwrap();
        assert_eq!(right.neighbors(), Some(&graph(&[0, 1, 0], &[1, 3])));
        assert_eq!((right.rank(), right.size(), right.is_same(&world)), (1, 4, false));
        let mut says = |sources: &[u32], destinations: &[u32]| {
            made.make_graph(&world, graph(sources, destinations)).unwrap_err().to_string()
        };
        assert_eq!(says(&[0, 4], &[]), "source 1 is rank 4, and the communicator has 4");
        assert_eq!(says(&[], &[9]), "destination 0 is rank 9, and the communicator has 4");
        assert!(says(&[1, 1], &[1]).starts_with("rank 1 is 2 times among its own sources, and 1"));
    }

    #[test]
    fn ranks_of_ranks() {
        let (world, mut made) = (Communicator::world(2, 4, None), Communicators::default());
        let inner = made.make(&world, &[3, 2, 1]).unwrap();
        let pair = made.make(&inner, &[2, 1]).unwrap();
        assert_eq!((pair.rank(), pair.in_group(0), pair.in_group(1)), (1, Some(1), Some(2)));
    }
}
