//! The thread that exchanges frames with the launchers of other hosts. It answers them in time,
//! whatever the launcher itself does.

use super::Hosts;
use crate::hosts::Discovery;
use crate::hosts::{Event, Key, Link, Message, Reply};
use crate::network::Ethertypes;
use crate::rights;
use goal_esp::auth::Address;
use goal_esp::endpoint::Config;
use goal_esp::wire::Mac;
use goal_eth::now_ns;
use goal_eth::{Driver, Interface, Lost, OpenError, Packet};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::setpriority_process;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most events that are handled before ranks and signals are checked again. Other hosts may
/// send events without end.
pub(super) const EVENTS_MAX: usize = 256;

/// The most events, and the most commands, that wait.
const WAITING_MAX: usize = 256;
/// The most frames that are received at a time.
const FRAMES_MAX: usize = 64;
/// The most receives in a row before anything else is done. Together they take more frames than a
/// driver's ring holds.
const ROUNDS_MAX: usize = 32;
/// The thread's nice value, if the system grants it. The thread has little to do, but other hosts
/// take this one for lost if it does not run.
const NICE: i32 = -10;
/// The longest sleep. A command may arrive while the bell can't ring.
const SLEEP_MAX_NS: u64 = 20_000_000;
/// The longest time for sending the last messages.
const PART_NS: u64 = 1_000_000_000;
/// The longest time for sending the last acknowledgements, after the last messages of all other
/// launchers have arrived.
const HEARD_NS: u64 = 100_000_000;
/// The time for which the thread stays after all streams are closed, so that the last
/// acknowledgement is sent.
const STAY_NS: u64 = 2_000_000;

/// A command to the thread.
enum Command {
    Claimed(Vec<u16>),
    Begin(u64),
    Connect(Mac),
    Send(Mac, Message, Vec<u8>, bool),
    Probe(Mac, u64),
    Reply(Mac, u64, u32, Reply),
    TellMissing,
}

/// The launcher's end of the thread. When it is dropped, all messages are still sent.
pub(super) struct Post {
    interface: Interface,
    commands: Option<SyncSender<Command>>,
    events: Receiver<Event>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Returns random bytes that are impossible to guess.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // So few bytes are returned by one call.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// Returns the nonce of a run: its start time, with random bits below a millisecond. So later runs
/// of a host have higher nonces.
fn nonce() -> io::Result<u64> {
    const RANDOM: u64 = (1 << 20) - 1;
    // With a clock before 1970 the time is 0. Other hosts answer nevertheless.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_nanos() as u64 & !RANDOM | u64::from_ne_bytes(random()?) & RANDOM)
}

impl Post {
    /// Opens the interface and begins the search for other hosts. `discover` returns the search for
    /// the address of the interface and the run's nonce.
    ///
    /// # Errors
    /// The interface can't be used, or `discover` failed.
    pub(super) fn open<E: From<OpenError> + From<io::Error>>(
        hosts: &Hosts,
        key: &Key,
        discover: impl FnOnce(Mac, u64) -> Result<Discovery, E>,
    ) -> Result<Self, E> {
        let ethertypes = Ethertypes::default();
        let both = [ethertypes.edp, ethertypes.esp];
        let driver = Packet::open(&hosts.interface, &both, Some(hosts.port))?;
        let interface = driver.interface().clone();
        let discovery = discover(driver.mac(), nonce()?)?;
        let me = Address { mac: driver.mac(), port: hosts.port };
        let payload_max = Config::payload_max_of(driver.mtu())
            .expect("an interface that is too short is refused");
        let link = Link::new(now_ns(), (me, ethertypes), key, discovery, payload_max, random()?);
        let bell =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?;
        let bell = Arc::new(bell);
        let (commands, told) = sync_channel(WAITING_MAX);
        let (tell, events) = sync_channel(WAITING_MAX);
        let of_thread = Arc::clone(&bell);
        let work = move || {
            // Errors are ignored: the socket is open, and the right to open others does no harm.
            let _ = setpriority_process(None, NICE);
            let _ = rights::give_up();
            Worker { driver, link, tell, bell: of_thread, event: None, fault: None }.work(&told);
        };
        let thread = thread::Builder::new().name("hosts".to_owned()).spawn(work)?;
        Ok(Self { interface, commands: Some(commands), events, bell, thread: Some(thread) })
    }

