//! The description of a job for the kernel of one host: the job's key, the host's interface, and
//! the addresses of all ranks.

/// The address of a rank of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The Ethernet address of the interface of the rank's host.
    pub mac: [u8; 6],
    /// The number of the rank on its host.
    pub port: u16,
}

/// A job, as one of its hosts sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A random number that tells jobs on one network apart.
    pub number: u32,
    /// The random key of the job.
    pub key: [u64; 2],
    /// Two random numbers that never leave this host. The first is the host's cookie. The cookies
    /// of its parts are derived from the second.
    pub secrets: [u64; 2],
    /// The ethertype of frames.
    pub ethertype: u16,
    /// The number of this host's interface.
    pub ifindex: u32,
    /// The Ethernet address of this host's interface.
    pub mac: [u8; 6],
    /// All ranks of the job.
    pub peers: Vec<Peer>,
}
