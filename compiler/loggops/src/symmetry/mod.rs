//! Ranks that behave alike: one of them is simulated for all.
//!
//! Ranks are partitioned into classes. Two ranks of a class have the same actions and dependencies,
//! but other peers. `Classes` finds a partition with these properties, and compares each rank
//! with the representative of its class, which is its first rank:
//!
//! 1. Every message has its receive: the k-th send of a channel in the text and its k-th receive.
//!    A channel has the messages of one sender, one receiver and one tag.
//! 2. If two ranks are in one class, the actions at one position are equal, but for their peers.
//!    These peers are in one class. The actions that meet there are at one position as well.
//! 3. If two ranks are in one class and two messages of the first rank have one peer, then those
//!    messages of the second rank also have one peer. So both ranks have equal channels.
//! 4. No receive has a wildcard, and the latency is not 0.
//!
//! The quotient is a program with one rank a class, the copy of its representative. Its messages go
//! to the class of the peer, and each channel has a tag of its own. It is simulated by the model
//! without changes.
//!
//! # Why the times are equal
//!
//! A rank depends on others through the times at which its messages arrive, and through the ends of
//! its large sends. Both take at least the latency. Let all ranks of each class have done the same
//! until a moment. By property 2, equal messages are then on their way to all ranks of a class, at
//! equal positions. By properties 1 and 3, they meet equal receives in equal channels. So the
//! next events of the ranks of a class are alike too, and alike those of the quotient's rank.
//!
//! One rule of the model does not look at positions. If two messages are ready at one moment, the
//! one from the rank of the lower number goes first. Ranks of a class can differ in that. The rule
//! decides if both messages need one processor or one interface of their receiver. It also decides
//! if one of them is taken in without time, because what waits for it then starts first. `Ties`
//! looks for two such messages of different sources in the simulation of the quotient. Up to the
//! first decision of that kind all ranks of a class are alike. So the simulation of the quotient
//! meets that decision if one of them does. All ranks are simulated then.

mod classes;
mod quotient;
mod relation;
#[cfg(test)]
mod relation_tests;
#[cfg(test)]
mod tests;
mod ties;

pub use relation::{CommonTimes, simulate_symmetric};

use crate::machine::Machine;
use crate::model::{self, Effort, ModelError, Times};
use crate::source::{Actions, Source};
use crate::workload::{Kind, Workload};
use classes::Classes;
use quotient::Quotient;
use ties::Ties;

/// Simulates a program as [`model::simulate_on`] does, but one rank of each class of ranks that
/// behave alike. Returns the number of ranks that were simulated as well.
///
/// # Errors
/// As of [`model::simulate_on`].
pub fn simulate(
    source: &impl Source,
    machine: &Machine,
    effort: Effort,
    progress: &(impl Fn(u64) + Sync),
) -> Result<(Times, usize), ModelError> {
    if let Some(found) = Alike::new(source).and_then(|alike| alike.simulate(machine)) {
        return Ok(found);
    }
    let times = model::simulate_on(source, machine, effort, progress)?;
    Ok((times, source.num_ranks() as usize))
}

/// A program that is simulated many times, with the ranks that behave alike.
#[derive(Debug)]
pub struct Prepared<'w> {
    workload: &'w Workload,
    alike: Option<Alike>,
}

impl<'w> Prepared<'w> {
    /// Looks for ranks that behave alike.
    pub fn new(workload: &'w Workload) -> Self {
        Self { workload, alike: Alike::new(workload) }
    }

    /// Returns the program.
    pub fn workload(&self) -> &'w Workload {
        self.workload
    }

    /// Simulates the program as [`simulate`] does.
    ///
    /// # Errors
    /// As of [`model::simulate`].
    pub fn simulate(&self, machine: &Machine) -> Result<(Times, usize), ModelError> {
        if let Some(found) = self.alike.as_ref().and_then(|alike| alike.simulate(machine)) {
            return Ok(found);
        }
        Ok((model::simulate(self.workload, machine)?, self.workload.num_ranks()))
    }
}

/// The classes of a program, and one rank of each. It keeps some 20 bytes a rank.
#[derive(Debug)]
pub struct Alike {
    classes: Classes,
    quotient: Quotient,
    /// The events of all ranks.
    events: u64,
}

impl Alike {
    /// Looks for classes. Returns `None` if there are few ranks that behave alike.
    pub fn new(source: &impl Source) -> Option<Self> {
        let classes = Classes::new(source)?;
        let quotient = Quotient::new(source, &classes)?;
        if !quotient.is_of_all(source, &classes) {
            return None;
        }
        let events_of = |class| events(&quotient.workload, class);
        let by_class: Vec<u64> = (0..classes.len() as u32).map(events_of).collect();
        let events = classes.of.iter().map(|&class| by_class[class as usize]).sum();
        Some(Self { classes, quotient, events })
    }

    /// Simulates one rank of each class, and returns the number of classes as well. Returns `None`
    /// if ties make ranks of a class differ, if the latency is 0, or if the simulation fails.
    pub fn simulate(&self, machine: &Machine) -> Option<(Times, usize)> {
        if machine.latency_ps == 0 {
            return None;
        }
        let Self { classes, quotient, events } = self;
        let mut ties = Ties::new(&quotient.sources, machine);
        let times = model::simulate_with(&quotient.workload, machine, &(), &mut ties).ok()?;
        if ties.found {
            return None;
        }
        let finish_of = |&class: &u32| times.finish_ps[class as usize];
        let finish_ps = classes.of.iter().map(finish_of).collect();
        Some((Times { finish_ps, events: *events }, classes.len()))
    }
}

/// Returns the events of a rank whose actions end: its actions and its sends' messages.
fn events(source: &impl Source, rank: u32) -> u64 {
    source.rank(rank).records().map(|(_, record)| 1 + u64::from(record.kind == Kind::Send)).sum()
}
