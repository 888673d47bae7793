//! A rank's streams to ranks on other hosts, and how it sleeps with their sockets.

use crate::network::Network;
use goal_esp::endpoint::{Config, Loss, Timing};
use goal_eth::{AnyDriver, Driver, EspTransport, LostPeer, OpenError, now_ns};
use goal_kernel::{Announced, Signs};
use goal_shm::Bell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// The longest silence of a rank before it counts as dead. It is long, because a rank may be
/// stopped by a debugger, compute without polling, or wait for a processor that hundreds of others
/// share. A rank that really died is reported by its launcher at once.
const DEAD_NS: u64 = 300_000_000_000;

/// The longest silence of a peer before it is asked for a sign of life. It is long, because many
/// ranks ask many others, and no rank waits for the answers.
const PROBE_NS: u64 = 10_000_000_000;

/// The longest time before a retransmission. It is short, because hosts on one network are near,
/// and one lost frame may delay a whole schedule.
pub(crate) const RETRANSMIT_MAX_NS: u64 = 20_000_000;

/// The approximate time for which a rank has a processor that it shares, before the next one gets
/// it.
const TURN_NS: u64 = 2_000_000;

/// The pause before unsent frames are offered to the interface again. It does not tell when it has
/// room.
const LEFT_OVER_PAUSE_NS: u64 = 200_000;

/// A rank's streams to ranks on other hosts.
pub(crate) struct Remote<'a> {
    network: &'a Network,
    stream: EspTransport<AnyDriver>,
    /// The sockets, shared with threads that sleep while another one has the streams.
    sockets: Arc<[OwnedFd]>,
    /// The rank's runs in the kernel, whose ends end a sleep too.
    signs: Option<Arc<Signs>>,
}

impl<'a> Remote<'a> {
    /// Opens the streams of `rank` over the driver that its launcher opened for its port.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(crate) fn over(
        network: &'a Network,
        rank: u32,
        driver: AnyDriver,
    ) -> Result<Self, OpenError> {
        let system = |what| move |cause| OpenError::System { what, cause };
        let address = network.address(rank);
        let sockets =
            driver.sockets().iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>();
        let sockets = sockets.map_err(system("there is no descriptor left"))?;
        let payload_max = Config::payload_max_of(driver.interface().usable_mtu());
        let payload_max = payload_max.expect("an interface that is too short is refused");
        let mut config = Config::new(address, network.secret.job_key(), payload_max);
        config.ethertype = network.ethertypes.esp;
        config.authenticates_data = network.authenticates_data;
        (config.rules.initial_burst_length, config.rules.burst_length) = network.bursts;
        // At most half of the initial burst.
        config.rules.ack_every = config.rules.ack_every.min(network.bursts.0 / 2);
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
        let stream: EspTransport<AnyDriver> =
            EspTransport::new(rank, network.addresses(), config, seed, driver, now_ns);
        let stream = stream.with_first_room(network.first_room);
        let stream = stream.with_communicators(network.has_communicators);
        Ok(Self { network, stream, sockets, signs: None })
    }

    /// Lets the ends of runs in the kernel end sleeps.
    pub(crate) fn follow(&mut self, signs: Arc<Signs>) {
        self.signs = Some(signs);
    }

    /// Returns true if a run in the kernel has ended and nobody has settled it, or the rank is to
    /// look at these runs for another reason.
    #[inline]
    pub(crate) fn has_sign(&self) -> bool {
        self.signs.as_ref().is_some_and(|signs| signs.is_due() || signs.is_news())
    }

    /// Returns true if a rank is on another host.
    #[inline]
    pub(crate) fn leads_to(&self, rank: u32) -> bool {
        !self.network.is_here(rank)
    }

    /// Returns the streams for sending and polling.
    #[inline]
    pub(crate) fn stream(&mut self) -> &mut EspTransport<AnyDriver> {
        &mut self.stream
    }

    /// Returns the streams.
    #[inline]
    pub(crate) fn streams(&self) -> &EspTransport<AnyDriver> {
        &self.stream
    }

    /// Describes the first loss of a rank, if one was lost.
    pub(crate) fn loss(&self) -> Option<String> {
        let (rank, cause) = self.stream.lost()?;
        let mac = self.network.address(rank).mac;
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
        Some(format!("rank {rank} on host {mac} is lost: {cause}{way}{fault}"))
    }

    /// Sleeps until the rank may be able to go on: the bell rang, a message arrived, a refused
    /// message has room, a run in the kernel ended, or `limit` has passed. Meanwhile it keeps the
    /// streams alive: it sends acknowledgements and retransmissions.
    pub(crate) fn sleep(
        &mut self,
        bell: Bell<'_>,
        is_armed: impl Fn() -> bool,
        limit: Option<Duration>,
    ) {
        let until_ns = limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
        while is_armed() && !self.stream.exchange_frames() && !self.has_sign() {
            let now_ns = now_ns();
            if until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                break;
            }
            let next_ns = until_ns.into_iter().chain(self.until_ns()).min();
            let left = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(now_ns)));
            // If the interface has no room for frames, wait although there is work.
            if self.has_unsent() || !self.stream.has_work() {
                sleep(&self.sockets, bell, self.signs.as_deref(), left);
                // The bell is silenced before `is_armed` is read again. A rank that rings disarms
                // first, so no ring is lost. A late ring of an earlier sleep would end every
                // further sleep at once.
                bell.drain();
            }
        }
        bell.drain();
    }

    /// Returns a means for another thread to wait for frames.
    pub(crate) fn sleeper(&self) -> Sleeper {
        let (sockets, signs) = (Arc::clone(&self.sockets), self.signs.clone());
        Sleeper { sockets, signs, until_ns: self.until_ns() }
    }

    /// Returns true if the interface had no room for some frames.
    fn has_unsent(&self) -> bool {
        self.stream.driver().has_unsent()
    }

    /// Returns the time at which the streams or the driver have work even if no frame arrives.
    fn until_ns(&self) -> Option<u64> {
        let pause_ns = self.has_unsent().then(|| now_ns() + LEFT_OVER_PAUSE_NS);
        pause_ns.into_iter().chain(self.stream.wake_ns()).min()
    }
}

