//! The processors and interfaces of all ranks.

use crate::workload::{Kind, Record, Workload};

/// A processor, or a side of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// The rank.
    pub rank: u32,
    /// The part of the rank.
    pub part: Part,
    /// The number that actions name.
    pub number: u16,
}

/// A part of a rank that jobs hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A processor.
    Processor,
    /// The sending side of an interface.
    Sending,
    /// The receiving side of an interface.
    Receiving,
}

/// Returns the processors and sides that actions use, by [`Held::place`]: in the order in which the
/// actions name them.
///
/// [`Held::place`]: super::Held::place
pub fn tracks(workload: &Workload) -> Vec<Track> {
    let mut tracks = Vec::new();
    // By part and number, the last rank that names it.
    let mut named = [workload.cpus, workload.nics, workload.nics].map(|count| vec![None; count]);
    for rank in 0..workload.num_ranks() as u32 {
        for action in workload.actions(rank) {
            for (part, number) in parts(workload.record(action)) {
                let named = &mut named[part as usize][usize::from(number)];
                if named.replace(rank) != Some(rank) {
                    tracks.push(Track { rank, part, number });
                }
            }
        }
    }
    tracks
}

/// Returns the processor and the side of an action.
fn parts(record: &Record) -> impl Iterator<Item = (Part, u16)> {
    let cpu = (record.kind != Kind::Dummy).then_some((Part::Processor, record.cpu));
    let side = match record.kind {
        Kind::Send => Some((Part::Sending, record.nic.into())),
        Kind::Recv => Some((Part::Receiving, record.nic.into())),
        Kind::Calc | Kind::Local | Kind::Dummy => None,
    };
    cpu.into_iter().chain(side)
}
