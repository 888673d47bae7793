//! Why there is no driver, and what to do.

use crate::Refusal;
use rustix::io::Errno;
use std::io;

/// Why there is no driver.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The interface can't be used.
    #[error(transparent)]
    Interface(#[from] Refusal),
    /// No CAP_NET_RAW.
    #[error(
        "raw frames need the right CAP_NET_RAW: run this as root, or give it to the file once: setcap cap_net_raw=ep {file} && chmod 711 {file}",
        file = executable()
    )]
    Rights,
    /// The port has an owner.
    #[error(
        "port {number} of {interface} is taken: end the process that has it, or take another port"
    )]
    Taken {
        /// The interface.
        interface: String,
        /// The port.
        number: u16,
    },
    /// A rank on a host among others was started without its socket.
    #[error("the launcher opened no socket for this rank")]
    NoDriver,
    /// What the system says.
    #[error("{what}: {cause}")]
    System {
        /// What it was asked for.
        what: &'static str,
        /// Its answer.
        cause: io::Error,
    },
}

impl OpenError {
    /// There is no packet socket.
    pub(super) fn of_socket(errno: Errno) -> Self {
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

/// The file that needs the rights.
pub(crate) fn executable() -> String {
    std::env::current_exe().map_or("FILE".to_owned(), |path| path.display().to_string())
}
