//! Sends each new rank the list of the ranks of its communicator.
#![allow(unsafe_code)] // runs on memory of this module's own

use crate::communicator::Communicator;
use crate::error::Result;
use crate::graph::{Data, Graph, memory};
use crate::group::Group;
use crate::join_message::message;
use crate::raw::{Schedule, wait};

/// Sends each rank in `new` the list of the ranks of `communicator`, and waits until the messages
/// have left.
///
/// # Errors
/// The job can't go on.
pub(super) fn tell(communicator: &Communicator, new: &[u32], call: &str) -> Result<()> {
    let group = Group::current()?;
    let words = message(communicator, group.shared().attached.capacity());
    let data = memory(words.as_ptr().expose_provenance(), size_of_val(&*words) as u64);
    let mut schedules = Vec::new();
    for &rank in new {
        let mut graph = Graph::new(&Communicator::welcome(group.in_job(), group.in_job(), rank));
        graph.send(Data::One(data), 1, 0)?;
        schedules.push(Schedule::compile(&graph)?);
    }
    // SAFETY: nobody writes the list, which lives until all runs have ended, or for ever if that is
    // not known.
    let start = |schedule: &Schedule| unsafe { schedule.start(None) };
    let runs: Result<Vec<_>> = schedules.iter().map(start).collect();
    let told = runs.and_then(|runs| runs.into_iter().try_for_each(|run| wait(run, call)));
    if told.is_err() {
        Box::leak(words);
    }
    told
}
