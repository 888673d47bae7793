//! Defines the schedules of the safe interface: compiled graphs and collectives on buffers.
#![allow(unsafe_code)] // starts schedules on memory that buffers guard

use super::memories::{Memories, release};
use super::run::Run;
use crate::collective::Persistent;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::progress::is_fatal;
use crate::raw;
use std::sync::Arc;

/// A compiled graph or collective, which can be run any number of times.
#[derive(Debug)]
pub struct Schedule {
    runs: Runs,
    memories: Arc<Memories>,
}

/// The schedule below the safe interface.
#[derive(Debug)]
pub(super) enum Runs {
    Graph(raw::Schedule),
    Collective { collective: Persistent, input: usize, output: usize },
}

impl Schedule {
    pub(super) fn new(runs: Runs, memories: Memories) -> Self {
        Self { runs, memories: Arc::new(memories) }
    }

    /// Starts the schedule, and executes those actions that need not wait. All ranks of the
    /// communicator must start its schedules in the same order.
    ///
    /// # Errors
    /// [`Busy`](crate::ErrorCode::Busy) if a buffer is in use; or the job can't go on.
    pub fn run(&self) -> Result<Run> {
        for (at, (memory, writes)) in self.memories.iter().enumerate() {
            if let Err(error) = memory.acquire(*writes) {
                release(&self.memories[..at]);
                return Err(error);
            }
        }
        let started = match &self.runs {
            // SAFETY: the memory is taken, and stays so until the run has ended; buffers live in
            // `memories`, which the run keeps.
            Runs::Graph(schedule) => unsafe { schedule.start(None) },
            Runs::Collective { collective, input, output } => {
                // SAFETY: as above; the sizes were checked when it was made.
                unsafe { collective.start(*input, *output) }
            }
        };
        let ticket = started.inspect_err(|error| {
            if is_fatal(error.code()) {
                // Peers may already use the memory, so it is never freed.
                std::mem::forget(Arc::clone(&self.memories));
            } else {
                release(&self.memories);
            }
        })?;
        Ok(Run::new(ticket, Arc::clone(&self.memories)))
    }

    /// Links a short schedule, so that its later runs need no engine. All ranks of `communicator`
    /// call this, each with a schedule that it has compiled for it, in the same order as its
    /// collectives. It returns when all have called it. Returns `Ok(Ok(()))` if the schedule is
    /// linked now, and the reason if it runs as before. All ranks get the same result. `GOAL_Link`
    /// in `goal.h` lists the schedules that can be linked.
    ///
    /// All ranks start the linked schedules and the collectives of a communicator in the same
    /// order.
    ///
    /// # Errors
    /// The schedule runs, is one of another communicator, or is linked already with other
    /// schedules. Or the job can't go on.
    pub fn link(&self, communicator: &Communicator) -> Result<raw::Linking> {
        let schedule = match &self.runs {
            Runs::Graph(schedule) => schedule,
            Runs::Collective { collective, .. } => collective.schedule(),
        };
        raw::link(Ok(schedule), communicator, "Schedule::link")
    }

    /// Returns `Ok` if the kernels of the job's hosts run the schedule, and an error if the
    /// processes of its ranks do.
    ///
    /// # Errors
    /// The reason why processes run the schedule.
    pub fn offload(&self) -> std::result::Result<(), &str> {
        match &self.runs {
            Runs::Graph(schedule) => schedule.offload(),
            Runs::Collective { collective, .. } => collective.schedule().offload(),
        }
    }

    /// Returns the name of the algorithm; `None` if the schedule is not a collective.
    pub fn algorithm(&self) -> Option<&'static str> {
        match &self.runs {
            Runs::Graph(_) => None,
            Runs::Collective { collective, .. } => Some(collective.algorithm().name),
        }
    }
}
