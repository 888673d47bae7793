//! The default model: LogGOPS, with an order of events that each rank decides alone.
//!
//! A rank has processors and network interfaces, and jobs need them. A computation needs its
//! processor. A send also needs the sending side of its interface. A message needs the processor
//! and the receiving side that a receive names. A job starts as soon as all that it needs is free.
//! Several jobs may be able to start at one moment. The one that was ready first starts then.
//! Among equals, an action comes before a message, and the order of text and sources decides.
//!
//! The jobs of a rank depend on other ranks only through messages, which take at least `o + L`, and
//! through the ends of large sends, which take `L`. So ranks are simulated one by one for a window
//! of that length, and nothing depends on the order in which the ranks are taken. Shares of the
//! ranks can therefore have threads of their own.
//!
//! The actions are read where they lie. A simulation keeps 80 bytes a rank, and what is under way.
//! What it keeps of the other actions depends on [`Memory`].

mod error;
mod hooks;
mod jobs;
mod line;
mod loads;
mod nodes;
mod parts;
mod places;
mod program;
mod share;
mod sparse;
mod store;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod threads;
mod tracks;
mod wild;
mod windows;

pub use error::ModelError;
pub use hooks::{Cause, Held, Job, Message, Noise, Observer};
pub use tracks::{Part, Track, tracks};

use crate::machine::Machine;
use crate::source::Source;
use crate::workload::Workload;
use line::Shape;
use program::Program;
use share::Share;
use sparse::Sparse;
use store::Store;
use tables::Indexed;
use threads::Meeting;

/// The times of a simulated program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// By rank, the time at which its last action has ended, in picoseconds.
    pub finish_ps: Vec<u64>,
    /// The actions that were started and the messages that were taken in.
    pub events: u64,
}

/// The tables that a simulation keeps. The times do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// The partners of all messages: some 10 bytes an action, and twice that before the simulation.
    Fast,
    /// Nothing. Messages find their receives by hashing.
    Lean,
}

/// Simulates a program.
///
/// # Errors
/// If some actions never end, or a time is too large.
pub fn simulate(workload: &Workload, machine: &Machine) -> Result<Times, ModelError> {
    simulate_with(workload, machine, &(), &mut ())
}

/// Simulates a program with noise, and tells an observer what happens.
///
/// # Errors
/// As of [`simulate`].
pub fn simulate_with<N: Noise, O: Observer>(
    workload: &Workload,
    machine: &Machine,
    noise: &N,
    observer: &mut O,
) -> Result<Times, ModelError> {
    let program = Program::new(workload, machine, noise, |_| 1)?;
    let mut share = program.share::<_, _, Indexed>(0, (noise, observer), &Meeting::new(1));
    alone(&mut share, &|_| ())?;
    finish([share], program.num_actions())
}

/// The memory and the threads of a simulation. The times do not depend on them.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The tables that are kept.
    pub memory: Memory,
    /// The most threads that simulate. Small programs have fewer, and one simulates without a
    /// latency.
    pub threads: usize,
}

/// The least number of actions that are worth a thread.
const SHARE_MIN: u64 = 1 << 15;

/// The least number of ranks that are worth a thread. The windows of fewer ranks often take less
/// time than their synchronisation.
const SHARE_RANKS_MIN: u64 = 1 << 10;

/// Simulates a program on several threads. Calls `progress` now and then with the number of actions
/// that have ended.
///
/// # Errors
/// As of [`simulate`], and if the program has too many actions.
pub fn simulate_on<P: Source>(
    source: &P,
    machine: &Machine,
    effort: Effort,
    progress: &(impl Fn(u64) + Sync),
) -> Result<Times, ModelError> {
    let Effort { memory, threads } = effort;
    let of_ranks = u64::from(source.num_ranks()) / SHARE_RANKS_MIN;
    let shares =
        |actions: u64| (actions / SHARE_MIN).min(of_ranks).clamp(1, threads.max(1) as u64) as usize;
    simulate_shares(source, machine, memory, shares, progress)
}

