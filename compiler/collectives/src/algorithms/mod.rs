//! The algorithms of all collectives.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod direct;
mod flat;
mod gather;
mod in_order;
mod neighbors;
mod parts;
mod reduce;
mod reduce_scatter;
mod scan;
mod tree;
mod two_level;

use crate::algorithm::{Algorithm, TwoLevels};
use crate::levels::Levels;
use crate::rank::Rank;
use crate::rules::Operations::{Associative, Commutative};
use crate::rules::{Counts, Operations, Ranks};
use goal_lang::CollectiveKind::{
    self, Allgather, Allreduce, Alltoall, Barrier, Bcast, Exscan, Gather, NeighborAllgather,
    NeighborAlltoall, Reduce, ReduceScatter, Scan, Scatter,
};
use goal_lang::Relation::{self, Shift, Xor};

/// Returns an entry of the table: for any number of ranks, without an operation.
const fn entry(
    kind: CollectiveKind,
    name: &'static str,
    generate: fn(&mut Rank<'_>),
    about: &'static str,
    source: &'static str,
) -> Algorithm {
    let (ranks, operations) = (Ranks::Any, Operations::None);
    let (counts, has_segments, has_degree, has_one_round) = (Counts::Equal, false, false, false);
    Algorithm {
        kind,
        name,
        about,
        source,
        ranks,
        operations,
        counts,
        has_segments,
        has_degree,
        has_one_round,
        relation: None,
        levels: None,
        generate,
    }
}

impl Algorithm {
    const fn on(self, ranks: Ranks) -> Self {
        Self { ranks, ..self }
    }

    const fn with(self, operations: Operations) -> Self {
        Self { operations, ..self }
    }

    const fn of_counts(self, counts: Counts) -> Self {
        Self { counts, ..self }
    }

    const fn by(self, relation: Relation) -> Self {
        Self { relation: Some(relation), ..self }
    }

    const fn of_levels(self, levels: Levels) -> Self {
        Self { levels: Some(TwoLevels { levels, algorithm, find }), ..self }
    }

    const fn in_segments(self) -> Self {
        Self { has_segments: true, ..self }
    }

    const fn of_degree(self) -> Self {
        Self { has_degree: true, ..self }
    }

    const fn in_one_round(self) -> Self {
        Self { has_one_round: true, ..self }
    }
}

const CHAKRABORTY: &str = "Chakraborty, Subramoni, Panda 2017";
const HASHMI: &str = "Hashmi, Chakraborty, Bayatpour, Subramoni, Panda 2018";
const HAN: &str = "Luo et al. 2020 (HAN)";
const HENSGEN: &str = "Hensgen, Finkel, Manber 1988";
const THAKUR: &str = "Thakur, Rabenseifner, Gropp 2005";

/// Every algorithm.
#[rustfmt::skip]
pub static ALGORITHMS: &[Algorithm] = &[
    entry(Barrier, "dissemination", barrier::dissemination,
        "log2 p rounds; in each a rank signals to one at twice the distance", HENSGEN).by(Shift),
    entry(Barrier, "n-way-dissemination", barrier::n_way_dissemination,
        "log p rounds to the base of the degree plus one; in each a rank signals to as many others as the degree",
        "GOAL 2009, section V.B, Listing 3").of_degree().by(Shift),
    entry(Barrier, "recursive-doubling", barrier::recursive_doubling,
        "pairs in log2 p rounds; ranks above a power of two signal before and wait after", "thesis 5.4").by(Xor),
    entry(Barrier, "tree", barrier::tree,
        "up a binomial tree to rank 0 and down again", THAKUR),
    entry(Barrier, "linear", barrier::linear,
        "all signal to rank 0, which signals to all", "Open MPI, coll/base"),
    entry(Barrier, "direct", barrier::direct,
        "every rank signals to every other one", "GOAL 2009, section V.B, with n = p - 1").by(Shift).in_one_round(),
    entry(Barrier, "two-level", two_level::barrier,
        "within nodes to their leaders, among leaders, and back", HAN).of_levels(two_level::BARRIER),

    entry(Bcast, "linear", bcast::linear,
        "the root sends to all", "Open MPI, coll/base").in_one_round(),
    entry(Bcast, "binomial", bcast::binomial,
        "down a binomial tree", "GOAL 2009, section V.A, Listing 2"),
    entry(Bcast, "k-nomial", bcast::k_nomial,
        "down a tree in which a rank passes on to as many others a level as the degree", "MPICH, k-nomial").of_degree(),
    entry(Bcast, "chain", bcast::chain,
        "from rank to rank", "Open MPI, coll/base"),
    entry(Bcast, "pipelined-chain", bcast::pipelined_chain,
        "from rank to rank, in segments", "Open MPI, coll/base").in_segments(),
    entry(Bcast, "scatter-ring", bcast::scatter_ring,
        "chunks down a binomial tree, then around a ring", THAKUR),
    entry(Bcast, "scatter-doubling", bcast::scatter_doubling,
        "chunks down a binomial tree, then by recursive doubling", THAKUR).on(Ranks::PowerOfTwo),
    entry(Bcast, "direct", direct::bcast,
        "ranks get slices from the root and exchange them, each straight from the rank that got it", CHAKRABORTY),
    entry(Bcast, "two-level", two_level::bcast,
        "among the leaders of nodes, then within nodes", HAN).of_levels(two_level::BCAST),

    entry(Reduce, "linear", reduce::linear,
        "the root receives from all", "Open MPI, coll/base").with(Associative).in_one_round(),
    entry(Reduce, "binomial", reduce::binomial,
        "up a binomial tree", THAKUR).with(Commutative),
    entry(Reduce, "ordered-binomial", reduce::ordered_binomial,
        "up a binomial tree of consecutive ranks to rank 0, which sends the result on", THAKUR).with(Associative),
    entry(Reduce, "pipelined-chain", reduce::pipelined_chain,
        "from rank to rank, in segments", "Open MPI, coll/base").with(Associative).in_segments(),
    entry(Reduce, "direct", direct::reduce,
        "each rank combines a slice straight from all operands, and the root gets the slices", HASHMI).with(Associative).in_segments(),
    entry(Reduce, "two-level", two_level::reduce,
        "within nodes to their leaders, then among leaders", HAN).with(Associative).of_levels(two_level::REDUCE),

    entry(Allreduce, "recursive-doubling", allreduce::recursive_doubling,
        "pairs exchange sums in log2 p rounds", THAKUR).with(Associative).by(Xor),
    entry(Allreduce, "ring", allreduce::ring,
        "chunks of the sum go around a ring twice", "Patarasuk, Yuan 2009").with(Commutative),
    entry(Allreduce, "rabenseifner", allreduce::rabenseifner,
        "recursive halving of the sum, and doubling of what is complete", "Rabenseifner 2004").with(Commutative),
    entry(Allreduce, "dissemination", allreduce::dissemination,
        "log2 p rounds; in each a rank sends its sum to one at twice the distance",
        "GOAL 2009, section V.B").with(Commutative).on(Ranks::PowerOfTwoOrIdempotent).by(Shift),
    entry(Allreduce, "n-way-dissemination", allreduce::n_way_dissemination,
        "log p rounds to the base of the degree plus one; in each a rank sends its sum to as many others as the degree",
        "GOAL 2009, section V.B, Listing 3").with(Commutative).on(Ranks::PowerOfDegreeOrIdempotent).of_degree().by(Shift),
    entry(Allreduce, "reduce-bcast", allreduce::reduce_bcast,
        "up a binomial tree to rank 0 and down again", THAKUR).with(Commutative),
    entry(Allreduce, "direct", direct::allreduce,
        "each rank combines a slice straight from all operands, and all get all slices", HASHMI).with(Associative).in_segments(),
    entry(Allreduce, "flat", flat::allreduce,
        "every rank sends its operand to every other one and combines all", "PyTorch, one-shot allreduce").with(Associative).in_one_round(),
    entry(Allreduce, "two-level", two_level::allreduce,
        "within nodes to their leaders, among leaders, and back", HAN).with(Associative).of_levels(two_level::ALLREDUCE),

    entry(Gather, "linear", gather::linear,
        "all send to the root", "thesis 5.5").of_counts(Counts::Own).in_one_round(),
    entry(Gather, "linear-sync", gather::synchronised,
        "a rank sends when the root is ready for it: a first segment, then the rest", "thesis 5.5").in_segments().of_counts(Counts::Own),
    entry(Gather, "binomial", gather::binomial,
        "up a binomial tree", "thesis 5.5").of_counts(Counts::All),
    entry(Gather, "two-level", two_level::gather,
        "within nodes to their leaders, then among leaders", HAN).of_levels(two_level::GATHER),
    entry(Scatter, "linear", gather::scatter_linear,
        "the root sends to all", "Open MPI, coll/base").of_counts(Counts::Own).in_one_round(),
    entry(Scatter, "binomial", gather::scatter_binomial,
        "down a binomial tree", THAKUR).of_counts(Counts::All),
    entry(Scatter, "two-level", two_level::scatter,
        "among the leaders of nodes, then within nodes", HAN).of_levels(two_level::SCATTER),

    entry(Allgather, "ring", allgather::ring,
        "blocks go around a ring", THAKUR).of_counts(Counts::All),
    entry(Allgather, "recursive-doubling", allgather::recursive_doubling,
        "pairs exchange all that they have, in log2 p rounds", THAKUR).on(Ranks::PowerOfTwo).of_counts(Counts::All),
    entry(Allgather, "bruck", allgather::bruck,
        "log2 p rounds of as many blocks as a rank has, and a rotation", "Bruck et al. 1997").of_counts(Counts::All),
    entry(Allgather, "neighbour-exchange", allgather::neighbour_exchange,
        "neighbours exchange two blocks in each of p/2 rounds", "Chen et al. 2005").on(Ranks::Even).of_counts(Counts::All),
    entry(Allgather, "linear", allgather::linear,
        "every rank sends its block to every other one", "UCC, tl/ucp").of_counts(Counts::All).in_one_round(),
    entry(Allgather, "two-level", two_level::allgather,
        "within nodes to their leaders, among leaders, and back", HAN).of_levels(two_level::ALLGATHER),

    entry(Alltoall, "linear", alltoall::linear,
        "everything at once", "Open MPI, coll/base").of_counts(Counts::Own).in_one_round(),
    entry(Alltoall, "pairwise", alltoall::pairwise,
        "in each of p - 1 steps a rank sends to one and receives from one", THAKUR).of_counts(Counts::Own),
    entry(Alltoall, "bruck", alltoall::bruck,
        "log2 p rounds; a block takes those of the bits of its distance", "Bruck et al. 1997"),
    entry(Alltoall, "two-level", two_level::alltoall,
        "within nodes to their leaders, among leaders, and back", HAN).of_levels(two_level::ALLTOALL),

    entry(ReduceScatter, "ring", reduce_scatter::ring,
        "the sum of each block goes around a ring", "Patarasuk, Yuan 2009").with(Commutative).of_counts(Counts::All),
    entry(ReduceScatter, "pairwise", reduce_scatter::pairwise,
        "every rank sends each other rank its block", THAKUR).with(Associative).of_counts(Counts::All).in_one_round(),
    entry(ReduceScatter, "halving", reduce_scatter::halving,
        "pairs exchange half of what they have, in log2 p rounds", THAKUR).with(Commutative).on(Ranks::PowerOfTwo).of_counts(Counts::All),
    entry(ReduceScatter, "direct", direct::reduce_scatter,
        "each rank combines its block straight from all operands", HASHMI).with(Associative).of_counts(Counts::All).in_one_round(),
    entry(ReduceScatter, "two-level", two_level::reduce_scatter,
        "within nodes to their leaders, among leaders, and back", HAN).with(Associative).of_levels(two_level::REDUCE_SCATTER),

    entry(Scan, "linear", scan::linear,
        "the sum goes from rank to rank", "Open MPI, coll/base").with(Associative),
    entry(Scan, "recursive-doubling", scan::recursive_doubling,
        "log2 p rounds; in each a rank gets the sum of as many ranks as it has added up", "Hillis, Steele 1986").with(Associative),
    entry(Scan, "flat", flat::scan,
        "every rank sends its operand to all higher ones and combines what it gets", "as allreduce flat").with(Associative).in_one_round(),
    entry(Scan, "two-level", two_level::scan,
        "within nodes, among their last ranks, and within nodes the sum of the nodes before", HAN).with(Associative).of_levels(two_level::SCAN),
    entry(Exscan, "linear", scan::exclusive_linear,
        "the sum goes from rank to rank", "Open MPI, coll/base").with(Associative),
    entry(Exscan, "recursive-doubling", scan::exclusive_recursive_doubling,
        "log2 p rounds; in each a rank gets the sum of as many ranks as it has added up", "Hillis, Steele 1986").with(Associative),
    entry(Exscan, "flat", flat::exscan,
        "every rank sends its operand to all higher ones and combines what it gets", "as allreduce flat").with(Associative).in_one_round(),
    entry(Exscan, "two-level", two_level::exscan,
        "within nodes, among their last ranks, and within nodes the sum of the nodes before", HAN).with(Associative).of_levels(two_level::EXSCAN),

    entry(NeighborAllgather, "linear", neighbors::allgather,
        "everything at once", "Open MPI, coll/basic").of_counts(Counts::Own),
    entry(NeighborAlltoall, "linear", neighbors::alltoall,
        "everything at once", "Open MPI, coll/basic").of_counts(Counts::Own),
];

/// Returns an algorithm of a collective by its name.
pub fn algorithm(kind: CollectiveKind, name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|algorithm| algorithm.kind == kind && algorithm.name == name)
}

/// Returns the generator of an algorithm.
fn find(kind: CollectiveKind, name: &str) -> Option<fn(&mut Rank<'_>)> {
    algorithm(kind, name).map(|algorithm| algorithm.generate)
}
