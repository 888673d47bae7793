//! Defines the remote sockets of a rank, at which ranks on other hosts reach it. The launcher opens
//! them, and rank processes inherit them.

use goal_eth::{AnyDriver, HeldDriver, PassedDriver};
use goal_fabric::Fabric;
use goal_tcp::Listener;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// The remote sockets of a rank.
pub enum RemoteSockets {
    /// A driver for the rank's port on Ethernet.
    Ethernet(AnyDriver),
    /// A listener for the rank's port of TCP.
    Tcp(Listener),
    /// A fabric that the program provides, and the remote sockets for ranks that the fabric can't
    /// reach. The fabric is created in the process that uses it, and never passed to another
    /// process.
    Other(Box<dyn Fabric>, Box<RemoteSockets>),
}

/// The text of the panic if a launcher tries to pass on a program's fabric, which can't happen.
const STAYS: &str = "a program's fabric stays in its process";

/// The description of the remote sockets that a rank process inherits.
#[derive(Debug, Serialize, Deserialize)]
pub enum PassedSockets {
    /// A driver of an Ethernet interface.
    Ethernet(PassedDriver),
    /// The descriptor of the listener for the rank's port of TCP.
    Tcp(RawFd),
}

impl RemoteSockets {
    /// Returns the descriptors that the rank's process must inherit.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            RemoteSockets::Ethernet(driver) => driver.descriptors().into_iter().collect(),
            RemoteSockets::Tcp(listener) => vec![listener.as_fd()],
            RemoteSockets::Other(..) => unreachable!("{STAYS}"),
        }
    }

    /// Returns the listener of TCP; `None` for other remote sockets.
    pub fn listener(&self) -> Option<&Listener> {
        match self {
            RemoteSockets::Tcp(listener) => Some(listener),
            RemoteSockets::Ethernet(_) | RemoteSockets::Other(..) => None,
        }
    }

    /// Returns the description of the remote sockets for the rank's process.
    pub fn passed(&self) -> PassedSockets {
        match self {
            RemoteSockets::Ethernet(driver) => PassedSockets::Ethernet(driver.passed()),
            RemoteSockets::Tcp(listener) => PassedSockets::Tcp(listener.as_fd().as_raw_fd()),
            RemoteSockets::Other(..) => unreachable!("{STAYS}"),
        }
    }

    /// Closes the descriptors. Returns the resources that the launcher must hold until the rank has
    /// ended; `None` if there are none.
    pub fn into_held(self) -> Option<HeldDriver> {
        match self {
            RemoteSockets::Ethernet(driver) => Some(driver.into_held()),
            RemoteSockets::Tcp(_) | RemoteSockets::Other(..) => None,
        }
    }
}
