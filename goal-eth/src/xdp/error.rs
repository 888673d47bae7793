//! Why there is no driver of AF_XDP, and what to do.

use std::io::{self, ErrorKind};

/// Why there is no driver of AF_XDP.
#[derive(Debug, thiserror::Error)]
pub enum NoXdp {
    /// A right is missing.
    #[error(
        "XDP needs the rights CAP_NET_ADMIN, CAP_BPF and, to share an interface, CAP_SYS_ADMIN: run this as root, or give them to the \
         file once: setcap cap_net_raw,cap_net_admin,cap_bpf,cap_sys_admin=ep {file} && \
         chmod 711 {file}",
        file = crate::packet::executable()
    )]
    Rights,
    /// Others have a program there.
    #[error(
        "another XDP program is attached to {interface}: end who has it, or give this process CAP_SYS_ADMIN to share one of goal-run"
    )]
    Occupied {
        /// The interface.
        interface: String,
    },
    /// Each has its rank.
    #[error(
        "each receive queue of {interface} has its socket of XDP: ethtool -L gives an interface more queues where it can"
    )]
    Queues {
        /// The interface.
        interface: String,
    },
    /// More ethertypes than the program knows.
    #[error("{count} ethertypes are more than XDP takes here")]
    Ethertypes {
        /// How many.
        count: usize,
    },
    /// It may not be locked.
    #[error("XDP locks {bytes} bytes of memory: allow that with ulimit -l")]
    Memory {
        /// How many.
        bytes: usize,
    },
    /// What the system says.
    #[error("{what}: {cause}")]
    System {
        /// What it was asked for.
        what: &'static str,
        /// Its answer.
        cause: io::Error,
    },
}

impl NoXdp {
    pub(super) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |cause| Self::System { what, cause }
    }

    /// The same where a right may be missing.
    pub(super) fn of(what: &'static str, cause: io::Error) -> Self {
        match cause.kind() {
            ErrorKind::PermissionDenied => Self::Rights,
            _ => Self::System { what, cause },
        }
    }
}
