//! Defines communicators: groups of ranks with a matching space of their own, as in MPI.
//!
//! A communicator has a number of 48 bits, which messages carry. The number follows from the list
//! of ranks, and from how many communicators of this list were made before. So the ranks agree on
//! the number without a message. Two communicators that exist at the same time have equal numbers
//! with a probability of 1 in 2^47. The lowest bit of a number selects the matching space of the
//! library's own messages.
//!
//! The number is free again when the communicator and all objects that use it are freed. Only a
//! count for each list of ranks stays, which takes 16 bytes a list.

use crate::error::{Error, ErrorCode, Result};
use crate::returned::{Lease, Number};
use goal_collectives::Nodes;
use goal_engine::{COMMUNICATOR_BITS, WORLD};
use goal_lang::Neighbors;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Some ranks of the group, numbered from 0 on, with a matching space of their own. A message in
/// one communicator never matches a receive in another.
///
/// All ranks of a communicator must start schedules on it in the same order, as ranks call
/// collectives in MPI.
#[derive(Debug, Clone)]
pub struct Communicator {
    inner: Arc<Inner>,
    /// The program's use of the communicator. It is `None` for uses by the library, and for the
    /// communicator of all ranks that the job started with. When the last lease is dropped, the
    /// program can't use the communicator any more.
    _lease: Option<Arc<Lease>>,
    /// True if this value stands for the matching space of the library's own messages.
    is_shadow: bool,
}

/// The bit of a communicator's number that names the matching space of the library's own messages.
pub(crate) const SHADOW: u64 = 1;

#[derive(Debug)]
struct Inner {
    /// The number of the communicator, which is the same on all of its ranks.
    number: Number,
    /// The rank of this process in the communicator.
    rank: u32,
    size: u32,
    /// The group's rank for each rank of the communicator; `None` if both numberings are equal.
    ranks: Option<Box<[u32]>>,
    /// The neighbours of this process's rank, if the communicator has a graph.
    neighbors: Option<Neighbors>,
    /// The number of the host of each rank of the group; `None` if there is one host.
    hosts: Option<Arc<[u32]>>,
    /// The ranks of the communicator by host; `None` if no host has several of them.
    nodes: Option<Arc<Nodes>>,
    /// The number of times that the surviving ranks had regrouped when they made the communicator,
    /// or the one that it was made from.
    generation: u32,
}

impl Communicator {
    /// Returns the communicator of all ranks that the job started with.
    pub(crate) fn world(rank: u32, size: u32, hosts: Option<Vec<u32>>) -> Self {
        let hosts: Option<Arc<[u32]>> = hosts.map(Arc::from);
        let nodes = match &hosts {
            Some(hosts) => nodes_of(hosts),
            None => nodes_of(&vec![0; size as usize]),
        };
        let (number, ranks, neighbors) = (Number(WORLD), None, None);
        let generation = 0;
        Self::from_inner(Inner { number, rank, size, ranks, neighbors, hosts, nodes, generation })
    }

