//! The port at which a rank or a launcher is reached.
//!
//! Threat: someone opens more connections than are kept, and sends nothing. For a second, the
//! system holds back connections that have sent nothing yet (`TCP_DEFER_ACCEPT`, tcp(7)). A peer
//! with the key sends at once. Its first bytes are there when its connection is accepted, so the
//! connection does not count as silent.
#![allow(unsafe_code)] // setsockopt

use crate::limits::{BACKLOG, DEFER_S};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with};
use rustix::net::{ipproto, sockopt};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    port: u16,
}

/// The reason why there is no port to listen at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// All ports are in use.
    #[error("{}", in_use(*.address, .ports))]
    InUse {
        /// The address.
        address: IpAddr,
        /// The ports.
        ports: RangeInclusive<u16>,
    },
    /// This user may not listen at any of the ports that are free.
    #[error("this user may not listen at port {port} of {address}: choose ports from 1024 on")]
    Denied {
        /// The address.
        address: IpAddr,
        /// The first free port that this user may not have.
        port: u16,
    },
    /// This host has no such address.
    #[error("{address} is no address of this host: give one that `ip address` lists")]
    Foreign {
        /// The address.
        address: IpAddr,
    },
    /// The system refused.
    #[error("listening at {address} failed: {cause}")]
    System {
        /// The address.
        address: IpAddr,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

fn in_use(address: IpAddr, ports: &RangeInclusive<u16>) -> String {
    match (ports.start(), ports.end()) {
        (first, last) if first == last => {
            format!(
                "port {first} of {address} is in use: end the program that has it, or choose another one"
            )
        }
        (first, last) => {
            format!("the ports {first}-{last} of {address} are all in use: give a longer range")
        }
    }
}

impl Listener {
    /// Listens at the first free port of `ports`. Port 0 stands for any free port. The unspecified
    /// address of IPv6 accepts connections of IPv4 too.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn bind(address: IpAddr, ports: RangeInclusive<u16>) -> Result<Self, ListenError> {
        Self::bind_at(SocketAddr::new(address, 0), ports)
    }

    /// Listens as [`Listener::bind`] does, but at an address that may have a scope (IPv6). The port
    /// in `at` is ignored.
    ///
    /// # Errors
    /// [`ListenError`].
    pub fn bind_at(mut at: SocketAddr, ports: RangeInclusive<u16>) -> Result<Self, ListenError> {
        let address = at.ip();
        let system = |cause: Errno| ListenError::System { address, cause: cause.into() };
        let family = match address {
            IpAddr::V4(_) => AddressFamily::INET,
            IpAddr::V6(_) => AddressFamily::INET6,
        };
        let mut denied = None;
        for port in ports.clone() {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP));
            let socket = socket.map_err(system)?;
            // With this option, a port counts as free while its last connections linger.
            sockopt::set_socket_reuseaddr(&socket, true).map_err(system)?;
            if address.is_ipv6() && address.is_unspecified() {
                sockopt::set_ipv6_v6only(&socket, false).map_err(system)?;
            }
            hold_back_silent(&socket);
            at.set_port(port);
            match bind(&socket, &at) {
                // Two sockets may both bind, but only one of them may listen.
                Ok(()) => match listen(&socket, BACKLOG) {
                    Ok(()) => {
                        return Self::of(socket)
                            .map_err(|cause| ListenError::System { address, cause });
                    }
                    Err(Errno::ADDRINUSE) => {}
                    Err(error) => return Err(system(error)),
                },
                Err(Errno::ADDRINUSE) => {}
                Err(Errno::ADDRNOTAVAIL) => return Err(ListenError::Foreign { address }),
                Err(Errno::ACCESS) => denied = denied.or(Some(port)),
                Err(error) => return Err(system(error)),
            }
        }
        Err(match denied {
            Some(port) => ListenError::Denied { address, port },
            None => ListenError::InUse { address, ports },
        })
    }

    /// Returns the listener of a socket that listens already, for example one that another process
    /// passed. The socket must not block.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(socket: OwnedFd) -> io::Result<Self> {
        let address = SocketAddr::try_from(getsockname(&socket)?)?;
        Ok(Self { socket, port: address.port() })
    }

    /// Returns another handle to the same port. New connections to the port wait as long as at
    /// least one handle exists.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()?, port: self.port })
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Lets the system hold back connections that have sent nothing. If the system can't do so, the
/// socket listens without it.
fn hold_back_silent(socket: &OwnedFd) {
    // SAFETY: the value is a static number, given with its size, and the socket is open.
    let _ = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const DEFER_S).cast(),
            size_of_val(&DEFER_S) as libc::socklen_t,
        )
    };
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
