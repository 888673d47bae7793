//! Collective statements: a rank takes part in a collective, and the text does not say by which
//! messages.

use super::action::Placement;
use crate::collective::CollectiveKind;
use crate::ids::ActionId;

/// A statement by which a rank takes part in a collective. It has a place in the graph, but no
/// action that an engine could execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CollectiveStatement {
    /// The dummy in the graph that stands for the statement.
    pub action: ActionId,
    /// Bytes, as the form counts them ([`CollectiveForm`]).
    pub size: u64,
    /// The collective, and the part of this rank.
    pub form: CollectiveForm,
}

/// The spelling of a collective statement, with what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectiveForm {
    /// `coll KIND SIZEb GROUP INSTANCE ROOT [cpu C] [nic N]`. The size is that of the whole buffer:
    /// all blocks together in an allgather and a reduce-scatter.
    Group {
        /// The collective.
        kind: CollectiveKind,
        /// The number of the group in a list of [`Groups`](crate::Groups).
        group: u32,
        /// The number that tells the collectives of a group apart.
        instance: u32,
        /// The rank of the root, or `None` for -1.
        root: Option<u32>,
        /// The cpu and the interface of the messages.
        placement: Placement,
    },
    /// `KIND SIZE bytes comm C gpu G stream S seq N end`. The size is that of a rank's buffer as
    /// NCCL counts it: the block of one rank in an allgather and a reduce-scatter.
    Nccl {
        /// The collective, or one end of a message.
        kind: NcclKind,
        /// The communicator. Its members are the pairs of a rank and a GPU that name it.
        comm: u32,
        /// The GPU of this rank.
        gpu: u32,
        /// The stream of this GPU.
        stream: u32,
        /// The number that tells collectives of the same kind and communicator apart.
        seq: u32,
    },
}

impl CollectiveForm {
    /// The word in text for the collective or the end of a message.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveForm::Group { kind, .. } => group_word(kind),
            CollectiveForm::Nccl { kind, .. } => kind.name(),
        }
    }
}

/// The operation of a traced call of NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NcclKind {
    /// An allreduce.
    AllReduce,
    /// An allgather.
    AllGather,
    /// A reduce-scatter.
    ReduceScatter,
    /// A broadcast. The statement does not name the root.
    Broadcast,
    /// A reduction at a root. The statement does not name the root.
    Reduce,
    /// The sending end of a message. The statement does not name the other end.
    Send,
    /// The receiving end of a message. The statement does not name the other end.
    Recv,
}

impl NcclKind {
    /// Every kind.
    pub const ALL: [NcclKind; 7] = [
        NcclKind::AllReduce,
        NcclKind::AllGather,
        NcclKind::ReduceScatter,
        NcclKind::Broadcast,
        NcclKind::Reduce,
        NcclKind::Send,
        NcclKind::Recv,
    ];

    /// The word in text.
    pub const fn name(self) -> &'static str {
        match self {
            NcclKind::AllReduce => "AllReduce",
            NcclKind::AllGather => "AllGather",
            NcclKind::ReduceScatter => "ReduceScatter",
            NcclKind::Broadcast => "Broadcast",
            NcclKind::Reduce => "Reduce",
            NcclKind::Send => "Send",
            NcclKind::Recv => "Recv",
        }
    }

    /// Returns the collective, or `None` for an end of a message.
    pub const fn collective(self) -> Option<CollectiveKind> {
        match self {
            NcclKind::AllReduce => Some(CollectiveKind::Allreduce),
            NcclKind::AllGather => Some(CollectiveKind::Allgather),
            NcclKind::ReduceScatter => Some(CollectiveKind::ReduceScatter),
            NcclKind::Broadcast => Some(CollectiveKind::Bcast),
            NcclKind::Reduce => Some(CollectiveKind::Reduce),
            NcclKind::Send | NcclKind::Recv => None,
        }
    }
}

/// The collectives that `coll` names, with their words.
pub(crate) const GROUP_KINDS: [(&str, CollectiveKind); 5] = [
    ("allreduce", CollectiveKind::Allreduce),
    ("allgather", CollectiveKind::Allgather),
    ("bcast", CollectiveKind::Bcast),
    ("reduce", CollectiveKind::Reduce),
    ("reduce_scatter", CollectiveKind::ReduceScatter),
];

/// Returns the word that `coll` has for a collective.
pub(crate) fn group_word(kind: CollectiveKind) -> &'static str {
    GROUP_KINDS.iter().find(|entry| entry.1 == kind).map_or(kind.name(), |entry| entry.0)
}
