//! Handles the timers of a launcher's connections: signs of life, silence, and reports of missing
//! launchers.

use super::{Peer, Rendezvous, SILENCE_S, STARVED_MAX, TELL_NS};
use crate::hosts::message::{LauncherMessage, LinkEvent};
use crate::hosts::plan::ranges;
use std::net::IpAddr;

impl Rendezvous {
    /// Handles all timers that are due.
    pub(crate) fn handle_timeout(&mut self, now_ns: u64) {
        // The launcher asks for ports once it has all of its connections. A job of one launcher has
        // none to wait for.
        let awaited = if self.leads() { self.size as usize - 1 } else { 1 };
        if !self.has_told_mine && self.peers.len() >= awaited {
            self.has_told_mine = true;
            let mine = self.mine.iter().map(|&(rank, _)| rank).collect();
            self.events.push_back(LinkEvent::Mine(mine));
        }
        if !self.is_found && self.tell_ns <= now_ns {
            self.tell_ns = now_ns + TELL_NS;
            self.tell_missing();
        }
        let (alive_ns, silence_ns) = (self.alive_ns, self.silence_ns);
        let mut silent = vec![];
        for (&number, peer) in &mut self.peers {
            if peer.said_ns + alive_ns <= now_ns && !self.is_leaving {
                peer.said_ns = now_ns;
                peer.unsent.extend(LauncherMessage::Alive.encode(&[]));
            }
            if lost_ns(peer, silence_ns) <= now_ns && !peer.has_finished {
                silent.push(number);
            }
        }
        for number in silent {
            self.lose(number, format!("not heard of for {} s", silence_ns / 1_000_000_000));
        }
    }

    /// Returns the launchers that count as lost now. The caller checks whether the systems of their
    /// hosts still answer, and calls [`Rendezvous::system_heard`].
    pub(crate) fn silent(&self, now_ns: u64) -> Vec<u32> {
        let is_silent = |peer: &Peer| lost_ns(peer, self.silence_ns) <= now_ns;
        self.peers.iter().filter(|(_, peer)| is_silent(peer)).map(|(&number, _)| number).collect()
    }

    /// Notes the time at which the system of a launcher's host last answered. A launcher that waits
    /// for a processor is silent, but its system still acknowledges data.
    pub(crate) fn system_heard(&mut self, number: u32, at_ns: u64) {
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.system_heard_ns = peer.system_heard_ns.max(at_ns);
        }
    }

    /// Returns the time at which [`Rendezvous::handle_timeout`] must be called.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let tell_ns = (!self.is_found).then_some(self.tell_ns);
        let of_peer =
            |peer: &Peer| (peer.said_ns + self.alive_ns).min(lost_ns(peer, self.silence_ns));
        self.peers.values().map(of_peer).chain(tell_ns).min()
    }

    /// Reports [`LinkEvent::Missing`] at once.
    pub(crate) fn tell_missing(&mut self) {
        let text = match (self.leads(), &self.obstacle) {
            (true, _) => {
                let absent: Vec<u32> =
                    (1..self.size).filter(|number| !self.peers.contains_key(number)).collect();
                match absent.as_slice() {
                    [] => "not all launchers have claimed their ranks".to_owned(),
                    absent => {
                        let why = self.obstacle.as_ref().map(|why| format!("; {why}"));
                        format!(
                            "{} of {} launchers are there; not yet {}{}",
                            self.size - absent.len() as u32,
                            self.size,
                            ranges(absent),
                            why.unwrap_or_default()
                        )
                    }
                }
            }
            (false, Some(why)) => why.clone(),
            (false, None) if self.peers.is_empty() => "no connection with the leader".to_owned(),
            (false, None) => "the leader waits for other launchers".to_owned(),
        };
        let from: Vec<String> = self.other_keys.iter().map(IpAddr::to_string).collect();
        let note = match from.is_empty() {
            true => String::new(),
            false => format!("; a launcher with another key came from {}", from.join(", ")),
        };
        self.events.push_back(LinkEvent::Missing(text + &note));
    }
}

/// Returns the time, in nanoseconds, at which a launcher counts as lost if it stays silent.
fn lost_ns(peer: &Peer, silence_ns: u64) -> u64 {
    let starved_ns = (STARVED_MAX * silence_ns).min(u64::from(SILENCE_S) * 1_000_000_000);
    let last_ns = peer.heard_ns + starved_ns.max(silence_ns);
    last_ns.min(peer.heard_ns.max(peer.system_heard_ns) + silence_ns)
}
