//! Postpones streams of communicators that are not open at this end yet (thesis 4.1.2, 4.2.1).
//!
//! The first chunk of a stream names the communicator that it belongs to. While that communicator
//! is not open, the first packet is refused as if there were no room for it: it is dropped, and the
//! acknowledgement allows no packets. The peer's own timer repeats the packet, so a postponed
//! stream needs no memory and no queue here. Opening the communicator requests the packet at once.
//!
//! Threat: a peer that has the key of the job may open a connection for a communicator that never
//! opens, and send on. Such a connection takes the state that every connection has, and at most
//! [`Config::peers_max`](super::Config::peers_max) connections exist. None of its packets is kept.
//! While the first packet of a stream has not come, at most an initial burst of the packets behind
//! it is kept. A postponed stream has no share of the congestion budget. It does not count in the
//! estimate of how late peers answer. So it slows no other connection. It ends after
//! [`Timing::postpone_ns`](super::Timing::postpone_ns), whatever the peer sends.

use super::connection::{Connection, Phase, Postponed, Shared};
use super::event::{Event, Loss};
use crate::machine::Body;
use goal_fabric::message::Reader;

impl Connection {
    /// Admits or postpones the stream from the peer if `body` is its first packet. `payload` is
    /// that packet's payload. Must be called before the machine handles the packet. A stream that
    /// does not begin with a communicator is admitted; its reader then reports the fault.
    pub(super) fn check_communicator<P>(
        &mut self,
        now_ns: u64,
        body: &Body<P>,
        payload: &[u8],
        shared: &mut Shared,
    ) {
        let Shared { config, communicators, stats, .. } = shared;
        let Body::Data { seq, .. } = body else { return };
        if !config.checks_communicators {
            return;
        }
        let Some(machine) = self.machine_mut().filter(|machine| machine.receiver().is_first(*seq))
        else {
            return;
        };
        match Reader::communicator_of(payload) {
            Ok(communicator) if !communicators.contains(&communicator) => {
                machine.postpone();
                stats.postponed += 1;
                let until_ns = now_ns.saturating_add(config.timing.postpone_ns);
                let postponed = self.postponed.get_or_insert(Postponed { communicator, until_ns });
                postponed.communicator = communicator;
            }
            _ => self.admit(),
        }
    }

    /// Accepts the stream from the peer from now on. Requests its refused packets if the stream was
    /// postponed.
    pub(super) fn admit(&mut self) {
        self.postponed = None;
        if let Some(machine) = self.machine_mut() {
            machine.admit();
        }
    }

    /// Returns the time at which the postponed connection is given up; `None` if it is not
    /// postponed.
    pub(super) fn postponed_until_ns(&self) -> Option<u64> {
        self.postponed
            .filter(|_| self.phase == Phase::Connected)
            .map(|postponed| postponed.until_ns)
    }

    /// Gives the connection up if it was postponed for too long: the peer is told by a reset.
    pub(super) fn end_postponement(&mut self, now_ns: u64, shared: &mut Shared) {
        if self.postponed_until_ns().is_none_or(|until_ns| now_ns < until_ns) {
            return;
        }
        if let Some(Postponed { communicator, .. }) = self.postponed.take() {
            let cause = Loss::Communicator(communicator);
            shared.events.push_back(Event::Lost { id: self.id, cause });
            self.reset(now_ns);
            self.id.generation += 1;
        }
    }
}
