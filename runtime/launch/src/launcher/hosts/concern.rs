//! Decides which hosts a launcher listens to.
//!
//! Threat: a host with the key can open a stream to any launcher, and need not be part of this job.
//! So the leader listens only to the hosts of the job, and all others listen only to the leader,
//! which alone starts the job and ends it.

use crate::hosts::Event;
use goal_job::host::{Host, Location};

/// Returns true if the launcher at `me` listens to `host`, for ranks with these addresses. While
/// the addresses are not known, it listens to all hosts.
pub(super) fn is_heard(host: Host, me: Host, addresses: &[Location]) -> bool {
    match addresses {
        [] => true,
        [leader, ..] if leader.host == me => addresses.iter().any(|location| location.host == host),
        [leader, ..] => leader.host == host,
    }
}

/// Returns true if the launcher at `me` must handle an event. Events that no other host has caused
/// concern all launchers.
pub(super) fn concerns(event: &Event, me: Host, addresses: &[Location]) -> bool {
    let host = match event {
        Event::Mine(_)
        | Event::Missing(_)
        | Event::Crowded
        | Event::Found(_)
        | Event::Contradiction(_) => {
            return true;
        }
        Event::Connected(host)
        | Event::Message(host, ..)
        | Event::Finished(host)
        | Event::Lost(host, _)
        | Event::Probe { from: host, .. }
        | Event::Replied(host, ..) => *host,
    };
    is_heard(host, me, addresses)
}
