//! Makes a rank's streams of ESP over Ethernet a fabric.

use goal_engine::transport::{Full, Header, Transport};
use goal_esp::endpoint::{Config, Loss, Timing};
use goal_eth::{AnyDriver, Driver, EspTransport, LostPeer, OpenError, now_ns};
use goal_fabric::{Exchanged, Fabric};
use goal_job::network::{Ethernet, Network};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

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

/// The pause before unsent frames are offered to the interface again. It does not tell when it has
/// room.
const LEFT_OVER_PAUSE_NS: u64 = 200_000;

/// A rank's streams of ESP to ranks on other hosts.
pub(super) struct Esp<'a> {
    network: &'a Network,
    stream: EspTransport<AnyDriver>,
}

impl<'a> Esp<'a> {
    /// Opens the streams of `rank` over the driver that its launcher opened for its port.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(super) fn over(
        network: &'a Network,
        ethernet: &Ethernet,
        rank: u32,
        driver: AnyDriver,
    ) -> Result<Self, OpenError> {
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
        let stream: EspTransport<AnyDriver> =
            EspTransport::new(rank, addresses, config, seed, driver, now_ns);
        let stream = stream.with_first_room(network.first_room);
        let stream = stream.with_communicators(network.has_communicators);
        Ok(Self { network, stream })
    }
}

impl Fabric for Esp<'_> {
    fn short_max(&self) -> usize {
        self.stream.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.stream.payload_max(to)
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.stream.part_max(to)
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.stream.try_send(to, header, fill)
    }

    fn poll(
        &mut self,
        messages_max: usize,
        sink: &mut dyn FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        self.stream.poll(messages_max, sink)
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.stream.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        self.stream.room(to)
    }

    /// Every eager message is pushed: hosts have granted room, and an answer takes longer than
    /// within a host.
    fn pushed_max(&self, _to: u32) -> u64 {
        u64::MAX
    }

    fn send_written(&mut self) {
        self.stream.send_written();
    }

    fn progress(&mut self) -> bool {
        self.stream.exchange_frames()
    }

    fn has_work(&self) -> bool {
        self.stream.has_work()
    }

    fn has_unsent(&self) -> bool {
        self.stream.driver().has_unsent()
    }

    fn is_receiving(&self) -> bool {
        self.stream.is_receiving()
    }

    fn wake_ns(&self) -> Option<u64> {
        let pause_ns = self.has_unsent().then(|| now_ns() + LEFT_OVER_PAUSE_NS);
        pause_ns.into_iter().chain(self.stream.wake_ns()).min()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.stream.driver().sockets().into_iter().collect()
    }

    fn exchanged(&self) -> Exchanged {
        self.stream.exchanged()
    }

    fn lost(&self) -> Option<(u32, String)> {
        let (rank, cause) = self.stream.lost()?;
        let fault = self.stream.fault().map_or(String::new(), |fault| format!(" ({fault})"));
        let from = self.stream.driver().mac();
        let way = match cause {
            LostPeer::Connection(Loss::TooLong(_)) => {
                format!(
                    " from host {from} (ip link set NAME mtu N on all hosts, or more on the switch)"
                )
            }
            _ => String::new(),
        };
        debug_assert!(!self.network.is_here(rank));
        Some((rank, format!("{cause}{way}{fault}")))
    }
}
