//! Figures about a program, as `goalc stats` prints them.

mod body;
mod table;
#[cfg(test)]
mod tests;

use crate::limits::STATS_ACTIONS_MAX;
use body::BodyStats;
pub use body::Kinds;
use goal_lang::{ActionKind, BodyId, Program};
use goal_opt::Machine;
use goal_opt::cost::{Chain, Chains, Prediction, longest_chains, predict};
use rayon::prelude::*;
use serde::Serialize;

/// Figures about a whole program. Sums go over all ranks, and saturate at 64 bits.
///
/// Width and the figures within a rank look at one rank alone: they do not count that a rank waits
/// for messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Ranks of the group.
    pub ranks: u64,
    /// The number of different bodies of ranks.
    pub bodies: u64,
    /// Actions of all ranks.
    pub actions: u64,
    /// Actions of each kind.
    pub kinds: Kinds,
    /// Dependencies on completion.
    pub requires: u64,
    /// Dependencies on the start.
    pub irequires: u64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes in the messages sent.
    pub bytes: u64,
    /// Nanoseconds of all `calc`s.
    pub calc_ns: u64,
    /// Actions on the longest chain of dependencies and messages through all ranks, and the rank on
    /// which the chain ends. `None` if the program does not end or has more than 2^27 actions.
    pub depth: Option<Largest>,
    /// Actions on a rank's longest chain of dependencies of either kind.
    pub depth_within_rank: Largest,
    /// Most actions of a rank at one distance from the beginning. The distance of an action is the
    /// number of actions before it on its longest chain.
    pub width: Largest,
    /// Nanoseconds of the longest chain through all ranks on the machine, and the rank on which it
    /// ends ([`longest_chains`]). `None` if [`depth`](Self::depth) is `None`.
    pub critical_path_ns: Option<Largest>,
    /// Nanoseconds of `calc` on a rank's longest chain of dependencies. All else takes no time. An
    /// action begins when what it requires has ended and what it irequires has begun.
    pub critical_path_within_rank_ns: Largest,
    /// Nanoseconds until the last rank ends on the machine, as the cost model of `-O2` predicts,
    /// and the rank that ends last. `None` until [`predict_makespan`] was called, and if
    /// [`depth`](Self::depth) is `None`.
    pub makespan_ns: Option<Largest>,
    /// Most dependencies of both kinds that one action waits for.
    pub indegree: Largest,
    /// Bytes of memory of all ranks.
    pub memory: u64,
    /// Bytes of memory of one rank.
    pub memory_largest: Largest,
    /// Bytes of scratch memory of all ranks.
    pub scratch: u64,
    /// Bytes of scratch memory of one rank.
    pub scratch_largest: Largest,
}

/// The largest value among the ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Largest {
    /// The value.
    pub value: u64,
    /// The first rank that has this value.
    pub rank: u32,
}

impl Largest {
    fn consider(&mut self, value: u64, rank: u32) {
        if value > self.value {
            *self = Self { value, rank };
        }
    }
}

/// Counts and measures `program` on a machine. Takes time linear in the actions of all ranks. Uses
/// the rayon pool of the calling thread, if the thread belongs to one.
///
/// # Panics
/// If there is a cycle of dependencies; all readers of programs refuse that.
pub fn stats(program: &Program, machine: &Machine) -> Stats {
    // Rayon's global pool is not used, because its threads do not live on in a forked child.
    let bodies: Vec<BodyStats> = match rayon::current_thread_index() {
        Some(_) => program.bodies.par_iter().map(BodyStats::new).collect(),
        None => program.bodies.iter().map(BodyStats::new).collect(),
    };
    let images: Vec<u64> = program.images.iter().map(|image| image.end()).collect();
    let mut used = vec![false; bodies.len()];
    let mut stats = Stats { ranks: u64::from(program.num_ranks()), ..Stats::default() };
    for (rank, entry) in program.ranks.iter().enumerate() {
        let rank = rank as u32;
        let BodyId(id) = entry.body;
        if !std::mem::replace(&mut used[id as usize], true) {
            stats.bodies += 1;
        }
        let body = &bodies[id as usize];
        let memory = body.memory.max(entry.image.map_or(0, |image| images[image.index()]));
        stats.kinds.add(&body.kinds);
        stats.actions += body.actions;
        stats.requires += body.requires;
        stats.irequires += body.irequires;
        stats.bytes = stats.bytes.saturating_add(body.bytes);
        stats.calc_ns = stats.calc_ns.saturating_add(body.calc_ns);
        stats.memory = stats.memory.saturating_add(memory);
        stats.scratch = stats.scratch.saturating_add(body.scratch);
        stats.depth_within_rank.consider(body.depth, rank);
        stats.width.consider(body.width, rank);
        stats.critical_path_within_rank_ns.consider(body.critical_path_ns, rank);
        stats.indegree.consider(body.indegree, rank);
        stats.memory_largest.consider(memory, rank);
        stats.scratch_largest.consider(body.scratch, rank);
    }
    stats.messages = stats.kinds.of(ActionKind::Send);
    let chains = (stats.actions <= STATS_ACTIONS_MAX).then(|| longest_chains(program, machine));
    if let Some(Ok(Chains { depth, critical_path_ns })) = chains {
        stats.depth = Some(Largest { value: depth.length, rank: depth.rank });
        let Chain { length, rank } = critical_path_ns;
        stats.critical_path_ns = Some(Largest { value: length.round() as u64, rank });
    }
    stats
}

/// Predicts [`Stats::makespan_ns`]: each rank has one processor and one interface, and a long send
/// waits for its receive. Takes a few times as long as [`stats`].
pub fn predict_makespan(stats: &mut Stats, program: &Program, machine: &Machine) {
    let may_be = stats.actions <= STATS_ACTIONS_MAX;
    let Some(Ok(Prediction { finish_ns })) = may_be.then(|| predict(program, machine)) else {
        return;
    };
    let mut last = Largest::default();
    for (rank, end) in (0..).zip(finish_ns) {
        last.consider(end.round() as u64, rank);
    }
    stats.makespan_ns = Some(last);
}
