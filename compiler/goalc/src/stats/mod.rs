//! Figures about a program, as `goalc stats` prints them.

mod body;
mod table;
#[cfg(test)]
mod tests;

use crate::driver::{Error, Ranks};
use crate::limits::STATS_ACTIONS_MAX;
use body::BodyStats;
pub use body::Kinds;
use goal_lang::{ActionKind, BodyId, MemoryImage, Program};
use goal_opt::Machine;
use goal_opt::cost::{Chain, Chains, Prediction, longest_chains, predict};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    let mut stats = Stats::default();
    for entry in &program.ranks {
        let BodyId(id) = entry.body;
        if !std::mem::replace(&mut used[id as usize], true) {
            stats.bodies += 1;
        }
        stats.add(&bodies[id as usize], entry.image.map_or(0, |image| images[image.index()]));
    }
    let chains = (stats.actions <= STATS_ACTIONS_MAX).then(|| longest_chains(program, machine));
    if let Some(Ok(Chains { depth, critical_path_ns })) = chains {
        stats.depth = Some(Largest { value: depth.length, rank: depth.rank });
        let Chain { length, rank } = critical_path_ns;
        stats.critical_path_ns = Some(Largest { value: length.round() as u64, rank });
    }
    stats
}

/// Counts and measures a program whose ranks are read one at a time. Returns `None` if it has few
/// enough actions to look for chains through all ranks, for which [`stats`] needs it in memory.
///
/// # Errors
/// Returns an error if the program is wrong or can't be read.
pub fn stats_of_ranks(ranks: &mut Ranks) -> Result<Option<Stats>, Error> {
    if ranks.num_actions()? <= STATS_ACTIONS_MAX {
        return Ok(None);
    }
    let mut stats = Stats::default();
    let mut bodies = HashSet::new();
    for rank in 0..ranks.num_ranks() {
        let image = ranks.image(rank).map_or(0, MemoryImage::end);
        let body = ranks.body(rank)?;
        let mut hasher = DefaultHasher::new();
        (&body.actions, &body.requires, &body.irequires).hash(&mut hasher);
        bodies.insert(hasher.finish());
        stats.add(&BodyStats::new(&body), image);
    }
    stats.bodies = bodies.len() as u64;
    Ok(Some(stats))
}

impl Stats {
    /// Adds the next rank. `image` is the end of its stated memory.
    fn add(&mut self, body: &BodyStats, image: u64) {
        let (rank, memory) = (self.ranks as u32, body.memory.max(image));
        self.ranks += 1;
        self.kinds.add(&body.kinds);
        self.messages = self.kinds.of(ActionKind::Send);
        self.actions += body.actions;
        self.requires += body.requires;
        self.irequires += body.irequires;
        self.bytes = self.bytes.saturating_add(body.bytes);
        self.calc_ns = self.calc_ns.saturating_add(body.calc_ns);
        self.memory = self.memory.saturating_add(memory);
        self.scratch = self.scratch.saturating_add(body.scratch);
        self.depth_within_rank.consider(body.depth, rank);
        self.width.consider(body.width, rank);
        self.critical_path_within_rank_ns.consider(body.critical_path_ns, rank);
        self.indegree.consider(body.indegree, rank);
        self.memory_largest.consider(memory, rank);
        self.scratch_largest.consider(body.scratch, rank);
    }
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
