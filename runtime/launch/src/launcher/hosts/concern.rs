//! Decides which hosts a launcher listens to.
//!
//! Threat: a host with the key can open a stream to any launcher, and need not be part of this job.
//! So the leader listens only to the hosts of the job, and all others listen only to the leader,
//! which alone starts the job and ends it.

use crate::hosts::LinkEvent;
use goal_job::host::{Host, Location};

/// Returns true if the launcher at `me` handles messages of `host`. `addresses` has the location of
/// each rank. While it is empty, the launcher handles messages of all hosts.
pub(super) fn is_heard(host: Host, me: Host, addresses: &[Location]) -> bool {
    match addresses {
        [] => true,
        [leader, ..] if leader.host == me => addresses.iter().any(|location| location.host == host),
        [leader, ..] => leader.host == host,
    }
}

/// Returns true if the launcher at `me` must handle an event. Events that no other host has caused
/// concern all launchers.
pub(super) fn concerns(event: &LinkEvent, me: Host, addresses: &[Location]) -> bool {
    let host = match event {
        LinkEvent::Mine(_)
        | LinkEvent::Missing(_)
        | LinkEvent::Crowded
        | LinkEvent::Found(_)
        | LinkEvent::Contradiction(_) => {
            return true;
        }
        LinkEvent::Connected(host)
        | LinkEvent::Message(host, ..)
        | LinkEvent::Finished(host)
        | LinkEvent::Lost(host, _)
        | LinkEvent::Probe { from: host, .. }
        | LinkEvent::Replied(host, ..) => *host,
    };
    is_heard(host, me, addresses)
}