    /// Returns the interface.
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    fn tell(&self, command: Command) {
        // The thread lives as long as `self`, so this does not fail.
        let _ = self.commands.as_ref().expect("it is not dropped").send(command);
        ring(&self.bell);
    }

    pub(super) fn claimed(&self, ports: Vec<u16>) {
        self.tell(Command::Claimed(ports));
    }

    /// See [`Link::begin`].
    pub(super) fn begin(&self, run: u64) {
        self.tell(Command::Begin(run));
    }

    pub(super) fn connect(&self, host: Mac) {
        self.tell(Command::Connect(host));
    }

    pub(super) fn send(&self, host: Mac, message: Message) {
        self.send_with(host, message, vec![], false);
    }

    /// Sends a message with bytes after it, in the longest frames of the interface if `fills` is
    /// set, in short ones otherwise. Waits while much has to be sent.
    pub(super) fn send_with(&self, host: Mac, message: Message, bytes: Vec<u8>, fills: bool) {
        self.tell(Command::Send(host, message, bytes, fills));
    }

    pub(super) fn probe(&self, host: Mac, round: u64) {
        self.tell(Command::Probe(host, round));
    }

    pub(super) fn reply(&self, host: Mac, round: u64, rank: u32, reply: Reply) {
        self.tell(Command::Reply(host, round, rank, reply));
    }

    /// Makes [`Event::Missing`] follow.
    pub(super) fn tell_missing(&self) {
        self.tell(Command::TellMissing);
    }

    /// Returns the next event, or `None` if there is none within `limit`.
    pub(super) fn event(&self, limit: Duration) -> Option<Event> {
        match self.events.recv_timeout(limit) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(limit);
                None
            }
        }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.commands = None;
        ring(&self.bell);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn ring(bell: &OwnedFd) {
    // An error means that the counter is full, so the bell has rung.
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}

/// The state of the thread.
struct Worker {
    driver: Packet,
    link: Link,
    tell: SyncSender<Event>,
    bell: Arc<OwnedFd>,
    /// An event that there was no room for.
    event: Option<Event>,
    /// The last error of the interface.
    fault: Option<Lost>,
}

impl Worker {
    /// Runs until the launcher's end is dropped and its last messages have been sent.
    fn work(mut self, commands: &Receiver<Command>) {
        let mut ends_ns = None;
        loop {
            let now_ns = now_ns();
            while ends_ns.is_none() && self.link.has_room() {
                match commands.try_recv() {
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
            Command::Connect(host) => link.connect(now_ns, host),
            Command::Send(host, message, bytes, fills) => link.send(host, &message, &bytes, fills),
            Command::Probe(host, round) => link.probe(host, round),
            Command::Reply(host, round, rank, reply) => link.reply(host, round, rank, reply),
            Command::TellMissing => link.tell_missing(),
        }
    }

    fn tell(&mut self) {
        while let Some(event) = self.event.take().or_else(|| self.link.poll_event(now_ns())) {
            let event = match event {
                Event::Lost(host, why) => {
                    let fault =
                        self.fault.as_ref().map_or(String::new(), |fault| format!(" ({fault})"));
                    Event::Lost(host, format!("{why}{fault}"))
                }
                other => other,
            };
            match self.tell.try_send(event) {
                Ok(()) => {}
                Err(TrySendError::Full(event)) => {
                    self.event = Some(event);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => {}
            }
        }
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
        let limit_ns = match self.event.is_some() || is_leaving || self.driver.has_unsent() {
            true => 1_000_000,
            false => SLEEP_MAX_NS,
        };
        let timeout_ns =
            self.link.poll_timeout().map_or(u64::MAX, |at_ns| at_ns.saturating_sub(now_ns()));
        let limit = Timespec::try_from(Duration::from_nanos(limit_ns.min(timeout_ns)));
        let mut fds =
            [PollFd::new(&self.driver, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        // Errors are ignored, as everything is checked again.
        let _ = poll(&mut fds, limit.ok().as_ref());
        if fds[0].revents().contains(PollFlags::ERR)
            && let Err(lost) = self.driver.wait(Some(Duration::ZERO))
        {
            self.fault = Some(lost);
        }
        let _ = rustix::io::read(&*self.bell, &mut buffer);
    }
}

/// Sends the frames that `write` writes, until it has none or the interface takes no more.
pub(super) fn transmit(
    driver: &mut impl Driver,
    mut write: impl FnMut(&mut [u8]) -> Option<usize>,
) -> Result<(), Lost> {
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
