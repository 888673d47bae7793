//! Ports of an interface, each with one owner.

use super::interface::Interface;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// A port that nobody else of this network namespace takes while this lives: packet sockets know no
/// ports, so two owners would both get all of its frames. An abstract socket name of the namespace
/// stands for it, which the system frees with its owner.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _name: UnixDatagram,
}

impl Port {
    /// First of those that [`Port::any`] tries.
    pub const ANY_MIN: u16 = 0xc000;

    /// Takes port `number`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if it is taken; what the system says otherwise.
    pub fn claim(interface: &Interface, number: u16) -> io::Result<Self> {
        let name =
            SocketAddr::from_abstract_name(format!("goal-esp/{}/{number}", interface.index))?;
        Ok(Self { number, _name: UnixDatagram::bind_addr(&name)? })
    }

    /// Takes a port that is free.
    ///
    /// # Errors
    /// As [`Port::claim`]: all are taken.
    pub fn any(interface: &Interface) -> io::Result<Self> {
        for number in Self::ANY_MIN..u16::MAX {
            match Self::claim(interface, number) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                other => return other,
            }
        }
        Self::claim(interface, u16::MAX)
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}
