//! Ports of an interface, each with at most one owner.

use crate::Interface;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The claim to a port. While it lives, no other process of the network namespace can claim the
/// same port.
///
/// Packet sockets have no ports, so two owners of a port would both receive all of its frames. The
/// claim is an abstract Unix socket name, which the system frees when its owner ends.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _name: UnixDatagram,
}

impl Port {
    /// The first port that [`Port::any`] tries.
    const ANY_MIN: u16 = 0xc000;

    /// Claims port `number`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if the port is taken, and other errors of the system.
    pub fn claim(interface: &Interface, number: u16) -> io::Result<Self> {
        let name =
            SocketAddr::from_abstract_name(format!("goal-esp/{}/{number}", interface.index))?;
        Ok(Self { number, _name: UnixDatagram::bind_addr(&name)? })
    }

    /// Claims a free port.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if all ports are taken, and other errors of the system.
    pub fn any(interface: &Interface) -> io::Result<Self> {
        for number in Self::ANY_MIN..u16::MAX {
            match Self::claim(interface, number) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                other => return other,
            }
        }
        Self::claim(interface, u16::MAX)
    }

    /// Returns the number of the port.
    pub fn number(&self) -> u16 {
        self.number
    }
}
