//! Runs a rank of a schedule in a process that another launcher has started.

use super::arrange::Wired;
use super::outside::{OpenFabric, over};
use crate::join::join;
use goal_fabric::{Fabric, Terms};
use goal_job::SectionFile;
use goal_job::bootstrap::{Opened, RankBootstrap};
use goal_job::inherited::Inherited;
use goal_job::offload::RemoteEndpoint;
use goal_rank::schedule::{self, Resources};
use goal_shm::Segment;
use rustix::net::{RecvFlags, recv};
use rustix::process::getppid;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The time that the launcher of a node gets to say why the job does not begin.
const REASON_LIMIT: Duration = Duration::from_secs(5);

/// The reason why a rank has left its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// All ranks of the node have done their part.
    Done,
    /// The job ends early.
    Early,
}

/// Runs the rank of this process until the job has ended. The leader of a node must call this in a
/// thread of its own.
///
/// # Errors
/// The rank can't start, or the node's launcher has ended.
pub fn joined_rank(wired: &Wired) -> io::Result<Left> {
    join_with(wired, None)
}

/// Runs the rank of this process over a fabric that the process brings: see
/// [`Wired::arrange_over`]. `open` is called in this thread if there are ranks on other nodes. The
/// fabric is also used and dropped in this thread, unless threads make the job's progress.
///
/// # Errors
/// Those of [`joined_rank`], or the fabric can't be opened.
pub fn joined_rank_over(
    wired: &Wired,
    open: impl FnOnce(&Terms) -> Result<Box<dyn Fabric>, String>,
) -> io::Result<Left> {
    join_with(wired, Some(Box::new(open)))
}

fn join_with(wired: &Wired, open: Option<Box<OpenFabric<'_>>>) -> io::Result<Left> {
    let joined = join(&wired.address, wired.rank);
    // The other launcher ends all processes when this one ends. The node's launcher says its reason
    // before.
    let joined = joined.inspect_err(|_| wired.address.await_end(REASON_LIMIT));
    let (bootstrap, mut inherited, socket) = joined?;
    admit();
    let opened = bootstrap.open(&mut inherited)?;
    run(&bootstrap, &mut inherited, opened, &socket, open)
}

fn run(
    bootstrap: &RankBootstrap,
    inherited: &mut Inherited,
    Opened { segment, nisa, settings }: Opened,
    socket: &OwnedFd,
    open: Option<Box<OpenFabric<'_>>>,
) -> io::Result<Left> {
    let section = match bootstrap.section {
        Some((number, place)) => {
            Some(SectionFile { file: Arc::new(File::from(inherited.take(number)?)), place })
        }
        None => None,
    };
    let remote_sockets = bootstrap
        .remote_sockets
        .as_ref()
        .map(|passed| inherited.remote_sockets(passed))
        .transpose()?;
    let endpoint =
        over(open, bootstrap.rank, &settings, remote_sockets)?.map(RemoteEndpoint::Sockets);
    std::thread::scope(|scope| {
        let has_left = scope.spawn(|| watch(socket, &segment, bootstrap.rank));
        let resources = Resources { section, endpoint };
        let ran = schedule::run(&segment, &nisa, bootstrap.rank, &settings, resources);
        // Ends the other thread, and shows the launcher that this rank has left.
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        let _ = has_left.join();
        ran.map_err(io::Error::other)?;
        let are_done = segment.start_barrier().finished() >= settings.num_here(segment.num_ranks());
        Ok(if are_done { Left::Done } else { Left::Early })
    })
}

/// Lets other ranks of this host read this process's memory (cma), as they descend from its parent.
pub(super) fn admit() {
    if let Some(parent) = getppid() {
        goal_shm::admit(parent.as_raw_nonzero().get() as u32);
    }
}

/// Stops the ranks of this host when the connection with their launcher ends. As long as it is
/// there, the launcher sends nothing.
pub(super) fn watch(socket: &OwnedFd, segment: &Segment, rank: u32) {
    let mut nothing = [0; 1];
    while let Ok((1, _)) | Err(rustix::io::Errno::INTR) =
        recv(socket, &mut nothing, RecvFlags::empty())
    {}
    if !segment.start_barrier().is_stopped() {
        segment.start_barrier().stop();
    }
    segment.mailbox(rank).wake();
}
