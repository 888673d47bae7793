//! What the critical path and the whole run have in all: by kind of cost, by rank, and by pair of
//! ranks.

use super::pieces::{self, Piece};
use super::step::{Cost, Path, Work};
use crate::machine::Machine;
use crate::workload::{Kind, Workload};
use rustc_hash::FxHashMap;

/// The time of a kind of cost in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfCost {
    /// The kind.
    pub cost: Cost,
    /// On the critical path.
    pub path_ps: u64,
    /// In the whole run: the sum over all processors, interfaces and messages.
    pub run_ps: u128,
}

/// The time of a rank in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfRank {
    /// On the critical path: the steps of the rank's processors and interfaces.
    pub path_ps: u64,
    /// The computations of all its processors.
    pub computation_ps: u128,
    /// The messages that its processors send and take in.
    pub messages_ps: u128,
}

/// The messages between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfPair {
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// The time of these messages on the critical path in picoseconds: of sending, travelling,
    /// taking in and releasing.
    pub path_ps: u64,
    /// The messages on the critical path.
    pub path_messages: u64,
    /// The bytes of these messages.
    pub path_bytes: u128,
    /// The messages of the whole run.
    pub run_messages: u64,
    /// The bytes of these messages.
    pub run_bytes: u128,
}

/// What a run has in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// By kind of cost, all kinds.
    pub costs: Vec<OfCost>,
    /// By rank.
    pub ranks: Vec<OfRank>,
    /// The pairs of ranks with messages on the critical path, the one with the most time first.
    pub pairs: Vec<OfPair>,
}

impl Totals {
    /// Adds up a run and its critical path. This is linear in actions and steps.
    pub fn new(workload: &Workload, machine: &Machine, path: &Path) -> Self {
        let costs = Cost::ALL.map(|cost| OfCost { cost, path_ps: 0, run_ps: 0 }).to_vec();
        let ranks = vec![OfRank::default(); workload.num_ranks()];
        let mut totals = Self { costs, ranks, pairs: Vec::new() };
        totals.add_path(workload, path);
        totals.add_run(workload, machine);
        totals
    }

    fn add_path(&mut self, workload: &Workload, path: &Path) {
        let mut pairs: FxHashMap<(u32, u32), OfPair> = FxHashMap::default();
        let mut messages = Vec::new();
        for step in &path.steps {
            let duration = step.duration_ps;
            self.costs[step.cost as usize].path_ps += duration;
            if !matches!(step.work, Work::Travel | Work::Release) {
                self.ranks[step.rank as usize].path_ps += duration;
            }
            let send = match step.work {
                Work::Compute => continue,
                Work::Receive => step.partner,
                Work::Send | Work::Travel | Work::Release => Some(step.action),
            };
            let Some(send) = send else { continue };
            let (from, to) = (workload.rank_of(send), workload.record(send).peer);
            pairs.entry((from, to)).or_insert(OfPair { from, to, ..OfPair::default() }).path_ps +=
                duration;
            messages.push(send);
        }
        messages.sort_unstable();
        messages.dedup();
        for send in messages {
            let record = workload.record(send);
            if let Some(pair) = pairs.get_mut(&(workload.rank_of(send), record.peer)) {
                pair.path_messages += 1;
                pair.path_bytes += u128::from(record.size);
            }
        }
        for from in 0..workload.num_ranks() as u32 {
            for action in workload.actions(from) {
                let record = workload.record(action);
                if record.kind != Kind::Send {
                    continue;
                }
                if let Some(pair) = pairs.get_mut(&(from, record.peer)) {
                    pair.run_messages += 1;
                    pair.run_bytes += u128::from(record.size);
                }
            }
        }
        self.pairs = pairs.into_values().collect();
        self.pairs
            .sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.path_ps), pair.from, pair.to));
    }

    fn add_run(&mut self, workload: &Workload, machine: &Machine) {
        for rank in 0..workload.num_ranks() as u32 {
            for action in workload.actions(rank) {
                let record = workload.record(action);
                let size = record.size;
                match record.kind {
                    Kind::Calc | Kind::Local => {
                        let piece = pieces::of_computation(record.picos());
                        self.ranks[rank as usize].computation_ps += u128::from(piece.picos);
                        self.add(&[piece]);
                    }
                    Kind::Send => {
                        let sent = pieces::of_send(machine, size);
                        let received = pieces::of_receive(machine, size);
                        self.ranks[rank as usize].messages_ps += u128::from(pieces::time_of(sent));
                        self.ranks[record.peer as usize].messages_ps +=
                            u128::from(pieces::time_of(received));
                        let latency = pieces::of_latency(machine);
                        self.add(&sent);
                        self.add(&received);
                        self.add(&[latency]);
                        self.add(&pieces::of_interface(machine, size));
                        self.add(&pieces::of_interface(machine, size));
                        if size > machine.eager_bytes_max {
                            self.add(&[latency]);
                        }
                    }
                    Kind::Recv | Kind::Dummy => {}
                }
            }
        }
    }

    fn add(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.costs[piece.cost as usize].run_ps += u128::from(piece.picos);
        }
    }
}
