//! Opens a rank's streams of ESP over Ethernet.

use goal_esp::endpoint::{Config, Timing};
use goal_eth::{AnyDriver, EspTransport, OpenError, now_ns};
use goal_job::network::{Ethernet, Network};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// The longest silence of a rank before it counts as dead. It is long, because a rank may be
/// stopped by a debugger, compute without polling, or wait for a processor that hundreds of others
/// share. A rank that really died is reported by its launcher at once.
const DEAD_NS: u64 = 300_000_000_000;

/// The longest silence of a peer before it is asked for a sign of life. It is long, because many
/// ranks ask many others, and no rank waits for the answers.
const PROBE_NS: u64 = 10_000_000_000;

/// The longest time before a retransmission. It is short, because hosts on one network are near,
/// and one lost frame may delay a whole schedule.
pub const RETRANSMIT_MAX_NS: u64 = 20_000_000;

/// The approximate time for which a rank has a processor that it shares, before the next one gets
/// it.
const TURN_NS: u64 = 2_000_000;

/// Opens the streams of `rank` over the driver that its launcher opened for its port.
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
    // At most half of the initial burst.
    config.rules.ack_every = config.rules.ack_every.min(ethernet.bursts.0 / 2);
    // A peer answers when it gets its processor.
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
