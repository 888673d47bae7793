//! Exchanges messages with launchers that have joined.

use super::{LEADER, Rendezvous};
use crate::hosts::message::{LauncherMessage, LinkEvent, Reply};
use goal_esp::wire::State;
use goal_job::host::Host;

/// The number of bytes waiting for a launcher from which on [`Rendezvous::has_room`] is false.
const WAITING_MAX: usize = 1 << 20;

/// The states of ranks. A message has the index of a state in this list.
const STATES: [State; 3] = [State::Active, State::Idle, State::Done];

impl Rendezvous {
    /// Adds the event [`LinkEvent::Connected`] if the launcher of `host` is connected.
    pub(crate) fn connect(&mut self, host: Host) {
        if let Some(number) = self.number_of(host) {
            let host = self.peers[&number].host;
            self.events.push_back(LinkEvent::Connected(host));
        }
    }

    fn number_of(&self, host: Host) -> Option<u32> {
        match host {
            Host::Launcher(number, _) => self.peers.contains_key(&number).then_some(number),
            Host::Mac(_) => None,
        }
    }

    /// Sends a message to the launcher of `host`. Does nothing if it is not connected.
    pub(crate) fn send(&mut self, host: Host, message: &LauncherMessage, bytes: &[u8]) {
        if let Some(number) = self.number_of(host) {
            self.say(number, message, bytes);
        }
    }

    pub(super) fn say(&mut self, number: u32, message: &LauncherMessage, bytes: &[u8]) {
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.unsent.extend(message.encode(bytes));
        }
    }

    /// Asks a host for the state of its ranks.
    pub(crate) fn probe(&mut self, host: Host, round: u64) {
        self.send(host, &LauncherMessage::Probe { round }, &[]);
    }

    /// Answers a [`LinkEvent::Probe`] of `host`.
    pub(crate) fn reply(&mut self, host: Host, round: u64, reply: Reply) {
        let Reply { state, sent, taken } = reply;
        let state = STATES.iter().position(|&one| one == state).expect("all are listed") as u8;
        self.send(host, &LauncherMessage::State { round, state, sent, taken }, &[]);
    }

    /// Returns true if few bytes wait to be sent, so that the caller may send more.
    pub(crate) fn has_room(&self) -> bool {
        self.peers.values().all(|peer| peer.unsent.len() < WAITING_MAX)
    }

    /// Returns the bytes that wait to be sent to a launcher. The caller removes what it has sent.
    pub(crate) fn unsent(&mut self, number: u32) -> Option<&mut Vec<u8>> {
        self.peers.get_mut(&number).map(|peer| &mut peer.unsent)
    }

    /// Handles bytes that launcher `number` has sent.
    pub(crate) fn received(&mut self, now_ns: u64, number: u32, bytes: &[u8]) {
        let Some(peer) = self.peers.get_mut(&number) else { return };
        peer.heard_ns = now_ns;
        peer.decoder.push(bytes);
        loop {
            let Some(peer) = self.peers.get_mut(&number) else { return };
            let host = peer.host;
            match peer.decoder.next_message() {
                Ok(Some((message, bytes))) => self.hear(number, host, message, bytes),
                Ok(None) => return,
                Err(broken) => return self.lose(number, broken.to_string()),
            }
        }
    }

    fn hear(&mut self, number: u32, host: Host, message: LauncherMessage, bytes: Vec<u8>) {
        let leads = self.leads();
        match message {
            LauncherMessage::Alive => {}
            LauncherMessage::Claims { .. } if leads => self.hear_claims(number, host, message),
            LauncherMessage::Found { locations, is_crowded }
                if !leads && number == LEADER && !self.is_found =>
            {
                self.hear_found(locations, is_crowded);
            }
            LauncherMessage::Probe { round } if !leads => {
                self.events.push_back(LinkEvent::Probe { from: host, round });
            }
            LauncherMessage::State { round, state, sent, taken } if leads => {
                if let Some(&state) = STATES.get(usize::from(state)) {
                    let reply = Reply { state, sent, taken };
                    self.events.push_back(LinkEvent::Replied(host, round, reply));
                }
            }
            LauncherMessage::Leaving => {
                if let Some(peer) = self.peers.get_mut(&number) {
                    peer.has_finished = true;
                }
                self.events.push_back(LinkEvent::Finished(host));
            }
            LauncherMessage::Claims { .. }
            | LauncherMessage::Found { .. }
            | LauncherMessage::Probe { .. }
            | LauncherMessage::State { .. } => {
                self.lose(number, "it sent what is not for this launcher".to_owned());
            }
            message => self.events.push_back(LinkEvent::Message(host, message, bytes)),
        }
    }

    /// Tells all launchers that this launcher leaves.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.is_leaving, true) {
            for peer in self.peers.values_mut() {
                peer.unsent.extend(LauncherMessage::Leaving.encode(&[]));
            }
        }
    }

    /// Returns true if nothing waits to be sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.peers.values().all(|peer| peer.unsent.is_empty())
    }
}