/// Waits for frames while another thread has the streams.
pub(crate) struct Sleeper {
    sockets: Arc<[OwnedFd]>,
    signs: Option<Arc<Signs>>,
    until_ns: Option<u64>,
}

impl Sleeper {
    /// Returns the time at which the streams have work even if no frame arrives.
    pub(crate) fn until_ns(&self) -> Option<u64> {
        self.until_ns
    }

    /// Sleeps until the bell rings, a frame arrives, the streams have work, a run in the kernel
    /// ends or `limit` has passed. The bell keeps ringing: another thread may sleep with it too,
    /// and would not wake if this thread silenced it first.
    pub(crate) fn sleep(&self, bell: Bell<'_>, limit: Option<Duration>) {
        let until =
            self.until_ns.map(|until_ns| Duration::from_nanos(until_ns.saturating_sub(now_ns())));
        let limit = limit.into_iter().chain(until).min();
        sleep(&self.sockets, bell, self.signs.as_deref(), limit);
    }

    /// Returns a sleeper that waits for the bell alone, for tests.
    #[cfg(test)]
    pub(crate) fn of_bell() -> Self {
        Self { sockets: Arc::new([]), signs: None, until_ns: None }
    }
}

/// Sleeps until a descriptor is readable, a run in the kernel ends or `limit` has passed.
fn sleep(sockets: &[OwnedFd], bell: Bell<'_>, signs: Option<&Signs>, limit: Option<Duration>) {
    let Some(signs) = signs else {
        poll_once(sockets, bell, None, limit);
        return;
    };
    let until_ns = limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
    loop {
        let left = until_ns.map(|ns| Duration::from_nanos(ns.saturating_sub(now_ns())));
        let is_readable = match signs.announce() {
            Announced::Nothing => {
                poll_once(sockets, bell, None, left);
                return;
            }
            Announced::Due => true,
            // The sleep goes on if the time has passed and there is no news, so that the rank's
            // state stays the same.
            Announced::Sleep(most) => {
                let time = left.map_or(most, |left| left.min(most));
                poll_once(sockets, bell, Some(signs), Some(time))
            }
        };
        signs.renounce();
        let is_late = until_ns.is_some_and(|ns| ns <= now_ns());
        if is_readable || is_late || signs.is_due() || signs.is_news() {
            return;
        }
    }
}

/// Waits once. Returns true if a descriptor is readable.
fn poll_once(
    sockets: &[OwnedFd],
    bell: Bell<'_>,
    signs: Option<&Signs>,
    limit: Option<Duration>,
) -> bool {
    let bell = bell.descriptor().expect("the launcher hung up a bell");
    let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    // A driver has at most two sockets.
    let mut fds = [readable(bell), readable(bell), readable(bell), readable(bell)];
    let others = sockets.iter().map(AsFd::as_fd).chain(signs.map(AsFd::as_fd));
    for (place, other) in fds.iter_mut().zip(others) {
        *place = readable(other);
    }
    // A limit that is too long for the system is no limit.
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // Errors are ignored: the caller polls again, and sending fails if the interface is down.
    poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready > 0)
}
