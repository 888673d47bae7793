//! The ranks of a LogGOPSim binary as they lie in the file: those that behave alike, and all.

use crate::simulation::Times;
use goal_asm::loggopsim::RankRecords;
use goal_loggops::machine::Machine;
use goal_loggops::symmetry::{Alike, Source};
use goal_loggops::{Record, TooLarge, Workload, WorkloadBuilder};
use goalc::driver::{self, Error, Input, Options};

/// The ranks of a LogGOPSim binary.
pub(crate) struct Ranks<'a>(Vec<RankRecords<'a>>);

impl<'a> Ranks<'a> {
    /// Checks a LogGOPSim binary.
    ///
    /// # Errors
    /// If the file is wrong.
    pub(crate) fn read(input: &'a Input, options: &Options) -> Result<Self, Error> {
        let mut ranks = Vec::new();
        driver::visit_ranks(input, options, |rank| ranks.push(rank))?;
        Ok(Self(ranks))
    }

    /// Simulates one rank of each class, without a list of all actions. Returns `None` if all ranks
    /// are to be simulated, as with markers.
    pub(crate) fn simulate(&self, machine: &Machine) -> Option<Times> {
        if self.0.iter().any(RankRecords::has_markers) {
            return None;
        }
        driver::show_stage("simulating");
        let (times, classes) = Alike::new(self)?.simulate(machine)?;
        Some(Times { classes, ..times.into() })
    }

    /// Lists the actions of all ranks of a file with `size` bytes.
    pub(crate) fn workload(&self, size: usize) -> Result<Workload, TooLarge> {
        // An operation has 39 bytes, and each dependency 4.
        let mut builder = WorkloadBuilder::with_capacity(size / 39, 0);
        for rank in &self.0 {
            builder.begin_rank();
            for index in 0..rank.len() {
                builder.push(
                    None,
                    &rank.action(index),
                    rank.missing(index),
                    rank.waiters(index),
                    rank.start_waiters(index),
                    &|_, _| 0,
                );
            }
            rank.roots().for_each(|root| builder.push_root(root));
        }
        builder.finish()
    }

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
