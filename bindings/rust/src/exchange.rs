//! Lets the ranks of a communicator tell each other words, while they prepare a schedule.
#![allow(unsafe_code)] // a run on memory of this module's own

use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::raw;
use goal_lang::{CollectiveKind, Datatype, Function, Op};

/// Sends the words of this rank to all ranks of a communicator. Returns the words of all ranks, by
/// rank. Each rank gives an equal number of words. `call` names the caller's function in reports
/// about a rank that waits for ever.
///
/// # Errors
/// The job can't go on.
pub(crate) fn exchange(communicator: &Communicator, own: &[u64], call: &str) -> Result<Vec<u64>> {
    let collective = Collective {
        kind: CollectiveKind::Allgather,
        count: own.len() as u64,
        datatype: Datatype::UInt64,
        function: Function::Predefined(Op::Sum, Datatype::UInt8),
        root: 0,
        in_place: false,
    };
    let schedule = collective.compile_uncounted(&communicator.shadow())?;
    let output = vec![0u64; own.len() * communicator.size() as usize];
    let mut memory = (own.to_vec(), output);
    let buffers =
        [&mut memory.0, &mut memory.1].map(|words| words.as_mut_ptr().expose_provenance());
    // SAFETY: the buffers have the collective's sizes, and nobody uses them meanwhile. They live
    // until the run has ended, or for ever if that is not known.
    let ran = unsafe { schedule.start(Some(&buffers)) }.and_then(|run| raw::wait(run, call));
    if let Err(error) = ran {
        std::mem::forget(memory);
        return Err(error);
    }
    Ok(memory.1)
}
