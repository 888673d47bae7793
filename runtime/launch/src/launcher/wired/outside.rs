//! Lets a process bring a fabric of its own to a job.
//!
//! ```
//! use goal_fabric::{Fabric, Terms};
//! use goal_launch::{Exchange, Outside, attach_among_over};
//! use goal_rank::program::{AttachError, Attached};
//!
//! /// Joins a job whose processes reach each other over `open`, a network of the program's own.
//! fn join(
//!     rank: u32,
//!     size: u32,
//!     exchange: &mut Exchange<'_>,
//!     open: impl FnOnce(&Terms) -> Result<Box<dyn Fabric>, String>,
//! ) -> Result<Attached, AttachError> {
//!     attach_among_over(rank, size, exchange, Outside::new("optical", open))
//! }
//! ```

use goal_fabric::{Fabric, Terms};
use goal_job::Settings;
use goal_job::remote_sockets::RemoteSockets;
use std::io;

/// Opens a fabric for a job with these terms.
///
/// # Errors
/// The reason why the fabric can't be opened.
pub type OpenFabric<'f> = dyn FnOnce(&Terms) -> Result<Box<dyn Fabric>, String> + 'f;

/// A fabric that a process brings to its job. It is opened when the terms of the job are known, in
/// the calling thread. If there are no ranks on other nodes, it is not opened.
pub struct Outside<'f> {
    pub(super) name: String,
    pub(super) open: Box<OpenFabric<'f>>,
}

impl<'f> Outside<'f> {
    /// Returns a fabric of this name, which appears in reports. `open` opens it later.
    pub fn new(
        name: &str,
        open: impl FnOnce(&Terms) -> Result<Box<dyn Fabric>, String> + 'f,
    ) -> Self {
        Self { name: name.to_owned(), open: Box::new(open) }
    }
}

/// Opens the fabric of a process, and puts it before the remote sockets that its launcher gave it.
/// Returns the sockets unchanged if there are no other nodes or no fabric.
///
/// # Errors
/// The fabric can't be opened.
pub(super) fn over(
    open: Option<Box<OpenFabric<'_>>>,
    rank: u32,
    settings: &Settings,
    remote_sockets: Option<RemoteSockets>,
) -> io::Result<Option<RemoteSockets>> {
    let (Some(open), Some(network)) = (open, &settings.network) else { return Ok(remote_sockets) };
    let Some(next) = remote_sockets else { return Ok(None) };
    let fabric = open(&network.terms(rank)).map_err(io::Error::other)?;
    Ok(Some(RemoteSockets::Other(fabric, Box::new(next))))
}
