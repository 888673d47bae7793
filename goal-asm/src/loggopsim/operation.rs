//! The record of an operation.

use super::file::File;
use super::node;
use goal_lang::{ANY, Placement};

/// `MPI_ANY_SOURCE` of MPICH, -2. ATLAHS's Schedgen writes it as the traces have it.
const ANY_OF_MPICH: u32 = u32::MAX - 1;

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// A message to a rank.
    Send,
    /// The receipt of a message.
    Recv,
    /// Work of a processor, without a message.
    Calc,
}

/// An operation of a LogGOPSim binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The kind.
    pub kind: OperationKind,
    /// The other rank of a message, or [`ANY`] for a receive from any.
    pub peer: u32,
    /// The bytes of a message, or the nanoseconds of work.
    pub size: u64,
    /// The tag of a message. It may be [`ANY`] for a receive.
    pub tag: u32,
    /// The number of dependencies that the operation waits for.
    pub missing: u32,
    /// The processor and the interface.
    pub placement: Placement,
}

/// Returns true if a message may name a peer.
#[inline]
pub(super) fn has_peer(kind: u8, peer: u32, ranks: u32) -> bool {
    peer < ranks || kind == node::RECV && (peer == ANY || peer == ANY_OF_MPICH)
}

/// The fields of an operation, without its dependents.
pub(super) struct Node {
    pub(super) kind: u8,
    pub(super) peer: u32,
    pub(super) size: u64,
    pub(super) tag: u32,
    pub(super) missing: u32,
    pub(super) placement: Placement,
}

impl Node {
    /// Reads the operation at byte `at` of a rank.
    #[inline]
    pub(super) fn at(file: File<'_>, at: usize) -> Self {
        let node = File(&file.0[at..at + node::LENGTH]);
        Self {
            kind: node.0[node::TYPE],
            peer: node.u32(node::PEER.start),
            size: node.u64(node::BYTES.start),
            tag: node.u32(node::TAG.start),
            missing: node.u32(node::DEPENDENCIES.start),
            placement: Placement { cpu: node.0[node::CPU].into(), nic: node.0[node::NIC] },
        }
    }

    #[inline]
    pub(super) fn is_right(&self, ranks: u32) -> bool {
        match self.kind {
            node::SEND => has_peer(self.kind, self.peer, ranks) && self.tag != ANY,
            node::RECV => has_peer(self.kind, self.peer, ranks),
            kind => kind == node::CALC,
        }
    }

    /// Returns the operation of a file with `ranks` ranks. It was checked before.
    #[inline]
    pub(super) fn operation(self, ranks: u32) -> Operation {
        let Self { kind, peer, size, tag, missing, placement } = self;
        let kind = match kind {
            node::SEND => OperationKind::Send,
            node::RECV => OperationKind::Recv,
            _ => OperationKind::Calc,
        };
        let is_any = kind == OperationKind::Recv && peer >= ranks;
        let peer = if is_any { ANY } else { peer };
        Operation { kind, peer, size, tag, missing, placement }
    }
}
