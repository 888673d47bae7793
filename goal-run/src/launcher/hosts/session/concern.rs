//! Whom a launcher listens to.
//!
//! Threat: whoever has the key can open a stream to any launcher, and may be no host of this job.
//! Of a job's hosts the leader hears all others, and the others hear the leader: that alone starts
//! the job and ends it.

#[cfg(test)]
mod tests;

use crate::hosts::Event;
use goal_esp::auth::Address;
use goal_esp::wire::Mac;

/// Returns true if what a host says is for the one at `me`, where the ranks have these addresses.
/// While they have none, nobody is left out.
pub(super) fn is_heard(host: Mac, me: Mac, addresses: &[Address]) -> bool {
    match addresses {
        [] => true,
        [leader, ..] if leader.mac == me => addresses.iter().any(|address| address.mac == host),
        [leader, ..] => leader.mac == host,
    }
}

/// The same of what happened: all that no other host has brought about concerns everybody.
pub(super) fn concerns(event: &Event, me: Mac, addresses: &[Address]) -> bool {
    let host = match event {
        Event::Mine(_) | Event::Missing(_) | Event::Found(_) | Event::Contradiction(_) => {
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
