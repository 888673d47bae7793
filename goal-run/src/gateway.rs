//! The gateway of a rank: the sockets at which ranks on other hosts reach it. Its launcher opens
//! it, and a rank that is a process inherits it.

use goal_eth::{AnyDriver, Held, PassedDriver};
use goal_tcp::Listener;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// The gateway of a rank.
pub(crate) enum Gateway {
    /// A driver of its port on Ethernet.
    Ethernet(AnyDriver),
    /// A port of TCP.
    Tcp(Listener),
}

/// The description of a gateway whose descriptors a process inherits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PassedGateway {
    Ethernet(PassedDriver),
    Tcp(RawFd),
}

impl Gateway {
    /// Returns the descriptors that the rank's process must inherit.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Gateway::Ethernet(driver) => driver.descriptors().into_iter().collect(),
            Gateway::Tcp(listener) => vec![listener.as_fd()],
        }
    }

    /// Describes the gateway for the rank's process.
    pub(crate) fn passed(&self) -> PassedGateway {
        match self {
            Gateway::Ethernet(driver) => PassedGateway::Ethernet(driver.passed()),
            Gateway::Tcp(listener) => PassedGateway::Tcp(listener.as_fd().as_raw_fd()),
        }
    }

    /// Closes the descriptors. Returns what the launcher must hold until the rank has ended.
    pub(crate) fn into_held(self) -> Option<Held> {
        match self {
            Gateway::Ethernet(driver) => Some(driver.into_held()),
            Gateway::Tcp(_) => None,
        }
    }
}