    /// Returns a communicator that the program does not own.
    fn from_inner(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), _lease: None, is_shadow: false }
    }

    /// Returns the rank of this process in the communicator.
    pub fn rank(&self) -> u32 {
        self.inner.rank
    }

    /// Returns the number of ranks of the communicator.
    pub fn size(&self) -> u32 {
        self.inner.size
    }

    /// Returns the number of the matching space.
    pub(crate) fn id(&self) -> u64 {
        self.inner.number.0 | if self.is_shadow { SHADOW } else { 0 }
    }

    /// Returns the communicator for objects that the library keeps. The returned value does not
    /// count as a use by the program.
    pub(crate) fn without_lease(&self) -> Self {
        Self { _lease: None, ..self.clone() }
    }

    /// Returns a communicator of the same ranks in the matching space of the library's own
    /// messages.
    pub(crate) fn shadow(&self) -> Self {
        Self { is_shadow: true, ..self.clone() }
    }

    /// Returns the neighbours of this process's rank: the ranks with which it exchanges data in
    /// neighbourhood collectives. Returns `None` if the communicator has no graph
    /// ([`Group::graph_communicator`]).
    ///
    /// [`Group::graph_communicator`]: crate::Group::graph_communicator
    pub fn neighbors(&self) -> Option<&Neighbors> {
        self.inner.neighbors.as_ref().filter(|_| !self.is_shadow)
    }

    /// Returns the ranks of the communicator by host, for algorithms of two levels. Returns `None`
    /// if no host has several ranks.
    pub(crate) fn nodes(&self) -> Option<&Arc<Nodes>> {
        self.inner.nodes.as_ref()
    }

    /// Returns the group's rank for the communicator's rank `rank`; `None` if there is no such
    /// rank.
    pub fn in_group(&self, rank: u32) -> Option<u32> {
        match &self.inner.ranks {
            None => (rank < self.inner.size).then_some(rank),
            Some(ranks) => ranks.get(rank as usize).copied(),
        }
    }

    /// Returns the group's rank for each rank of the communicator, in order.
    pub(crate) fn all_in_group(&self) -> Vec<u32> {
        match &self.inner.ranks {
            None => (0..self.inner.size).collect(),
            Some(ranks) => ranks.to_vec(),
        }
    }

    /// Returns true if the communicator has the ranks that the job started with, under the same
    /// numbers.
    pub(crate) fn is_start(&self) -> bool {
        self.inner.ranks.is_none()
    }

    /// Returns the communicator for the message that tells a new rank the ranks of its first
    /// communicator. Its rank 0 is `accepting`, the rank that accepts the new one, and its rank 1
    /// is `new`.
    pub(crate) fn welcome(own: u32, accepting: u32, new: u32) -> Self {
        // No list of ranks ends with this number, so no other communicator gets the same number by
        // its list.
        let number = Number(number_of(hash_of(&[new, u32::MAX - 1]), 0));
        let (rank, size, ranks) = (u32::from(own == new), 2, Some([accepting, new].into()));
        let (neighbors, hosts, nodes) = (None, None, None);
        let generation = 0;
        Self::from_inner(Inner { number, rank, size, ranks, neighbors, hosts, nodes, generation })
    }

    /// Returns the number of times that the surviving ranks had regrouped when the communicator, or
    /// the one that it was made from, was made by them.
    pub(crate) fn generation(&self) -> u32 {
        self.inner.generation
    }

    /// Returns true if both communicators have the same matching space.
    pub fn is_same(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

/// Returns the ranks by host, from the host of each rank; `None` if no host has several ranks.
fn nodes_of(hosts: &[u32]) -> Option<Arc<Nodes>> {
    let nodes = Nodes::new(hosts);
    (nodes.count() < nodes.ranks()).then(|| Arc::new(nodes))
}

/// The communicators that this process has made.
#[derive(Debug, Default)]
pub(crate) struct Communicators {
    /// The number of communicators that were made of each list of ranks, by the list's hash. An
    /// entry must outlive the communicators, because the ranks free them at different times.
    made: FxHashMap<u64, u64>,
    /// The numbers of the communicators that still exist.
    numbers: FxHashSet<u64>,
}

impl Communicators {
    /// Makes a communicator of `ranks`, which are ranks of `parent`. Every rank in the list must
    /// call this. Communicators of the same ranks must be made in the same order everywhere. No
    /// message is exchanged: the number follows from the list, from how many communicators of it
    /// were made before, and from the generation of `parent`.
    pub(crate) fn make(&mut self, parent: &Communicator, ranks: &[u32]) -> Result<Communicator> {
        self.make_in(parent, ranks, parent.inner.generation)
    }

    /// Makes a communicator of `ranks`, which are ranks of `parent`, after the ranks have regrouped
    /// because of a loss. The numbers of communicators differ in each generation. So it does not
    /// matter if the ranks have made different communicators before.
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
        self.make_of(in_group.into_boxed_slice(), rank, parent.inner.hosts.clone(), generation)
    }

    /// Makes a communicator of the ranks of `parent`, followed by the new ranks `new` of the job.
    /// All of these ranks make it, the new ones by [`make_first`](Self::make_first). They agree on
    /// its number, since no communicator with a new rank was made before.
    pub(crate) fn make_larger(
        &mut self,
        parent: &Communicator,
        new: &[u32],
    ) -> Result<Communicator> {
        let old = (0..parent.size()).filter_map(|rank| parent.in_group(rank));
        let list: Box<[u32]> = old.chain(new.iter().copied()).collect();
        self.make_of(list, parent.rank(), parent.inner.hosts.clone(), 0)
    }

    /// Makes the first communicator of this process, a new rank of the job. `list` has the
    /// communicator's ranks, as numbers in the job.
    pub(crate) fn make_first(&mut self, own: u32, list: Box<[u32]>) -> Result<Communicator> {
        let Some(rank) = list.iter().position(|&rank| rank == own) else {
            let text = "the rank that accepted this one did not name it";
            return Err(Error::new(ErrorCode::Internal, text));
        };
        self.make_of(list, rank as u32, None, 0)
    }

    /// Makes a communicator of the ranks of the job in `list`. This process is the rank at index
    /// `rank` of the list.
    fn make_of(
        &mut self,
        list: Box<[u32]>,
        rank: u32,
        hosts: Option<Arc<[u32]>>,
        generation: u32,
    ) -> Result<Communicator> {
        // No list of ranks contains the second number, so the name differs from every list without
        // a generation.
        let marks: &[u32] = if generation > 0 { &[generation, u32::MAX - 1] } else { &[] };
        let name: Vec<u32> = list.iter().chain(marks).copied().collect();
        let hash = hash_of(&name);
        let made = self.made.entry(hash).or_insert(0);
        let number = number_of(hash, *made);
        // This counts even if the number is taken in this process, because the other ranks count
        // too.
        *made += 1;
        if number == WORLD || !self.numbers.insert(number) {
            let text = "its number is that of another communicator of this process (1 in 2^47 for each that lasts), so free that one, or list the ranks in another order on all of them";
            return Err(Error::new(ErrorCode::Limit, text));
        }
        let number = Number(number);
        let size = list.len() as u32;
        let host = |&rank: &u32| hosts.as_ref().map_or(0, |hosts| hosts[rank as usize]);
        let nodes = nodes_of(&list.iter().map(host).collect::<Vec<u32>>());
        let (ranks, neighbors) = (Some(list), None);
        let _lease = Some(Arc::new(Lease(number.0)));
        let made = Communicator::from_inner(Inner {
            number,
            rank,
            size,
            ranks,
            neighbors,
            hosts,
            nodes,
            generation,
        });
        Ok(Communicator { _lease, ..made })
    }

    /// Makes the numbers of communicators that nobody uses any more free again.
    pub(crate) fn take_back(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.numbers.remove(number);
        }
    }

    /// Makes a communicator of all ranks of `parent` with a graph of neighbours. All ranks of
    /// `parent` must call this, in the same order as they make other communicators of these ranks.
    /// No message is exchanged.
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
        let mut made = self.make(parent, &all)?;
        Arc::get_mut(&mut made.inner).expect("it is new").neighbors = Some(neighbors);
        Ok(made)
    }
}

