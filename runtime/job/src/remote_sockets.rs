//! The remote sockets of a rank, at which ranks on other hosts reach it. Its launcher opens them,
//! and a rank that is a process inherits them.

use goal_eth::{AnyDriver, Held, PassedDriver};
use goal_fabric::Fabric;
use goal_tcp::Listener;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// The remote sockets of a rank.
pub enum RemoteSockets {
    /// A driver of its port on Ethernet.
    Ethernet(AnyDriver),
    /// A port of TCP.
    Tcp(Listener),
    /// A fabric that the program brought, and the remote sockets for ranks that it can't reach. It
    /// is made in the process that uses it, and never passed to another one.
    Other(Box<dyn Fabric>, Box<RemoteSockets>),
}

/// The panic message for a fabric of the program's own that a launcher is to pass on.
const STAYS: &str = "a program's fabric stays in its process";

/// The description of remote sockets that a process inherits.
#[derive(Debug, Serialize, Deserialize)]
pub enum PassedSockets {
    /// A driver of an Ethernet interface.
    Ethernet(PassedDriver),
    /// The listener of a rank over TCP.
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

    /// Returns the port of TCP, if it is one.
    pub fn listener(&self) -> Option<&Listener> {
        match self {
            RemoteSockets::Tcp(listener) => Some(listener),
            RemoteSockets::Ethernet(_) | RemoteSockets::Other(..) => None,
        }
    }

    /// Describes the remote sockets for the rank's process.
    pub fn passed(&self) -> PassedSockets {
        match self {
            RemoteSockets::Ethernet(driver) => PassedSockets::Ethernet(driver.passed()),
            RemoteSockets::Tcp(listener) => PassedSockets::Tcp(listener.as_fd().as_raw_fd()),
            RemoteSockets::Other(..) => unreachable!("{STAYS}"),
        }
    }

    /// Closes the descriptors. Returns what the launcher must hold until the rank has ended.
    pub fn into_held(self) -> Option<Held> {
        match self {
            RemoteSockets::Ethernet(driver) => Some(driver.into_held()),
            RemoteSockets::Tcp(_) | RemoteSockets::Other(..) => None,
        }
    }
}
