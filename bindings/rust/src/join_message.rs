//! Defines the message that tells a new rank the ranks of its communicator. It has the number of
//! ranks, and the number of each rank in the job. All these messages of a job have the same size,
//! because a receive must have the size of its message.
//!
//! Each new rank has a matching space of its own for this message. A rank is new only once, so no
//! other message uses this matching space.

use crate::communicator::Communicator;
use crate::compile;
use crate::error::{Error, ErrorCode, Result, error_of};
use crate::graph::{Data, Graph, memory};
use goal_engine::Storage;
use goal_lang::ANY;
use goal_rank::program::Attached;
use goal_rank::progress::{Interrupted, Member};

/// The offset in bytes of the message in the memory that receives it. It can't be 0, because a
/// graph can't name the first byte of a memory.
const PLACE: usize = size_of::<u64>();

/// Returns the number of words of the message in a job with room for `capacity` ranks.
const fn words_of(capacity: u32) -> usize {
    1 + capacity as usize
}

/// Returns the message that lists the ranks of `communicator`.
pub(crate) fn message(communicator: &Communicator, capacity: u32) -> Box<[u32]> {
    let mut words = vec![communicator.size()];
    words.extend((0..communicator.size()).filter_map(|rank| communicator.in_group(rank)));
    words.resize(words_of(capacity), 0);
    words.into_boxed_slice()
}

/// Returns the list of ranks in a message; `None` if the message names more ranks than it has room
/// for.
fn list(words: &[u32]) -> Option<Box<[u32]>> {
    let (&size, ranks) = words.split_first()?;
    Some(ranks.get(..size as usize)?.into())
}

/// Waits until this process, a new rank, has received the list of its communicator's ranks. Returns
/// the list, as numbers in the job.
///
/// # Errors
/// The job has ended.
pub(crate) fn await_list(attached: &Attached, member: &mut Member<'static>) -> Result<Box<[u32]>> {
    let own = attached.rank();
    let bytes = words_of(attached.capacity()) * size_of::<u32>();
    let communicator = Communicator::welcome(own, own, own);
    let mut graph = Graph::new(&communicator);
    graph.recv(Data::One(memory(PLACE, bytes as u64)), ANY, 0)?;
    let seed = attached.job().seed();
    let schedule = compile::schedule(graph.body()?, own, attached.num_ranks(), seed)?;
    attached.waits("GOAL_Init", 1);
    let mut receive = || {
        let storage = Storage::new(&schedule);
        let handle = member.start_in(&schedule, communicator.id(), storage)?;
        member.wait(&handle)?;
        member.finish(handle)
    };
    let received = receive();
    attached.computes();
    let storage = received.map_err(|interrupted| {
        if matches!(interrupted, Interrupted::Stuck | Interrupted::Late) {
            attached.fail(&format!("rank {own} waits in GOAL_Init to be told of its communicator"));
        }
        error_of(&interrupted)
    })?;
    let words = storage.memory()[PLACE..].as_chunks().0.iter();
    let words: Vec<u32> = words.map(|&word| u32::from_ne_bytes(word)).collect();
    list(&words).ok_or_else(|| {
        let text = "the rank that accepted this one names more ranks than there is room for";
        Error::new(ErrorCode::Internal, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_list() {
        let world = Communicator::world(1, 3, None);
        let words = message(&world, 7);
        assert_eq!(words.len(), words_of(7));
        assert_eq!(list(&words).unwrap()[..], [0, 1, 2]);
        for size in [8, u32::MAX] {
            assert_eq!(list(&[&[size][..], &[0; 7]].concat()), None);
        }
        assert_eq!(list(&[]), None);
    }
}
