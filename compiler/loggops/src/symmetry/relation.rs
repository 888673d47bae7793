//! Programs whose ranks differ by a shift or an xor of their peers: all ranks are one class.
//!
//! Let rank r have the peer r + p where rank 0 has the peer p, for a group operation + on ranks. A
//! translation takes rank r to r + k. It takes each action to the action at its position, and keeps
//! the distances between ranks. So it takes the program to itself, and no rank differs from another
//! one. The properties of classes then hold without a look at the other ranks: messages meet
//! receives by distance, and two peers are equal exactly if their distances are.
//!
//! An xor whose results are ranks may leave several parts of the group without messages between
//! them. Each part is a translation of the part of rank 0.

use super::events;
use super::ties::Ties;
use crate::machine::Machine;
use crate::model;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Workload, WorkloadBuilder};
use goal_lang::{ProgramBuilder, SymmetricProgram};
use rustc_hash::FxHashMap;

/// The times of a program whose ranks all do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonTimes {
    /// The time at which the last action of each rank has ended, in picoseconds.
    pub finish_ps: u64,
    /// The actions of all ranks that were started and the messages that were taken in.
    pub events: u64,
}

/// Simulates rank 0 for all ranks. Operations that state no time take none. Returns `None` if ties
/// make ranks differ, if the simulation fails, or if a receive has a wildcard or the latency is 0.
pub fn simulate_symmetric(program: &SymmetricProgram, machine: &Machine) -> Option<CommonTimes> {
    if machine.latency_ps == 0 {
        return None;
    }
    let mut rank = ProgramBuilder::default();
    rank.rank_with(program.body.clone());
    let rank = Workload::new(&rank.finish(), |_, _| 0).ok()?;
    let (quotient, sources) = quotient(&rank, program)?;
    let mut ties = Ties::new(&sources, machine);
    let times = model::simulate_with(&quotient, machine, &(), &mut ties).ok()?;
    if ties.found {
        return None;
    }
    let events = events(&quotient, 0).checked_mul(program.num_ranks.into())?;
    Some(CommonTimes { finish_ps: times.finish_ps[0], events })
}

/// The messages of one distance and one tag.
#[derive(Debug, Clone, Copy)]
struct Channel {
    number: u32,
    sends: u32,
    receives: u32,
}

/// Makes a program of one rank. Its tags are the channels of the messages that rank 0 sends. Also
/// returns by send the rank that sends such a message to rank 0. Returns `None` if a receive has a
/// wildcard, or if there is a message without a receive.
fn quotient(rank: &Workload, program: &SymmetricProgram) -> Option<(Workload, Vec<u32>)> {
    let inverse = |peer: u32| program.relation.inverse(peer, program.num_ranks);
    let mut channels: FxHashMap<(u32, u32), Channel> = FxHashMap::default();
    let (mut sources, mut quotient) = (Vec::new(), WorkloadBuilder::default());
    quotient.begin_rank();
    let actions = rank.rank(0);
    for (position, mut record) in actions.records() {
        // The peer of a message that rank 0 sends, or that another rank sends to it alike.
        let (source, to) = match record.kind {
            _ if record.has_wildcard() => return None,
            Kind::Recv => (record.peer, inverse(record.peer)),
            _ => (inverse(record.peer), record.peer),
        };
        sources.push(source);
        if record.is_message() {
            let number = channels.len() as u32;
            let new = Channel { number, sends: 0, receives: 0 };
            let channel = channels.entry((to, record.tag)).or_insert(new);
            match record.kind {
                Kind::Send => channel.sends += 1,
                _ => channel.receives += 1,
            }
            (record.peer, record.tag) = (0, channel.number);
        }
        let waiters = actions.waiters(position);
        quotient.push(record, waiters, actions.start_waiters(position));
    }
    actions.roots().for_each(|root| quotient.push_root(root));
    let is_received = |channel: &Channel| channel.sends == channel.receives;
    channels.values().all(is_received).then(|| quotient.finish().ok())?.map(|q| (q, sources))
}
