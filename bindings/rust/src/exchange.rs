//! Lets the ranks of a communicator tell each other words or bytes, while they prepare a schedule.
#![allow(unsafe_code)] // a run on memory of this module's own

use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::raw;
use goal_lang::{CollectiveKind, Datatype, Function, Op};

/// The error that the bytes of all ranks are too many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooLong {
    /// The rank with the most bytes.
    pub(crate) rank: usize,
    pub(crate) bytes: u64,
}

/// Sends the bytes of this rank to all ranks of a communicator, as [`exchange`] does. Ranks may
/// give different numbers of bytes. Returns the bytes of all ranks, by rank.
///
/// All ranks get [`TooLong`] if they give more than `bytes_max` bytes, where each counts as much as
/// the longest.
///
/// # Errors
/// The job can't go on.
pub(crate) fn exchange_bytes(
    communicator: &Communicator,
    own: &[u8],
    bytes_max: u64,
    call: &str,
) -> Result<std::result::Result<Vec<Vec<u8>>, TooLong>> {
    let lengths = exchange(communicator, &[own.len() as u64], call)?;
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if longest.saturating_mul(lengths.len() as u64) > bytes_max {
        let rank = lengths.iter().position(|&length| length == longest).unwrap_or(0);
        return Ok(Err(TooLong { rank, bytes: longest }));
    }
    let mut words: Vec<u64> = own.chunks(8).map(word_of).collect();
    words.resize(longest.div_ceil(8).max(1) as usize, 0);
    let all = exchange(communicator, &words, call)?;
    let bytes = |(words, length): (&[u64], u64)| {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length as usize);
        bytes
    };
    Ok(Ok(all.chunks(words.len()).zip(lengths).map(bytes).collect()))
}

/// Returns at most 8 bytes as a word.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

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
