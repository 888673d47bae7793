//! The configuration of an endpoint.

use crate::auth::{Address, JobKey};
use crate::limits::{PAYLOAD_MAX, PAYLOAD_MIN};
use crate::transfer::Rules;
use crate::wire::ETHERTYPE_ESP;

/// Intervals and time limits, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The retransmission timeout before a round trip was measured.
    pub retransmit_initial_ns: u64,
    /// The shortest retransmission timeout.
    pub retransmit_min_ns: u64,
    /// The longest retransmission timeout while a frame may have been lost, unless round trips take
    /// longer. The timeout doubles each time that it expires without an answer.
    pub retransmit_max_ns: u64,
    /// The longest retransmission timeout after several timeouts of `retransmit_max_ns` without an
    /// answer. Then the peer or the network is busy, and repetitions would keep it busy.
    pub retransmit_patient_ns: u64,
    /// The delay of an acknowledgement that the peer does not wait for.
    pub acknowledge_ns: u64,
    /// The silence after which a peer is asked for a sign of life.
    pub probe_ns: u64,
    /// The first interval after which a silent peer is asked again. The interval doubles up to
    /// `probe_ns`. It is shorter if fewer than 16 requests would fit into the time until the peer
    /// counts as dead.
    pub probe_again_ns: u64,
    /// The silence after which a peer counts as dead; also the time for which a closed connection
    /// still answers. Time in which this end did not run does not count, and a peer that answered
    /// slowly before gets up to five times as long.
    pub dead_ns: u64,
    /// The time after which a peer that does not answer a connection request is given up.
    pub connect_ns: u64,
    /// The time that a connection may wait for its communicator; see
    /// [`super::Endpoint::open_communicator`].
    pub postpone_ns: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            retransmit_initial_ns: 10_000_000,
            retransmit_min_ns: 500_000,
            retransmit_max_ns: 200_000_000,
            retransmit_patient_ns: 1_000_000_000,
            acknowledge_ns: 200_000,
            probe_ns: 500_000_000,
            probe_again_ns: 500_000_000,
            dead_ns: 2_000_000_000,
            connect_ns: 10_000_000_000,
            postpone_ns: 10_000_000_000,
        }
    }
}

/// The configuration of an endpoint.
#[derive(Clone)]
pub struct Config {
    /// The address of the endpoint.
    pub address: Address,
    /// The ethertype of ESP.
    pub ethertype: u16,
    /// The longest payload of a packet in bytes for which the interface has room; see
    /// [`Config::payload_max_of`].
    pub payload_max: u16,
    /// The key of the job.
    pub job_key: JobKey,
    /// True if every frame must have a tag over header and payload. Both ends tag everything if
    /// either of them demands it.
    pub authenticates_data: bool,
    /// True if the first chunk of each stream names a communicator, as in
    /// [`goal_fabric::message`]. A stream is then read only after
    /// [`super::Endpoint::open_communicator`] was called for its communicator.
    pub checks_communicators: bool,
    /// The limits on the packets in flight on one connection.
    pub rules: Rules,
    /// The congestion budget: the packets that may be in flight to this endpoint on all connections
    /// together.
    pub budget: u16,
    /// The most peers at a time. Further ones get no answer.
    pub peers_max: usize,
    /// Intervals and time limits.
    pub timing: Timing,
}

impl Config {
    /// Creates a configuration with the default settings.
    pub fn new(address: Address, job_key: JobKey, payload_max: u16) -> Self {
        Self {
            address,
            ethertype: ETHERTYPE_ESP,
            payload_max,
            job_key,
            authenticates_data: true,
            checks_communicators: false,
            rules: Rules::default(),
            budget: 256,
            peers_max: 1 << 16,
            timing: Timing::default(),
        }
    }

    /// Returns the share of the congestion budget of each of `connections` connections.
    pub(super) fn share(&self, connections: u32) -> u16 {
        let connections = connections.clamp(1, u16::MAX.into()) as u16;
        (self.budget / connections).clamp(1, self.rules.burst_length)
    }

    /// Returns the longest payload of a packet for an interface that sends `mtu` bytes behind
    /// Ethernet's header; `None` if that is too little.
    pub fn payload_max_of(mtu: usize) -> Option<u16> {
        let longest =
            mtu.checked_sub(crate::wire::Packet::<&[u8]>::HEADER_LEN_DATA_MAX)?.min(PAYLOAD_MAX);
        (longest >= PAYLOAD_MIN).then_some(longest as u16)
    }
}
