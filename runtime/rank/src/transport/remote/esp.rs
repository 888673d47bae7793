//! Opens a rank's ESP streams over Ethernet.

use goal_esp::endpoint::{Config, Timing};
use goal_eth::{AnyDriver, EspTransport, OpenError, now_ns};
use goal_job::network::{Ethernet, Network};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// Nanoseconds of silence after which a rank counts as dead. The time is long, because a rank may
/// be stopped by a debugger or compute without polls. Or it may wait for a processor that hundreds
/// of ranks share. A rank that really died is reported by its launcher at once.
const DEAD_NS: u64 = 300_000_000_000;

/// Nanoseconds of silence after which a peer is asked for a sign of life. The time is long, because
/// many ranks ask many others, and no rank waits for the answers.
const PROBE_NS: u64 = 10_000_000_000;

/// The longest time in nanoseconds before a retransmission. The time is short, because hosts on one
/// network are near, and one lost frame may delay a whole schedule.
pub const RETRANSMIT_MAX_NS: u64 = 20_000_000;

/// The approximate time in nanoseconds for which a rank runs on a shared processor before the
/// system runs the next rank.
const TURN_NS: u64 = 2_000_000;

/// Opens the ESP streams of `rank` over the driver that its launcher opened for the rank's port.
///
/// # Errors
/// [`OpenError`].
pub(super) fn open(
    network: &Network,
    ethernet: &Ethernet,
    rank: u32,
    driver: AnyDriver,
) -> Result<EspTransport<AnyDriver>, OpenError> {
    let system = |what| move |cause| OpenError::System { what, cause };
    let address = network.location(rank).ethernet();
    let payload_max = Config::payload_max_of(driver.interface().usable_mtu());
    let payload_max = payload_max.expect("an interface that is too short is refused");
    let mut config = Config::new(address, network.secret.job_key(), payload_max);
    config.ethertype = ethernet.ethertypes.esp;
    config.authenticates_data = ethernet.authenticates_data;
    (config.rules.initial_burst_length, config.rules.burst_length) = ethernet.bursts;
    // An acknowledgement is due after at most half of the initial burst.
    config.rules.ack_every = config.rules.ack_every.min(ethernet.bursts.0 / 2);
    // A peer answers only when it runs, so the first retransmission waits for its turn on a shared
    // processor.
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let turn_ns = u64::from(network.num_here()) / processors * TURN_NS;
    config.timing = Timing {
        dead_ns: DEAD_NS,
        connect_ns: DEAD_NS,
        retransmit_max_ns: RETRANSMIT_MAX_NS,
        probe_ns: PROBE_NS,
        retransmit_initial_ns: Timing::default().retransmit_initial_ns + turn_ns,
        ..Timing::default()
    };
    let mut seed = [0; 32];
    getrandom(&mut seed, GetRandomFlags::empty())
        .map_err(io::Error::from)
        .map_err(system("there are no random numbers"))?;
    let addresses = network.locations().map(|location| location.ethernet()).collect();
    let streams: EspTransport<AnyDriver> =
        EspTransport::new(rank, addresses, config, seed, driver, now_ns);
    let streams = streams.with_first_room(network.first_room);
    Ok(streams.with_communicators(network.has_communicators))
}
