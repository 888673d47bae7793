//! A program and its parts for threads.

use super::hooks::Noise;
use crate::machine::Machine;
use crate::source::{Actions, Source};
use crate::workload::TooLarge;
use std::ops::Range;

/// A program, divided among threads.
pub(super) struct Program<'s, P> {
    pub(super) source: &'s P,
    pub(super) machine: Machine,
    pub(super) shift: u32,
    /// The number of each rank's first action, and one more entry for the end.
    pub(super) firsts: Vec<u32>,
    /// By share, the rank behind its last one.
    pub(super) ends: Vec<u32>,
}

impl<'s, P: Source> Program<'s, P> {
    /// Divides a program among as many shares as `shares` gives for its number of actions.
    pub(super) fn new<N: Noise>(
        source: &'s P,
        machine: &Machine,
        noise: &N,
        shares: impl Fn(u64) -> usize,
    ) -> Result<Self, TooLarge> {
        let ranks = source.num_ranks();
        let mut firsts = Vec::with_capacity(ranks as usize + 1);
        let mut actions = 0;
        for rank in 0..ranks {
            firsts.push(actions as u32);
            actions += u64::from(source.rank(rank).count());
        }
        if actions >= 1 << 31 {
            return Err(TooLarge { actions, edges: 0 });
        }
        firsts.push(actions as u32);
        // The end of a large send takes `L` to be known.
        let lookahead = noise.latency_min(machine.latency_ps);
        let shift = lookahead.checked_ilog2().unwrap_or(0);
        let ends = ends(&firsts, shares(actions).clamp(1, ranks.max(1) as usize));
        Ok(Self { source, machine: *machine, shift, firsts, ends })
    }

    pub(super) fn num_actions(&self) -> u32 {
        self.firsts[self.firsts.len() - 1]
    }

    /// Returns the ranks of a share.
    pub(super) fn ranks(&self, share: usize) -> Range<u32> {
        let first = if share == 0 { 0 } else { self.ends[share - 1] };
        first..self.ends[share]
    }

    /// Returns the actions of a share.
    pub(super) fn actions(&self, share: usize) -> Range<u32> {
        let ranks = self.ranks(share);
        self.firsts[ranks.start as usize]..self.firsts[ranks.end as usize]
    }

    /// Returns the share of a rank.
    #[inline]
    pub(super) fn share_of(&self, rank: u32) -> usize {
        match self.ends.len() {
            1 => 0,
            _ => self.ends.partition_point(|&end| end <= rank),
        }
    }
}

/// Divides ranks among `count` shares of about equally many actions. Returns the ends of the
/// shares.
fn ends(firsts: &[u32], count: usize) -> Vec<u32> {
    let (ranks, actions) = (firsts.len() - 1, u64::from(firsts[firsts.len() - 1]));
    let end = |share: usize| {
        let before = actions * (share as u64 + 1) / count as u64;
        firsts.partition_point(|&first| u64::from(first) < before).min(ranks) as u32
    };
    let mut ends: Vec<u32> = (0..count).map(end).collect();
    ends[count - 1] = ranks as u32;
    ends
}
