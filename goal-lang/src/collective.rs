//! The collectives by name, and blocks of different sizes.

use std::fmt;
use std::sync::Arc;

/// The collectives of MPI (version 4, chapter 6) that programs are generated for and compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectiveKind {
    /// Every rank ends with the root's input.
    Bcast,
    /// The root ends with the combination of all inputs.
    Reduce,
    /// Every rank ends with the combination of all inputs.
    Allreduce,
    /// The root ends with the inputs of all ranks, in the order of ranks.
    Gather,
    /// Every rank ends with the inputs of all ranks, in the order of ranks.
    Allgather,
    /// Every rank ends with its block of the root's input.
    Scatter,
    /// Block r of every rank's input ends at rank r, in the order of ranks.
    Alltoall,
    /// Block r of the combination of all inputs ends at rank r.
    ReduceScatter,
    /// Rank r ends with the combination of the inputs of ranks 0 to r.
    Scan,
    /// Rank r ends with the combination of the inputs of ranks 0 to r - 1. Rank 0 may end with
    /// anything.
    Exscan,
    /// No rank ends before every rank has started.
    Barrier,
    /// Every rank ends with the inputs of its sources in a graph ([`Neighbors`]), in the order of
    /// the sources.
    NeighborAllgather,
    /// Block i of a rank's input ends at the rank's destination number i in a graph
    /// ([`Neighbors`]). Each destination stores its blocks in the order of its sources.
    NeighborAlltoall,
}

impl CollectiveKind {
    /// Every collective.
    pub const ALL: [CollectiveKind; 13] = [
        CollectiveKind::Bcast,
        CollectiveKind::Reduce,
        CollectiveKind::Allreduce,
        CollectiveKind::Gather,
        CollectiveKind::Allgather,
        CollectiveKind::Scatter,
        CollectiveKind::Alltoall,
        CollectiveKind::ReduceScatter,
        CollectiveKind::Scan,
        CollectiveKind::Exscan,
        CollectiveKind::Barrier,
        CollectiveKind::NeighborAllgather,
        CollectiveKind::NeighborAlltoall,
    ];

    /// The name in reports and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            CollectiveKind::Bcast => "bcast",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::Allreduce => "allreduce",
            CollectiveKind::Gather => "gather",
            CollectiveKind::Allgather => "allgather",
            CollectiveKind::Scatter => "scatter",
            CollectiveKind::Alltoall => "alltoall",
            CollectiveKind::ReduceScatter => "reduce-scatter",
            CollectiveKind::Scan => "scan",
            CollectiveKind::Exscan => "exscan",
            CollectiveKind::Barrier => "barrier",
            CollectiveKind::NeighborAllgather => "neighbor-allgather",
            CollectiveKind::NeighborAlltoall => "neighbor-alltoall",
        }
    }

    /// The article in front of the name in a sentence.
    pub const fn article(self) -> &'static str {
        use CollectiveKind as Kind;
        match self {
            Kind::Allreduce | Kind::Allgather | Kind::Alltoall | Kind::Exscan => "an",
            _ => "a",
        }
    }

    /// Returns true if an operation combines the inputs.
    pub const fn combines(self) -> bool {
        use CollectiveKind as Kind;
        matches!(
            self,
            Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter | Kind::Scan | Kind::Exscan
        )
    }

    /// Returns true if ranks exchange data with their neighbours in a graph only.
    pub const fn has_neighbors(self) -> bool {
        matches!(self, CollectiveKind::NeighborAllgather | CollectiveKind::NeighborAlltoall)
    }

    /// Returns true if the collective has a root, a rank with a part of its own.
    pub const fn has_root(self) -> bool {
        use CollectiveKind as Kind;
        matches!(self, Kind::Bcast | Kind::Reduce | Kind::Gather | Kind::Scatter)
    }
}

impl fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The blocks of a buffer, one for each rank (MPI's counts and displacements). A block has a number
/// of elements, which may be 0. Its place is counted in elements from the start of the buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockList {
    counts: Arc<[u64]>,
    displacements: Arc<[u64]>,
    is_packed: bool,
}

impl BlockList {
    /// Returns blocks that lie one behind the other without gaps.
    pub fn packed(counts: impl Into<Arc<[u64]>>) -> Self {
        let counts = counts.into();
        let displacements = counts.iter().scan(0u64, |next, count| {
            let at = *next;
            *next = next.saturating_add(*count);
            Some(at)
        });
        Self { displacements: displacements.collect(), counts, is_packed: true }
    }

