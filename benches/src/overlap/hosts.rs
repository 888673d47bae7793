//! Measures overlap between two hosts of a test bench: programs over ESP and over TCP, and a
//! schedule that the kernels run.

use super::contestant::{Contestant, Contestants, EspJobs, InKernels};
use crate::host_jobs::Jobs;
use crate::host_peer::HostPeer;
use crate::library::OVERLAP;
use crate::library::goal::Ours;
use goal_cluster::{Cluster, Switch, Wiring};
use goal_job::Mode;
use std::io;

/// Calls `act` with the contestants between two hosts that are joined by a wire: libgoal over ESP
/// in each requested mode of progress, and Open MPI over TCP.
///
/// # Errors
/// The system makes no hosts, a compiler fails, or `act` does.
pub(super) fn with(
    asked: &Contestants,
    mtu: usize,
    act: impl FnOnce(&[Contestant<'_>]) -> io::Result<()>,
) -> io::Result<()> {
    let jobs = Jobs::new()?;
    let folder = jobs.folder.path();
    let wiring = Wiring { hosts: 2, mtu, switch: Switch::Wire };
    let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
    let peers = asked.libraries.build(&OVERLAP, folder)?;
    let peer = peers.iter().find(|peer| peer.library.is_between_hosts());
    let peer = peer.map(|peer| HostPeer::new(&cluster, peer, folder)).transpose()?;
    let program = match asked.ours.contains(&Ours::Libgoal) {
        true => asked.table.build(&OVERLAP, folder)?,
        false => None,
    };
    let esp = program.as_ref().map(|program| EspJobs { cluster: &cluster, jobs: &jobs, program });
    let mut contestants: Vec<Contestant<'_>> = peer.iter().map(Contestant::OverTcp).collect();
    if let Some(esp) = &esp {
        // Progress through other ranks takes ranks of one host.
        let modes = asked.progress.iter().filter(|&&progress| progress != Mode::Node);
        contestants.extend(modes.map(|&progress| Contestant::OverEsp(esp, progress)));
    }
    let kernels = InKernels { cluster: &cluster, mtu };
    if asked.ours.contains(&Ours::Schedule) {
        contestants.push(Contestant::InKernels(&kernels));
    }
    act(&contestants)
}
