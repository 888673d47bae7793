//! Defines the names of the transports, and returns their properties.

use goal_engine::transport::Plugin;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// A queue in the rank's own memory.
    Local,
    /// The segment that the ranks of a host share.
    Shm,
    /// Payloads that the system copies from the memory of other processes.
    Cma,
    /// ESP streams, directly on Ethernet.
    Esp,
    /// TCP connections.
    Tcp,
    /// MPI messages.
    Mpi,
}

/// The kind of a transport that carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransportKind {
    /// The transport [`Name::Local`].
    Local,
    /// The transport [`Name::Shm`].
    Shm,
    /// A fabric to other hosts: [`Name::Esp`], [`Name::Tcp`] or [`Name::Mpi`].
    Remote,
}

impl Name {
    /// All transports.
    pub const ALL: [Name; 6] = [Name::Local, Name::Shm, Name::Cma, Name::Esp, Name::Tcp, Name::Mpi];

    /// Returns the properties of the transport.
    pub fn plugin(self) -> &'static Plugin {
        match self {
            Name::Local => &goal_shm::LOCAL,
            Name::Shm => &goal_shm::SHM,
            Name::Cma => &goal_shm::CMA,
            Name::Esp => &goal_eth::ESP,
            Name::Tcp => &goal_tcp::TCP,
            Name::Mpi => &goal_mpi::MPI,
        }
    }

    /// Returns the kind of this transport, or `None` if it carries no messages.
    pub fn carrier(self) -> Option<TransportKind> {
        match self {
            Name::Local => Some(TransportKind::Local),
            Name::Shm => Some(TransportKind::Shm),
            Name::Cma => None,
            Name::Esp | Name::Tcp | Name::Mpi => Some(TransportKind::Remote),
        }
    }

    /// Returns the transport that users call by this name; `None` if there is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.plugin().name == text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plugin().name)
    }
}
