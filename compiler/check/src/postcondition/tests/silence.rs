//! Barriers with wildcards, compared with every order in which a small program can run while a rank
//! never starts.

use super::barrier::BARRIER;
use crate::{Options, check};
use fastrand::Rng;
use goal_lang::{ANY, Action, BodyBuilder, Payload, Placement, Program, ProgramBuilder};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Bound on the states of a program.
const STATES_MAX: usize = 20_000;

/// An action with the actions that must have ended and those that must have started before it
/// starts.
struct Step {
    rank: u32,
    action: Action,
    requires: Vec<usize>,
    irequires: Vec<usize>,
}

/// A state of the execution.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct State {
    started: u32,
    ended: u32,
    /// By source and destination, the messages that have not arrived.
    under_way: BTreeMap<(u32, u32), Vec<usize>>,
    /// By rank, receives without a message and messages without a receive, in their order.
    posted: BTreeMap<u32, Vec<usize>>,
    arrived: BTreeMap<u32, Vec<usize>>,
}

fn fits(steps: &[Step], send: usize, recv: usize) -> bool {
    match (steps[send].action, steps[recv].action) {
        (Action::Send { tag: sent, .. }, Action::Recv { from, tag, .. }) => {
            (from == ANY || from == steps[send].rank) && (tag == ANY || tag == sent)
        }
        _ => false,
    }
}

impl State {
    fn start(&mut self, steps: &[Step], step: usize) {
        self.started |= 1 << step;
        let rank = steps[step].rank;
        match steps[step].action {
            Action::Send { to, .. } => {
                self.ended |= 1 << step;
                self.under_way.entry((rank, to)).or_default().push(step);
            }
            _ => {
                let arrived = self.arrived.entry(rank).or_default();
                match arrived.iter().position(|&send| fits(steps, send, step)) {
                    Some(at) => {
                        arrived.remove(at);
                        self.ended |= 1 << step;
                    }
                    None => self.posted.entry(rank).or_default().push(step),
                }
            }
        }
    }

    fn deliver(&mut self, steps: &[Step], channel: (u32, u32)) {
        let send = self.under_way.get_mut(&channel).expect("a channel").remove(0);
        let posted = self.posted.entry(channel.1).or_default();
        match posted.iter().position(|&recv| fits(steps, send, recv)) {
            Some(at) => self.ended |= 1 << posted.remove(at),
            None => self.arrived.entry(channel.1).or_default().push(send),
        }
    }

    /// All states that one more start or arrival leads to.
    fn next(&self, steps: &[Step], silent: u32) -> Vec<State> {
        let mut next = Vec::new();
        let all = |mask: u32, steps: &[usize]| steps.iter().all(|step| mask >> step & 1 == 1);
        for (at, step) in steps.iter().enumerate() {
            let is_ready = all(self.ended, &step.requires) && all(self.started, &step.irequires);
            if step.rank != silent && self.started >> at & 1 == 0 && is_ready {
                let mut state = self.clone();
                state.start(steps, at);
                next.push(state);
            }
        }
        for (&channel, messages) in &self.under_way {
            if !messages.is_empty() {
                let mut state = self.clone();
                state.deliver(steps, channel);
                next.push(state);
            }
        }
        next
    }
}

/// By rank, true if it can end while another never starts; `None` if there are too many states.
fn can_end_early(steps: &[Step], ranks: u32) -> Option<Vec<bool>> {
    let of_rank = |rank| {
        (0..steps.len()).filter(|&at| steps[at].rank == rank).fold(0, |mask, at| mask | 1 << at)
    };
    let all: Vec<u32> = (0..ranks).map(of_rank).collect();
    let mut early = vec![false; ranks as usize];
    for silent in 0..ranks {
        let mut seen = FxHashSet::from_iter([State::default()]);
        let mut open = vec![State::default()];
        while let Some(state) = open.pop() {
            for rank in (0..ranks).filter(|&rank| rank != silent) {
                early[rank as usize] |= state.ended & all[rank as usize] == all[rank as usize];
            }
            for next in state.next(steps, silent) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() > STATES_MAX {
                return None;
            }
        }
    }
    Some(early)
}

