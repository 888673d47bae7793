//! A rank's way to ranks on other hosts: its socket, its streams, and how it sleeps.

use crate::network::Network;
use goal_esp::endpoint::{Config, Loss, Timing};
use goal_eth::{AnyDriver, Driver, EspTransport, LostPeer, OpenError, now_ns};
use goal_shm::Bell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Longest silence of a rank before it is taken for dead. Its launcher tells at once when it has
/// died, and the launchers ask each other. So a rank may be stopped, as by a debugger, compute
/// without a look at its messages, or wait for a processor that it shares with hundreds of others.
const DEAD_NS: u64 = 300_000_000_000;

/// Longest silence of a peer before it is asked for a sign of life: between many ranks these are
/// many questions, and nobody waits for the answers.
const PROBE_NS: u64 = 10_000_000_000;

/// The longest time after which something is said again: hosts on one network are near, and a
/// schedule waits as a whole for what one of its messages lacks.
pub(crate) const RETRANSMIT_MAX_NS: u64 = 20_000_000;

/// When frames are sent again that the interface had no room for: it does not say when it has.
const LEFT_OVER_PAUSE_NS: u64 = 200_000;

/// A rank's way to ranks on other hosts.
pub struct Remote<'a> {
    network: &'a Network,
    stream: EspTransport<AnyDriver>,
    /// The sockets, for a thread that sleeps while another one has the rest.
    sockets: Arc<[OwnedFd]>,
}

impl<'a> Remote<'a> {
    /// The way of `rank` by the driver that its launcher opened for its port.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn over(network: &'a Network, rank: u32, driver: AnyDriver) -> Result<Self, OpenError> {
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
        config.timing = Timing {
            dead_ns: DEAD_NS,
            connect_ns: DEAD_NS,
            retransmit_max_ns: RETRANSMIT_MAX_NS,
            probe_ns: PROBE_NS,
            ..Timing::default()
        };
        let mut seed = [0; 32];
        getrandom(&mut seed, GetRandomFlags::empty())
            .map_err(io::Error::from)
            .map_err(system("there are no random numbers"))?;
        let stream: EspTransport<AnyDriver> =
            EspTransport::new(rank, network.addresses(), config, seed, driver, now_ns);
        Ok(Self { network, stream, sockets })
    }

    /// Whether a rank is on another host.
    #[inline]
    pub fn leads_to(&self, rank: u32) -> bool {
        !self.network.is_here(rank)
    }

    /// The streams.
    #[inline]
    pub fn stream(&mut self) -> &mut EspTransport<AnyDriver> {
        &mut self.stream
    }

    /// The streams.
    #[inline]
    pub fn streams(&self) -> &EspTransport<AnyDriver> {
        &self.stream
    }

    /// What became of a rank that was lost, in words.
    pub fn loss(&self) -> Option<String> {
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

    /// Sleeps until there may be something to do: somebody rang, a message came or left, or `limit`
    /// passes. What the streams have to say or to repeat meanwhile is said and repeated.
    pub fn sleep(&mut self, bell: Bell<'_>, is_armed: impl Fn() -> bool, limit: Option<Duration>) {
        let until_ns = limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
        while is_armed() && !self.stream.exchange_frames() {
            let now_ns = now_ns();
            if until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                break;
            }
            let next_ns = until_ns.into_iter().chain(self.until_ns()).min();
            let left = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(now_ns)));
            // What is left over takes a pause.
            if self.has_unsent() || !self.stream.has_work() {
                sleep(&self.sockets, bell, left);
                // Before the next look at `is_armed`. Who rings has disarmed before, so no ring is
                // lost. One that was late for the sleep before would end each further one at once.
                bell.drain();
            }
        }
        bell.drain();
    }

    /// What another thread sleeps in.
    pub fn sleeper(&self) -> Sleeper {
        Sleeper { sockets: Arc::clone(&self.sockets), until_ns: self.until_ns() }
    }

    /// Whether frames are to leave that the interface had no room for.
    fn has_unsent(&self) -> bool {
        self.stream.driver().has_unsent()
    }

    /// When the streams or the driver have something to do though nothing comes.
    fn until_ns(&self) -> Option<u64> {
        let pause_ns = self.has_unsent().then(|| now_ns() + LEFT_OVER_PAUSE_NS);
        pause_ns.into_iter().chain(self.stream.wake_ns()).min()
    }
}

/// What a thread sleeps in while another one has the streams.
pub struct Sleeper {
    sockets: Arc<[OwnedFd]>,
    until_ns: Option<u64>,
}

impl Sleeper {
    /// Sleeps until somebody rings, a frame arrives, the streams have something to do or `limit`
    /// passes. The bell stays as it is: somebody else may sleep with it, and would not wake if it
    /// were silent when the system lets it look.
    pub fn sleep(&self, bell: Bell<'_>, limit: Option<Duration>) {
        let until =
            self.until_ns.map(|until_ns| Duration::from_nanos(until_ns.saturating_sub(now_ns())));
        sleep(&self.sockets, bell, limit.into_iter().chain(until).min());
    }

    /// One that waits for the bell alone, for tests.
    #[cfg(test)]
    pub(crate) fn of_bell() -> Self {
        Self { sockets: Arc::new([]), until_ns: None }
    }
}

fn sleep(sockets: &[OwnedFd], bell: Bell<'_>, limit: Option<Duration>) {
    let bell = bell.descriptor().expect("the launcher hung up a bell");
    let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    // A driver has at most two sockets.
    let mut fds = [readable(bell), readable(bell), readable(bell)];
    for (place, socket) in fds.iter_mut().zip(sockets) {
        *place = readable(socket.as_fd());
    }
    // A limit too long for the system is none.
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // Whatever it says, the caller looks again; that the interface is down it hears when it sends.
    let _ = poll(&mut fds, limit.as_ref());
}
