//! Checks of blocks of different sizes, and of graphs of neighbours.

use super::{Layout, Unfit};
use crate::options::{Blocks, Collective};
use goal_lang::{BlockList, CollectiveKind, Neighbors};

impl Layout {
    /// Checks that the blocks of different sizes fit the collective and the ranks.
    pub(super) fn with_blocks(self) -> Result<Self, Unfit> {
        use CollectiveKind as Kind;
        let Collective { kind, blocks, input, output, .. } = &self.collective;
        let lists: Vec<&BlockList> = match (blocks, kind) {
            (
                Blocks::Each(list),
                Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::ReduceScatter,
            ) => vec![list],
            (Blocks::Pairs(pairs), Kind::Alltoall) => {
                let (given, ranks) = (pairs.len(), self.ranks);
                if given != ranks as usize {
                    return Err(Unfit::BlocksOfRanks { given, ranks });
                }
                pairs.iter().flatten().collect()
            }
            (Blocks::Pairs(pairs), _) if kind.has_neighbors() => {
                self.check_blocks_of_edges(pairs)?;
                pairs.iter().flatten().collect()
            }
            _ => return Err(Unfit::Blocks(*kind)),
        };
        let has_neighbors = kind.has_neighbors();
        if let Some(list) =
            lists.iter().find(|list| !has_neighbors && list.len() != self.ranks as usize)
        {
            return Err(Unfit::BlocksOfRanks { given: list.len(), ranks: self.ranks });
        }
        if let (Blocks::Pairs(pairs), false) = (blocks, has_neighbors) {
            let all = 0..self.ranks as usize;
            for (from, to) in all.clone().flat_map(|from| all.clone().map(move |to| (from, to))) {
                let sent = self.sent(from as u32).unwrap_or(&pairs[from][0]).counts()[to];
                let received = pairs[to][1].counts()[from];
                if sent != received {
                    return Err(Unfit::Pair { from, to, sent, received });
                }
            }
        }
        let start = (*output).max(input.unwrap_or(0));
        for list in &lists {
            let bytes = list.end().and_then(|end| end.checked_mul(self.width()));
            bytes.and_then(|bytes| bytes.checked_add(start)).ok_or(Unfit::Size)?;
        }
        if lists.iter().all(|list| list.total() == 0) {
            return Err(Unfit::Nothing);
        }
        Ok(self)
    }

    /// Checks that both ranks of each edge between neighbours know the edge.
    pub(super) fn with_edges(mut self) -> Result<Self, Unfit> {
        let (ranks, kind) = (self.ranks as usize, self.collective.kind);
        let Some(all) = &mut self.collective.neighbors else { return Ok(self) };
        let given = all.len();
        if given > ranks {
            return Err(Unfit::Neighbors { given, ranks: self.ranks });
        }
        // Ranks that are not given have no neighbours.
        *all = all.iter().cloned().chain((given..ranks).map(|_| Neighbors::default())).collect();
        if let Blocks::Pairs(pairs) = &mut self.collective.blocks {
            let sent = if kind == CollectiveKind::NeighborAllgather { &[0][..] } else { &[] };
            let none = [BlockList::packed(sent), BlockList::packed([])];
            let missing = (pairs.len()..ranks).map(|_| none.clone());
            *pairs = pairs.iter().cloned().chain(missing).collect();
        }
        let mut edges: Vec<(u32, u32, bool)> = Vec::new();
        for (rank, neighbors) in (0..).zip(all.iter()) {
            edges.extend(neighbors.destinations.iter().map(|&other| (rank, other, true)));
            edges.extend(neighbors.sources.iter().map(|&other| (other, rank, false)));
        }
        edges.sort_unstable();
        let mut pairs = edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        match pairs.find(|edges| 2 * edges.iter().filter(|edge| edge.2).count() != edges.len()) {
            Some(edges) => Err(Unfit::Edges { source_rank: edges[0].0, destination: edges[0].1 }),
            None => Ok(self),
        }
    }

    /// Checks the blocks of different sizes of a collective of neighbours: their number at each
    /// rank, and their sizes at both ends of each edge.
    fn check_blocks_of_edges(&self, pairs: &[[BlockList; 2]]) -> Result<(), Unfit> {
        let (given, ranks) = (pairs.len(), self.ranks);
        if given != ranks as usize {
            return Err(Unfit::BlocksOfRanks { given, ranks });
        }
        for (rank, [send, recv]) in (0..).zip(pairs) {
            let (sends, receives) = (self.input_blocks(rank), self.output_blocks(rank));
            if send.len() as u64 != sends || recv.len() as u64 != receives {
                return Err(Unfit::Blocks(self.collective.kind));
            }
        }
        for (to, [_, recv]) in (0..ranks).zip(pairs) {
            for (at, (from, number)) in self.edges_to(to).into_iter().enumerate() {
                let (sent, received) =
                    (pairs[from as usize][0].counts()[number as usize], recv.counts()[at]);
                if sent != received {
                    let (from, to) = (from as usize, to as usize);
                    return Err(Unfit::Pair { from, to, sent, received });
                }
            }
        }
        Ok(())
    }
}
