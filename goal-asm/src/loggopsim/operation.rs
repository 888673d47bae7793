//! The record of an operation.

use super::file::File;
use super::{collective, node};
use goal_lang::{ANY, Placement, is_marker};

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
    /// A moment whose time simulators tell. It is no message.
    Marker,
    /// A collective statement.
    Collective,
}

/// An operation of a LogGOPSim binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The kind.
    pub kind: OperationKind,
    /// The other rank of a message, or [`ANY`] for a receive from any; the number of a marker.
    pub peer: u32,
    /// The bytes of a message, or the nanoseconds of work.
    pub size: u64,
    /// The tag of a message or a marker. It may be [`ANY`] for a receive.
    pub tag: u32,
    /// The number of dependencies that the operation waits for.
    pub missing: u32,
    /// The processor and the interface.
    pub placement: Placement,
}

/// Returns true if a message or a marker may name its peer.
#[inline]
pub(super) fn has_peer(node: &Node, ranks: u32) -> bool {
    let &Node { kind, peer, .. } = node;
    peer < ranks
        || kind == node::RECV && (peer == ANY || peer == ANY_OF_MPICH)
        || node.is_marker(ranks)
}

/// The fields of an operation, and the numbers of its dependents.
pub(super) struct Node {
    pub(super) kind: u8,
    pub(super) peer: u32,
    pub(super) size: u64,
    pub(super) tag: u32,
    pub(super) missing: u32,
    pub(super) placement: Placement,
    pub(super) dependents: u32,
    pub(super) start_dependents: u32,
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
            dependents: node.u32(node::DEPENDENTS.start),
            start_dependents: node.u32(node::START_DEPENDENTS.start),
        }
    }

    #[inline]
    pub(super) fn is_right(&self, ranks: u32) -> bool {
        match self.kind {
            node::SEND => has_peer(self, ranks) && self.tag != ANY,
            node::RECV => has_peer(self, ranks),
            kind => kind == node::CALC || self.is_collective(),
        }
    }

    #[inline]
    pub(super) fn is_marker(&self, ranks: u32) -> bool {
        self.kind == node::SEND && is_marker(self.size, self.peer, ranks)
    }

    #[inline]
    pub(super) fn is_collective(&self) -> bool {
        collective::of(self.kind).is_some()
    }

    /// Returns the operation of a file with `ranks` ranks. It was checked before.
    #[inline]
    pub(super) fn operation(self, ranks: u32) -> Operation {
        let kind = match self.kind {
            node::SEND if self.is_marker(ranks) => OperationKind::Marker,
            node::SEND => OperationKind::Send,
            node::RECV => OperationKind::Recv,
            node::CALC => OperationKind::Calc,
            _ => OperationKind::Collective,
        };
        let Self { peer, size, tag, missing, placement, .. } = self;
        let is_any = kind == OperationKind::Recv && peer >= ranks;
        let peer = if is_any { ANY } else { peer };
        Operation { kind, peer, size, tag, missing, placement }
    }
}