/// Simulates a program in shares. `shares` gives their number for a number of actions.
fn simulate_shares<P: Source>(
    source: &P,
    machine: &Machine,
    memory: Memory,
    shares: impl Fn(u64) -> usize,
    progress: &(impl Fn(u64) + Sync),
) -> Result<Times, ModelError> {
    let shares = |actions| if machine.latency_ps == 0 { 1 } else { shares(actions) };
    let program = Program::new(source, machine, &(), shares)?;
    match memory {
        Memory::Fast => program.run::<Indexed>(progress),
        Memory::Lean => program.run::<Sparse>(progress),
    }
}

impl<'s, P: Source> Program<'s, P> {
    fn share<'p, N: Noise, O: Observer, S: Store>(
        &'p self,
        number: usize,
        hooks: (&'p N, O),
        meeting: &Meeting,
    ) -> Share<'p, P, N, O, S> {
        let ranks = self.ranks(number);
        let shapes: Vec<Shape> =
            ranks.clone().map(|rank| Shape::of(self.source.rank(rank))).collect();
        let store = S::new(self, number, &shapes, meeting);
        Share::new(self, hooks, store, ranks, &shapes)
    }

    /// Simulates all shares, each with a store of its own.
    fn run<S: Store + Send>(&self, progress: &(impl Fn(u64) + Sync)) -> Result<Times, ModelError> {
        let meeting = Meeting::new(self.ends.len());
        let make = |number| self.share::<_, _, S>(number, (&(), ()), &meeting);
        if self.ends.len() == 1 {
            let mut share = make(0);
            alone(&mut share, progress)?;
            return finish([share], self.num_actions());
        }
        let work = |number| {
            let _guard = meeting.guard();
            let mut share = make(number);
            share.begin();
            meeting.run(number, &mut share, progress);
            share
        };
        let shares: Vec<_> = std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> =
                (1..self.ends.len()).map(|number| scope.spawn(move || work(number))).collect();
            let first = work(0);
            let others = threads.into_iter().map(|thread| match thread.join() {
                Ok(share) => share,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(first).chain(others).collect()
        });
        let fault = shares.iter().map(|share| share.fault).fold(None, ModelError::one_of);
        fault.map_or(Ok(()), Err)?;
        finish(shares, self.num_actions())
    }
}

/// Simulates all windows of the only share.
fn alone<P: Source, N: Noise, O: Observer, S: Store>(
    share: &mut Share<'_, P, N, O, S>,
    progress: &impl Fn(u64),
) -> Result<(), ModelError> {
    share.begin();
    let (mut ranks, mut effects) = (Vec::new(), Vec::new());
    while let Some(window) = share.next_window() {
        share.simulate_window(window, &mut ranks);
        progress(share.ended);
        share.fault.map_or(Ok(()), Err)?;
        // An effect may have further ones.
        while !share.outgoing[0].is_empty() {
            std::mem::swap(&mut effects, &mut share.outgoing[0]);
            share.apply(&effects);
            effects.clear();
        }
        share.outgoing_min = u64::MAX;
    }
    share.fault.map_or(Ok(()), Err)
}

/// Returns the times of all shares, which have nothing more to do.
fn finish<'p, P: Source + 'p, N: Noise + 'p, O: Observer, S: Store>(
    shares: impl IntoIterator<Item = Share<'p, P, N, O, S>>,
    actions: u32,
) -> Result<Times, ModelError> {
    let mut times = Times { finish_ps: Vec::new(), events: 0 };
    let (mut left, mut unreceived) = (u64::from(actions), 0);
    for share in shares {
        left -= share.ended;
        unreceived += share.unreceived();
        times.events += share.events;
        times.finish_ps.extend(share.lines.lines.iter().map(|line| line.finish));
    }
    if left + unreceived > 0 { Err(ModelError::Stuck { left, unreceived }) } else { Ok(times) }
}
