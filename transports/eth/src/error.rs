//! The reasons why a driver can't be opened, with what the user can do.

use crate::InterfaceRefusal;
use rustix::io::Errno;
use std::io;

/// The reason why a driver can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The interface can't be used.
    #[error(transparent)]
    Interface(#[from] InterfaceRefusal),
    /// The process lacks CAP_NET_RAW.
    #[error(
        "raw frames need the right CAP_NET_RAW: run this as root, or give it to the file once: setcap cap_net_raw=ep {file} && chmod 711 {file}",
        file = executable()
    )]
    Rights,
    /// Another process has claimed the port.
    #[error(
        "port {number} of {interface} is taken: end the process that has it, or take another port"
    )]
    Taken {
        /// The name of the interface.
        interface: String,
        /// The number of the port.
        number: u16,
    },
    /// A rank with peers on other hosts was started without the driver that its launcher opens.
    #[error("the launcher opened no socket for this rank")]
    NoDriver,
    /// The system refused something.
    #[error("{what}: {cause}")]
    System {
        /// The thing that was refused.
        what: &'static str,
        /// The system's error.
        cause: io::Error,
    },
}

impl OpenError {
    /// Returns the error for a packet socket that the system refuses with `errno`.
    pub(crate) fn from_socket(errno: Errno) -> Self {
        let cause = errno.into();
        match errno {
            Errno::PERM | Errno::ACCESS => Self::Rights,
            Errno::AFNOSUPPORT => {
                Self::System { what: "this system has no packet sockets (CONFIG_PACKET)", cause }
            }
            _ => Self::System { what: "no packet socket", cause },
        }
    }
}

/// The reason why the driver `xdp` (AF_XDP) can't be used.
#[derive(Debug, thiserror::Error)]
pub enum NoXdp {
    /// This crate was built without its feature `xdp`.
    #[error("this build has no driver for XDP (the feature xdp of goal-eth)")]
    NotBuilt,
    /// The process lacks a right.
    #[error(
        "XDP needs the rights CAP_NET_ADMIN, CAP_BPF and, to share an interface, CAP_SYS_ADMIN: run this as root, or give them to the \
         file once: setcap cap_net_raw,cap_net_admin,cap_bpf,cap_sys_admin=ep {file} && \
         chmod 711 {file}",
        file = executable()
    )]
    Rights,
    /// Another program is attached to the interface.
    #[error(
        "another XDP program is attached to {interface}: end who has it, or give this process CAP_SYS_ADMIN to share one of goal-run"
    )]
    Occupied {
        /// The name of the interface.
        interface: String,
    },
    /// Each receive queue of the interface has the socket of another rank.
    #[error(
        "each receive queue of {interface} has its socket of XDP: ethtool -L gives an interface more queues where it can"
    )]
    Queues {
        /// The name of the interface.
        interface: String,
    },
    /// The program at the interface can't tell this number of ethertypes apart.
    #[error("{count} ethertypes are more than XDP takes here")]
    Ethertypes {
        /// The number of ethertypes.
        count: usize,
    },
    /// The process may not lock the memory for frames.
    #[error("XDP locks {bytes} bytes of memory: allow that with ulimit -l")]
    Memory {
        /// The size of the memory.
        bytes: usize,
    },
    /// The system refused something.
    #[error("{what}: {cause}")]
    System {
        /// The thing that was refused.
        what: &'static str,
        /// The system's error.
        cause: io::Error,
    },
}

#[cfg(feature = "xdp")]
impl NoXdp {
    /// Returns a function that turns an error of the system into [`NoXdp::System`]. `what` names
    /// the thing that was refused.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |cause| Self::System { what, cause }
    }

    /// Returns [`NoXdp::Rights`] if the system denied a permission, and [`NoXdp::System`]
    /// otherwise.
    pub(crate) fn of(what: &'static str, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights,
            _ => Self::System { what, cause },
        }
    }
}

/// Returns the path of the file that needs the rights.
fn executable() -> String {
    std::env::current_exe().map_or("FILE".to_owned(), |path| path.display().to_string())
}
