//! What an endpoint is told once.

use crate::auth::{Address, JobKey};
use crate::limits::{PAYLOAD_MAX, PAYLOAD_MIN};
use crate::transfer::Rules;
use crate::wire::ETHERTYPE_ESP;

/// How long things take. All in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The time after which something is said again, before a round trip was measured.
    pub retransmit_initial_ns: u64,
    /// The least such time.
    pub retransmit_min_ns: u64,
    /// The longest such time while a frame may have been lost, unless round trips take longer: it
    /// doubles each time that it passes in vain.
    pub retransmit_max_ns: u64,
    /// The longest such time where it has passed in vain again and again: the peer or the network
    /// is busy, and what is said again keeps it so.
    pub retransmit_patient_ns: u64,
    /// How long an acknowledgement waits for which nobody does.
    pub acknowledge_ns: u64,
    /// How long a peer may be silent before it is asked for a sign of life.
    pub probe_ns: u64,
    /// When it is asked again, at first: that doubles up to `probe_ns`.
    pub probe_again_ns: u64,
    /// Longest silence of a peer before it is taken for dead; also the time for which a closed
    /// connection still answers. Time in which this end did not look doesn't count, and a peer that
    /// was slow to answer before is given up to five times as long.
    pub dead_ns: u64,
    /// How long a peer is asked for a connection.
    pub connect_ns: u64,
    /// How long a connection may wait for its communicator to be opened; see
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

/// What an endpoint is told once.
#[derive(Clone)]
pub struct Config {
    /// Where it is.
    pub address: Address,
    /// Ethertype of ESP.
    pub ethertype: u16,
    /// Longest payload of a packet in bytes that the interface has room for; see
    /// [`Config::payload_max_of`].
    pub payload_max: u16,
    /// Key of the job.
    pub job_key: JobKey,
    /// Authenticates data too: every frame has a tag over all of it. Both ends do if one of them is
    /// told to.
    pub authenticates_data: bool,
    /// True if the first chunk of each stream names a communicator, as [`crate::message`] has it.
    /// No stream is read then before [`super::Endpoint::open_communicator`] was called for its
    /// communicator.
    pub checks_communicators: bool,
    /// How much may be on its way on one connection.
    pub rules: Rules,
    /// Packets that may be on their way to this endpoint, those of all connections together.
    pub budget: u16,
    /// Most peers at a time. More are not answered.
    pub peers_max: usize,
    /// How long things take.
    pub timing: Timing,
}

impl Config {
    /// The usual settings.
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

    /// The longest payload of a packet for an interface that sends `mtu` bytes behind Ethernet's
    /// header; `None` if that is too little.
    pub fn payload_max_of(mtu: usize) -> Option<u16> {
        let longest =
            mtu.checked_sub(crate::wire::Packet::<&[u8]>::HEADER_LEN_DATA_MAX)?.min(PAYLOAD_MAX);
        (longest >= PAYLOAD_MIN).then_some(longest as u16)
    }
}