/// A gathering at rank 0 and its answers, or messages between any ranks, with receives that may
/// take more than one message and with some dependencies missing.
fn random(rng: &mut Rng, ranks: u32) -> Vec<Step> {
    let mut messages: Vec<(u32, u32)> = match rng.bool() {
        true => (1..ranks).map(|rank| (rank, 0)).chain((1..ranks).map(|rank| (0, rank))).collect(),
        false => Vec::new(),
    };
    let more = if messages.is_empty() { rng.usize(2..6) } else { rng.usize(..2) };
    for _ in 0..more {
        let from = rng.u32(..ranks);
        messages.insert(rng.usize(..=messages.len()), (from, (from + rng.u32(1..ranks)) % ranks));
    }
    let (tags, wild, dense) = (rng.u32(1..3), rng.u32(..4), rng.u32(2..5));
    let payload = Payload::Pattern { size: 1 };
    let mut steps: Vec<Step> = Vec::new();
    for (from, to) in messages {
        let (tag, placement) = (rng.u32(..tags), Placement::default());
        let source = if rng.u32(..4) < wild { ANY } else { from };
        let wanted = if rng.u32(..8) < wild { ANY } else { tag };
        let send = Action::Send { payload, to, tag, placement };
        let recv = Action::Recv { payload, from: source, tag: wanted, placement };
        for (rank, action) in [(from, send), (to, recv)] {
            let before = (0..steps.len()).filter(|&at| steps[at].rank == rank);
            let (mut requires, mut irequires) = (Vec::new(), Vec::new());
            for at in before {
                match rng.u32(..6) {
                    roll if roll < dense => requires.push(at),
                    5 => irequires.push(at),
                    _ => {}
                }
            }
            steps.push(Step { rank, action, requires, irequires });
        }
    }
    steps
}

fn program(steps: &[Step], ranks: u32) -> Program {
    let mut program = ProgramBuilder::default();
    for rank in 0..ranks {
        let mut body = BodyBuilder::default();
        let mut ids = BTreeMap::new();
        for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.rank == rank) {
            let id = body.action(step.action);
            ids.insert(at, id);
            step.requires.iter().for_each(|before| body.requires(id, ids[before]));
            step.irequires.iter().for_each(|before| body.irequires(id, ids[before]));
        }
        program.rank_with(body.finish());
    }
    program.finish()
}

#[test]
fn with_wildcards_a_barrier_is_one_if_nobody_ends_without_any_one_in_any_order() {
    let options = Options { eager_limit: 1 << 20, collective: Some(BARRIER), ..Options::default() };
    let (mut tally, mut too_strict) = ([0; 2], 0u64);
    for seed in 0..goal_filetest::seeds(3000) {
        let mut rng = Rng::with_seed(seed);
        let ranks = rng.u32(2..4);
        let steps = random(&mut rng, ranks);
        let program = program(&steps, ranks);
        if check(&program, None, &Options { collective: None, ..options }).has_errors() {
            continue;
        }
        let Some(early) = can_end_early(&steps, ranks) else { continue };
        let report = check(&program, None, &options);
        for (rank, &early) in early.iter().enumerate() {
            let start = format!("the program is no barrier: rank {rank} can end before");
            let is_told = report.diagnostics.iter().any(|found| found.message.starts_with(&start));
            assert!(is_told || !early, "seed {seed}: rank {rank} can end early");
            too_strict += u64::from(is_told && !early);
        }
        tally[usize::from(early.contains(&true))] += 1;
    }
    assert!(tally.iter().all(|&count| count > 100), "{tally:?}");
    // The check ignores that two actions may need the same message.
    assert!(100 * too_strict < tally.iter().sum(), "{too_strict} of {tally:?}");
}
