//! Lets one rank of a communicator make a decision, and broadcasts the decision to the other ranks.
#![allow(unsafe_code)] // a run on memory of this module's own

use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::raw;
use goal_lang::{CollectiveKind, Datatype, Function, Op};

/// The most bytes of an error's text that the root sends to the other ranks.
const TEXT_MAX: usize = 512;

/// Calls `decide` at the root, and returns its result on all ranks of the communicator: a list of
/// ranks of the job, or an error.
///
/// # Errors
/// The error of `decide`, or the job can't go on.
pub(super) fn agree(
    communicator: &Communicator,
    root: u32,
    call: &str,
    decide: impl FnOnce() -> Result<Vec<u32>>,
) -> Result<Vec<u32>> {
    let capacity = Group::current()?.shared().attached.capacity() as usize;
    if communicator.size() == 1 {
        return decide();
    }
    // This comes before the decision. If the decision can't be broadcast, the root must not decide.
    let schedule = compiled(communicator, root, words_of(capacity))?;
    let own = (communicator.rank() == root).then(decide);
    let words = match &own {
        Some(decided) => to_words(decided, capacity),
        None => vec![0; words_of(capacity)],
    };
    let words = broadcast(&schedule, call, words)?;
    own.unwrap_or_else(|| from_words(&words, capacity))
}

/// Returns the number of words of a decision: an error code, a number of ranks, the ranks, a number
/// of bytes, and a text.
const fn words_of(capacity: usize) -> usize {
    3 + capacity + TEXT_MAX / size_of::<u32>()
}

fn to_words(decided: &Result<Vec<u32>>, capacity: usize) -> Vec<u32> {
    let mut words = vec![0; words_of(capacity)];
    match decided {
        Ok(ranks) => {
            words[1] = ranks.len() as u32;
            words[2..2 + ranks.len()].copy_from_slice(ranks);
        }
        Err(error) => {
            words[0] = error.code() as i32 as u32;
            let text = error.to_string();
            let mut len = text.len().min(TEXT_MAX);
            while !text.is_char_boundary(len) {
                len -= 1;
            }
            words[2 + capacity] = len as u32;
            for (word, bytes) in
                words[3 + capacity..].iter_mut().zip(text.as_bytes()[..len].chunks(4))
            {
                let mut four = [0; 4];
                four[..bytes.len()].copy_from_slice(bytes);
                *word = u32::from_ne_bytes(four);
            }
        }
    }
    words
}

/// Returns the decision from its words. The words come from the root, which is a rank of the job,
/// and trusted.
fn from_words(words: &[u32], capacity: usize) -> Result<Vec<u32>> {
    match words[0] as i32 {
        0 => Ok(words[2..2 + (words[1] as usize).min(capacity)].to_vec()),
        code => {
            let bytes: Vec<u8> =
                words[3 + capacity..].iter().flat_map(|word| word.to_ne_bytes()).collect();
            let len = (words[2 + capacity] as usize).min(TEXT_MAX);
            let text = String::from_utf8_lossy(&bytes[..len]).into_owned();
            Err(Error::new(ErrorCode::from_number(code).unwrap_or(ErrorCode::Internal), text))
        }
    }
}

/// Returns the schedule of a broadcast of `words` words from the root to all ranks of a
/// communicator.
fn compiled(communicator: &Communicator, root: u32, words: usize) -> Result<raw::Schedule> {
    let collective = Collective {
        kind: CollectiveKind::Bcast,
        count: words as u64,
        datatype: Datatype::UInt32,
        function: Function::Predefined(Op::Sum, Datatype::UInt32),
        root,
        in_place: true,
    };
    collective.compile_uncounted(&communicator.shadow())
}

/// Broadcasts `words` by the schedule, and returns the root's words on all ranks.
fn broadcast(schedule: &raw::Schedule, call: &str, words: Vec<u32>) -> Result<Vec<u32>> {
    let mut words = words.into_boxed_slice();
    let buffers = [words.as_mut_ptr().expose_provenance()];
    // SAFETY: the buffer has the collective's size, and nobody uses it meanwhile. It lives until
    // the run has ended, or for ever if that is not known.
    let ran = unsafe { schedule.start(Some(&buffers)) }.and_then(|run| raw::wait(run, call));
    if let Err(error) = ran {
        Box::leak(words);
        return Err(error);
    }
    Ok(words.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_survive_as_words() {
        for ranks in [vec![], vec![7], (3..11).collect::<Vec<u32>>()] {
            let words = to_words(&Ok(ranks.clone()), 8);
            assert_eq!(from_words(&words, 8), Ok(ranks));
        }
        let error = Error::new(ErrorCode::Limit, "there is no room");
        assert_eq!(from_words(&to_words(&Err(error.clone()), 8), 8), Err(error));
        let long = Error::new(ErrorCode::System, "é".repeat(TEXT_MAX));
        let told = from_words(&to_words(&Err(long), 0), 0).unwrap_err();
        assert_eq!((told.code(), told.to_string().len()), (ErrorCode::System, TEXT_MAX));
    }

    #[test]
    fn any_words_are_a_decision() {
        let words = vec![u32::MAX; words_of(2)];
        assert_eq!(from_words(&words, 2).unwrap_err().code(), ErrorCode::Init);
        let words: Vec<u32> = [0].into_iter().chain(vec![u32::MAX; words_of(2) - 1]).collect();
        assert_eq!(from_words(&words, 2).unwrap().len(), 2);
    }
}