/// Returns a hash of a list of ranks. It is the same on every machine. Each step is the finalizer
/// of SplitMix64 (Steele, Lea, Flood 2014), a permutation.
fn hash_of(ranks: &[u32]) -> u64 {
    ranks.iter().fold(ranks.len() as u64, |hash, &rank| {
        let mut word = (hash ^ u64::from(rank)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    })
}

/// Returns the number of a communicator from the hash of its list, and from the number `before` of
/// earlier communicators of the list. Communicators of one list have consecutive numbers, so these
/// never collide.
fn number_of(hash: u64, before: u64) -> u64 {
    const MASK: u64 = (1 << COMMUNICATOR_BITS) - 1;
    hash.wrapping_add(before) << 1 & MASK
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

    /// Numbers of 32 bits met after some ten thousand communicators.
    #[test]
    fn many_lists_make_communicators() {
        let (world, mut made) = (Communicator::world(0, 12, None), Communicators::default());
        for order in 0..200_000 {
            let (mut rest, mut order) = ((0..12).collect::<Vec<u32>>(), order);
            let list: Vec<u32> = (1..=rest.len())
                .rev()
                .map(|left| {
                    let at = order % left;
                    order /= left;
                    rest.remove(at)
                })
                .collect();
            made.make(&world, &list).unwrap();
        }
    }

    #[test]
    fn numbers_are_taken_back() {
        let (world, mut made) = (Communicator::world(0, 3, None), Communicators::default());
        for _ in 0..3 {
            for list in [&[0, 1, 2][..], &[1, 0], &[0]] {
                let number = made.make(&world, list).unwrap().id();
                assert!(made.numbers.contains(&number));
                made.take_back(&[number]);
            }
        }
        assert_eq!((made.numbers.len(), made.made.len()), (0, 3));
    }

    #[test]
    fn a_number_that_is_taken_is_refused() {
        let (world, mut made) = (Communicator::world(0, 2, None), Communicators::default());
        made.numbers.insert(number_of(hash_of(&[0, 1]), 1));
        assert!(made.make(&world, &[0, 1]).is_ok());
        let error = made.make(&world, &[0, 1]).unwrap_err();
        assert!(error.code() == ErrorCode::Limit && error.to_string().contains("1 in 2^47"));
        // The other ranks have made this one, and counted.
        let next = made.make(&world, &[0, 1]).unwrap();
        assert_eq!(next.id(), number_of(hash_of(&[0, 1]), 2));
        assert_eq!(next.shadow().id(), next.id() | SHADOW);
        assert!(next.shadow().id() < 1 << COMMUNICATOR_BITS);
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
    fn what_was_made_before_a_loss_does_not_count() {
        let (world, mut made) = (Communicator::world(0, 4, None), Communicators::default());
        let mut others = Communicators::default();
        // This rank alone has made the communicator before it learned of the loss.
        let before = made.make(&world, &[0, 1]).unwrap();
        let [own, other] = [&mut made, &mut others].map(|made| {
            let left = made.make_in(&world, &[0, 1, 3], 1).unwrap();
            made.make(&left, &[0, 1]).unwrap()
        });
        assert!(own.is_same(&other) && !own.is_same(&before));
        assert_eq!((before.generation(), own.generation()), (0, 1));
    }

    #[test]
    fn ranks_of_ranks() {
        let (world, mut made) = (Communicator::world(2, 4, None), Communicators::default());
        let inner = made.make(&world, &[3, 2, 1]).unwrap();
        let pair = made.make(&inner, &[2, 1]).unwrap();
        assert_eq!((pair.rank(), pair.in_group(0), pair.in_group(1)), (1, Some(1), Some(2)));
    }
}
