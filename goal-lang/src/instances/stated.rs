//! The statements of all ranks, sorted by the collective that they name.

use super::instance::Member;
use crate::limits::BLOCK_ENTRIES_MAX;
use crate::program::{CollectiveForm, CollectiveStatement, NcclKind, Program};
use std::collections::BTreeSet;

/// The part that statements of one collective have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Group {
        group: u32,
        instance: u32,
    },
    Nccl {
        comm: u32,
        kind: NcclKind,
        seq: u32,
    },
    /// The ends of all messages of a communicator.
    Ends {
        comm: u32,
    },
}

impl Key {
    fn of(stated: &CollectiveStatement) -> Self {
        match stated.form {
            CollectiveForm::Group { group, instance, .. } => Key::Group { group, instance },
            CollectiveForm::Nccl { kind: NcclKind::Send | NcclKind::Recv, comm, .. } => {
                Key::Ends { comm }
            }
            CollectiveForm::Nccl { kind, comm, seq, .. } => Key::Nccl { comm, kind, seq },
        }
    }
}

/// A statement of a rank. Statements of one collective are sorted by rank and GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stated {
    pub(super) key: Key,
    pub(super) rank: u32,
    gpu: u32,
    statement: u32,
}

impl Stated {
    /// Returns the rank and the GPU.
    pub(super) fn who(self) -> (u32, u32) {
        (self.rank, self.gpu)
    }

    pub(super) fn member(self) -> Member {
        Member { rank: self.rank, statement: self.statement }
    }
}

/// The members of all communicators: pairs of a rank and a GPU.
pub(super) struct Communicators {
    comms: Vec<u32>,
    members: Vec<(u32, u32)>,
}

impl Communicators {
    pub(super) fn new(program: &Program) -> Self {
        let mut all = Vec::new();
        for rank in 0..program.num_ranks() {
            let mut own = BTreeSet::new();
            for stated in &program.body_of(rank).collectives {
                if let CollectiveForm::Nccl { comm, gpu, .. } = stated.form {
                    own.insert((comm, (rank, gpu)));
                }
            }
            all.extend(own);
        }
        all.sort_unstable();
        let (comms, members) = all.into_iter().unzip();
        Self { comms, members }
    }

    /// Returns the members of a communicator, ascending.
    pub(super) fn members(&self, comm: u32) -> &[(u32, u32)] {
        let start = self.comms.partition_point(|&other| other < comm);
        let end = self.comms.partition_point(|&other| other <= comm);
        &self.members[start..end]
    }
}

/// Returns the statements of all ranks, sorted.
///
/// # Errors
/// Returns their number if there are too many.
pub(super) fn collect(program: &Program) -> Result<Vec<Stated>, u64> {
    let ranks = 0..program.num_ranks();
    let count = |rank| program.body_of(rank).collectives.len() as u64;
    let count: u64 = ranks.clone().map(count).sum();
    if count > BLOCK_ENTRIES_MAX {
        return Err(count);
    }
    let mut all = Vec::with_capacity(count as usize);
    for rank in ranks {
        for (statement, stated) in program.body_of(rank).collectives.iter().enumerate() {
            let gpu = match stated.form {
                CollectiveForm::Group { .. } => 0,
                CollectiveForm::Nccl { gpu, .. } => gpu,
            };
            let statement = statement as u32;
            all.push(Stated { key: Key::of(stated), rank, gpu, statement });
        }
    }
    all.sort_unstable();
    Ok(all)
}
