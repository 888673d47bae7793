//! Ranks that behave alike, found in a LogGOPSim binary as it lies in the file.

use crate::simulation::Times;
use crate::source::Unread;
use goal_asm::loggopsim::RankRecords;
use goal_loggops::Record;
use goal_loggops::machine::Machine;
use goal_loggops::symmetry::{self, Source};
use goalc::driver::{self, Error, Opened};

/// The ranks of a LogGOPSim binary.
struct Ranks<'a>(Vec<RankRecords<'a>>);

impl Ranks<'_> {
    fn rank(&self, rank: u32) -> &RankRecords<'_> {
        &self.0[rank as usize]
    }
}

impl Source for Ranks<'_> {
    fn num_ranks(&self) -> u32 {
        self.0.len() as u32
    }

    fn len_of(&self, rank: u32) -> u32 {
        self.rank(rank).len() as u32
    }

    fn record(&self, rank: u32, position: u32) -> Record {
        let (rank, index) = (self.rank(rank), position as usize);
        Record::new(None, &rank.action(index), rank.missing(index), &|_, _| 0)
    }

    fn waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32> {
        self.rank(rank).waiters(position as usize)
    }

    fn start_waiters(&self, rank: u32, position: u32) -> impl Iterator<Item = u32> {
        self.rank(rank).start_waiters(position as usize)
    }

    fn roots(&self, rank: u32) -> impl Iterator<Item = u32> {
        self.rank(rank).roots()
    }
}

/// Simulates one rank of each class of a LogGOPSim binary, without a list of all actions. Returns
/// `None` for other inputs, and if all ranks are to be simulated.
pub(crate) fn simulate(unread: &Unread, machine: &Machine) -> Result<Option<Times>, Error> {
    let Opened::Loggopsim(input) = &unread.opened else { return Ok(None) };
    driver::show_stage("reading");
    let mut ranks = Ranks(Vec::new());
    driver::visit_ranks(input, &unread.options, |rank| ranks.0.push(rank))?;
    driver::show_stage("simulating");
    let Some((times, classes)) = symmetry::simulate_classes(&ranks, machine) else {
        return Ok(None);
    };
    Ok(Some(Times { classes, ..times.into() }))
}
