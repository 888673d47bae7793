//! Talks with other launchers on one Ethernet, on a thread of its own.

use super::super::options::Ethernet;
use super::{Command, Inbox, PART_NS, Post, SLEEP_MAX_NS, random};
use crate::hosts::{Discovery, Key, Link, LinkEvent};
use goal_esp::auth::Address;
use goal_esp::endpoint::Config;
use goal_esp::wire::Mac;
use goal_eth::now_ns;
use goal_eth::{Driver, Interface, LostInterface, OpenError, Packet};
use goal_job::network::Ethertypes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most frames that are received at a time.
const FRAMES_MAX: usize = 64;
/// The most receives in a row before the thread handles timers and commands. Together they take
/// more frames than a driver's ring holds.
const ROUNDS_MAX: usize = 32;
/// The longest time for sending the last acknowledgements, in nanoseconds. It begins when the last
/// messages of all other launchers have arrived.
const HEARD_NS: u64 = 100_000_000;
/// The time for which the thread stays after all streams are closed, in nanoseconds. In it the last
/// acknowledgement is sent.
const STAY_NS: u64 = 2_000_000;

/// Returns the nonce of a run. Its high bits are the start time, and its low 20 bits, about a
/// millisecond, are random. So later runs of a host have higher nonces.
fn nonce() -> io::Result<u64> {
    const RANDOM: u64 = (1 << 20) - 1;
    // With a clock before 1970 the time is 0. Other hosts answer nevertheless.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_nanos() as u64 & !RANDOM | u64::from_ne_bytes(random()?) & RANDOM)
}

impl Post {
    /// Opens the interface and starts the thread that searches for the other hosts. `discover` gets
    /// the address of the interface and the nonce of the run, and returns the search. Returns the
    /// thread's handle and the interface.
    ///
    /// # Errors
    /// The interface can't be used, or `discover` failed.
    pub(in super::super) fn on_ethernet<E: From<OpenError> + From<io::Error>>(
        hosts: &Ethernet,
        key: &Key,
        discover: impl FnOnce(Mac, u64) -> Result<Discovery, E>,
    ) -> Result<(Self, Interface), E> {
        let ethertypes = Ethertypes::default();
        let both = [ethertypes.edp, ethertypes.esp];
        let driver = Packet::open(&hosts.interface, &both, Some(hosts.port))?;
        let interface = driver.interface().clone();
        let discovery = discover(driver.mac(), nonce()?)?;
        let me = Address { mac: driver.mac(), port: hosts.port };
        let payload_max = Config::payload_max_of(driver.mtu())
            .expect("an interface that is too short is refused");
        let link = Link::new(now_ns(), (me, ethertypes), key, discovery, payload_max, random()?);
        let post = Self::start(move |inbox| Worker { driver, link, inbox, fault: None }.work())?;
        Ok((post, interface))
    }
}

/// The state of the thread.
struct Worker {
    driver: Packet,
    link: Link,
    inbox: Inbox,
    /// The last error of the interface.
    fault: Option<LostInterface>,
}

impl Worker {
    /// Runs until the [`Post`] is dropped and its last messages have been sent.
    fn work(mut self) {
        let mut ends_ns = None;
        loop {
            let now_ns = now_ns();
            while ends_ns.is_none() && self.link.has_room() {
                match self.inbox.commands.try_recv() {
                    Ok(command) => self.obey(now_ns, command),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => ends_ns = Some(now_ns + PART_NS),
                }
            }
            let link = &mut self.link;
            // All received frames are handled before the timers, which may take a host for silent.
            for _ in 0..ROUNDS_MAX {
                if self.driver.receive(FRAMES_MAX, |frame| link.handle_frame(now_ns, frame))
                    < FRAMES_MAX
                {
                    break;
                }
            }
            self.link.handle_timeout(now_ns);
            if let Some(until_ns) = ends_ns {
                self.link.close(now_ns);
                while self.link.poll_event(now_ns).is_some() {}
                let earlier_ns = match (self.link.is_broken(), self.link.is_closed()) {
                    (true, _) => until_ns,
                    (false, true) => now_ns + STAY_NS,
                    (false, false) if self.link.has_heard_all() => now_ns + HEARD_NS,
                    (false, false) => until_ns,
                };
                ends_ns = Some(until_ns.min(earlier_ns));
                if now_ns >= until_ns {
                    return;
                }
            }
            self.tell();
            self.transmit();
            self.sleep(ends_ns.is_some());
        }
    }

    fn obey(&mut self, now_ns: u64, command: Command) {
        let link = &mut self.link;
        match command {
            Command::Claimed(ports) => link.claimed(&ports),
            Command::Begin(run) => link.begin(run),
            Command::Connect(host) => link.connect(now_ns, host.mac()),
            Command::Send(host, message, bytes, fills) => {
                link.send(host.mac(), &message, &bytes, fills)
            }
            Command::Probe(host, round) => link.probe(host.mac(), round),
            Command::Reply(host, round, rank, reply) => link.reply(host.mac(), round, rank, reply),
            Command::TellMissing => link.tell_missing(),
        }
    }

    fn tell(&mut self) {
        let Self { inbox, link, fault, .. } = self;
        inbox.tell(|| {
            Some(match link.poll_event(now_ns())? {
                LinkEvent::Lost(host, why) => {
                    let fault = fault.as_ref().map_or(String::new(), |fault| format!(" ({fault})"));
                    LinkEvent::Lost(host, format!("{why}{fault}"))
                }
                other => other,
            })
        });
    }

    fn transmit(&mut self) {
        let link = &mut self.link;
        if let Err(lost) = transmit(&mut self.driver, |out| link.poll_transmit(now_ns(), out)) {
            self.fault = Some(lost);
        }
    }

    fn sleep(&mut self, is_leaving: bool) {
        let mut buffer = [0; 8];
        if self.driver.has_frame() {
            return;
        }
        let limit_ns = match self.inbox.event.is_some() || is_leaving || self.driver.has_unsent() {
            true => 1_000_000,
            false => SLEEP_MAX_NS,
        };
        let timeout_ns =
            self.link.poll_timeout().map_or(u64::MAX, |at_ns| at_ns.saturating_sub(now_ns()));
        let limit = Timespec::try_from(Duration::from_nanos(limit_ns.min(timeout_ns)));
        let mut fds = [
            PollFd::new(&self.driver, PollFlags::IN),
            PollFd::new(&*self.inbox.bell, PollFlags::IN),
        ];
        // Errors are ignored, as the caller looks at all descriptors again.
        let _ = poll(&mut fds, limit.ok().as_ref());
        if fds[0].revents().contains(PollFlags::ERR)
            && let Err(lost) = self.driver.wait(Some(Duration::ZERO))
        {
            self.fault = Some(lost);
        }
        let _ = rustix::io::read(&*self.inbox.bell, &mut buffer);
    }
}

/// Sends the frames that `write` writes, until it has none or the interface takes no more.
pub(in super::super) fn transmit(
    driver: &mut impl Driver,
    mut write: impl FnMut(&mut [u8]) -> Option<usize>,
) -> Result<(), LostInterface> {
    loop {
        let sent = driver.send(&mut write);
        if sent == Ok(true) {
            continue;
        }
        driver.flush()?;
        if sent == Ok(false) || driver.has_unsent() {
            return Ok(());
        }
    }
}