    /// Returns blocks of `counts` elements at `displacements`. Returns `None` if the two lists
    /// differ in length.
    pub fn at(counts: impl Into<Arc<[u64]>>, displacements: impl Into<Arc<[u64]>>) -> Option<Self> {
        let (counts, displacements) = (counts.into(), displacements.into());
        if counts.len() != displacements.len() {
            return None;
        }
        let mut nexts = counts.iter().zip(&*displacements).zip(displacements.iter().skip(1));
        let is_packed = nexts.all(|((count, at), next)| at.checked_add(*count) == Some(*next));
        Some(Self { counts, displacements, is_packed })
    }

    /// Returns true if each block lies right behind the previous one.
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns true if there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the number of elements of each block.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the place of each block, in elements from the start of the buffer.
    pub fn displacements(&self) -> &[u64] {
        &self.displacements
    }

    /// Returns the number of elements from the start of the buffer to the end of the last block
    /// that has any. Returns `None` if the number is 2^64 or more.
    pub fn end(&self) -> Option<u64> {
        let blocks = self.counts.iter().zip(&*self.displacements);
        let mut ends =
            blocks.filter(|block| *block.0 > 0).map(|(count, at)| at.checked_add(*count));
        ends.try_fold(0, |last, end| Some(last.max(end?)))
    }

    /// Returns the number of elements of all blocks together, or 2^64 - 1 if there are more.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |total, count| total.saturating_add(*count))
    }

    /// Returns the numbers of two blocks that share elements, or `None` if no blocks do.
    pub fn overlapping(&self) -> Option<[usize; 2]> {
        let is_behind = |pair: [usize; 2]| {
            let end = self.displacements[pair[0]].saturating_add(self.counts[pair[0]]);
            end <= self.displacements[pair[1]]
        };
        let mut order: Vec<usize> = (0..self.len()).filter(|&at| self.counts[at] > 0).collect();
        if !order.windows(2).all(|pair| is_behind([pair[0], pair[1]])) {
            order.sort_by_key(|&at| self.displacements[at]);
        }
        let mut pairs = order.windows(2).map(|pair| [pair[0], pair[1]]);
        pairs.find(|&pair| !is_behind(pair))
    }
}

/// The neighbours of a rank in a directed graph (MPI version 4, section 8.6). Several edges may
/// lead from rank a to rank b. Then the first b among the destinations of a and the first a among
/// the sources of b are the same edge, and so on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Neighbors {
    /// The ranks that send data to this rank.
    pub sources: Arc<[u32]>,
    /// The ranks that this rank sends data to.
    pub destinations: Arc<[u32]>,
}

impl Neighbors {
    /// Returns the neighbours of a rank in a ring: the rank below and the rank above.
    pub fn ring(rank: u32, ranks: u32) -> Self {
        let next = if rank + 1 < ranks { rank + 1 } else { 0 };
        let last = if rank > 0 { rank - 1 } else { ranks - 1 };
        let both: Arc<[u32]> = [last, next].into();
        Self { sources: both.clone(), destinations: both }
    }

    /// Returns the neighbours of each rank in the graph of `edges`, in the order of the edges. An
    /// edge is a pair of a source and a destination.
    ///
    /// # Panics
    /// If an edge has a rank that is not below `ranks`.
    pub fn from_edges(ranks: u32, edges: &[(u32, u32)]) -> Vec<Self> {
        let mut all = vec![(Vec::new(), Vec::new()); ranks as usize];
        for &(source, destination) in edges {
            all[source as usize].1.push(destination);
            all[destination as usize].0.push(source);
        }
        let neighbors = |(sources, destinations): (Vec<u32>, Vec<u32>)| Self {
            sources: sources.into(),
            destinations: destinations.into(),
        };
        all.into_iter().map(neighbors).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_blocks_lie_one_behind_the_other() {
        let blocks = BlockList::packed([2, 0, 3]);
        assert_eq!(blocks.displacements(), [0, 2, 2]);
        assert_eq!((blocks.end(), blocks.total(), blocks.overlapping()), (Some(5), 5, None));
    }

    #[test]
    fn blocks_that_overlap_are_found_in_any_order() {
        let overlapping = |counts: [u64; 3], places: [u64; 3]| {
            BlockList::at(counts, places).expect("as many").overlapping()
        };
        assert_eq!(overlapping([2, 2, 2], [4, 0, 2]), None);
        assert_eq!(overlapping([2, 2, 2], [4, 0, 1]), Some([1, 2]));
        assert_eq!(overlapping([2, 0, 2], [4, 5, 2]), None, "an empty block overlaps nothing");
        assert_eq!(overlapping([1, 1, u64::MAX], [0, 1, 1]), Some([1, 2]));
        assert_eq!(BlockList::at([1, 2], [0]), None);
        assert_eq!(BlockList::at([1], [u64::MAX]).expect("one").end(), None);
    }
}
