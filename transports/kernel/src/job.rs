//! The description of a job for the kernel of one host: its key, its interface and all ranks'
//! places.

/// The place of a rank of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The Ethernet address of its host's interface.
    pub mac: [u8; 6],
    /// Its number on its host.
    pub port: u16,
}

/// A job, as one of its hosts sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A random number that tells jobs on one network apart.
    pub number: u32,
    /// The random key of the job.
    pub key: [u64; 2],
    /// Random numbers of this host that never leave it: its own cookie is the first, each part's
    /// one follows from the second.
    pub secrets: [u64; 2],
    /// The ethertype of frames.
    pub ethertype: u16,
    /// The interface's number.
    pub ifindex: u32,
    /// The interface's address.
    pub mac: [u8; 6],
    /// All ranks of the job.
    pub peers: Vec<Peer>,
}
