//! The thread that carries what this launcher and those of other hosts tell each other, so that it
//! answers whatever else it does.

#[cfg(test)]
mod tests;

use super::Hosts;
use crate::hosts::Discovery;
use crate::hosts::{Event, Key, Link, Message, Reply};
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

/// Events and commands that wait at most.
const WAITING_MAX: usize = 256;
/// Frames that are taken at a time.
const FRAMES_MAX: usize = 64;
/// Most receives in a row before anything else is done: together more than a ring has room for.
const ROUNDS_MAX: usize = 32;
/// The thread's priority, where the system grants it: it has little to do, and other hosts take
/// this one for lost where it comes to nothing.
const NICE: i32 = -10;
/// Longest sleep: a command may come while the bell can't ring.
const SLEEP_MAX_NS: u64 = 20_000_000;
/// How long the last words may take.
const PART_NS: u64 = 1_000_000_000;
/// The same where those of all others have come: whether they know that this launcher knows matters
/// to nobody.
const HEARD_NS: u64 = 100_000_000;
/// How long it stays after that both sides know all, so that the last acknowledgement leaves.
const STAY_NS: u64 = 2_000_000;

/// What the thread is told.
enum Command {
    Claimed(Vec<u16>),
    Begin(u64),
    Connect(Mac),
    Send(Mac, Message, Vec<u8>, bool),
    Probe(Mac, u64),
    Reply(Mac, u64, u32, Reply),
    TellMissing,
}

/// The launcher's end of it. When it is dropped, what was said still leaves.
pub(super) struct Post {
    interface: Interface,
    commands: Option<SyncSender<Command>>,
    events: Receiver<Event>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Random bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // So few come at once.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// The nonce of a run: its time, and below a millisecond random bits. So a host's later runs have
/// higher ones.
fn nonce() -> io::Result<u64> {
    const RANDOM: u64 = (1 << 20) - 1;
    // A clock that is as wrong as not to fit is no help: others answer all the same.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_nanos() as u64 & !RANDOM | u64::from_ne_bytes(random()?) & RANDOM)
}

impl Post {
    /// Opens the interface and begins to look for others; `discover` says whom, from the address of
    /// the interface and the run's nonce.
    ///
    /// # Errors
    /// Why the interface can't be used, or what `discover` says.
    pub(super) fn open<E: From<OpenError> + From<io::Error>>(
        hosts: &Hosts,
        key: &Key,
        discover: impl FnOnce(Mac, u64) -> Result<Discovery, E>,
    ) -> Result<Self, E> {
        let ethertypes = [hosts.ethertypes.edp, hosts.ethertypes.esp];
        let driver = Packet::open(&hosts.interface, &ethertypes, Some(hosts.port))?;
        let interface = driver.interface().clone();
        let discovery = discover(driver.mac(), nonce()?)?;
        let me = Address { mac: driver.mac(), port: hosts.port };
        let payload_max = Config::payload_max_of(driver.mtu())
            .expect("an interface that is too short is refused");
        let link =
            Link::new(now_ns(), (me, hosts.ethertypes), key, discovery, payload_max, random()?);
        let bell =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?;
        let bell = Arc::new(bell);
        let (commands, told) = sync_channel(WAITING_MAX);
        let (tell, events) = sync_channel(WAITING_MAX);
        let of_thread = Arc::clone(&bell);
        let work = move || {
            // Its socket is open; if it keeps the right, that does no harm.
            let _ = setpriority_process(None, NICE);
            let _ = rights::give_up();
            Worker { driver, link, tell, bell: of_thread, event: None, fault: None }.work(&told);
        };
        let thread = thread::Builder::new().name("hosts".to_owned()).spawn(work)?;
        Ok(Self { interface, commands: Some(commands), events, bell, thread: Some(thread) })
    }

    /// The interface.
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    fn tell(&self, command: Command) {
        // The thread ends after this only.
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

    /// Says something with bytes behind it, in frames that are as long as the interface has them if
    /// it `fills` them, in short ones otherwise. Waits while much has to leave.
    pub(super) fn send_with(&self, host: Mac, message: Message, bytes: Vec<u8>, fills: bool) {
        self.tell(Command::Send(host, message, bytes, fills));
    }

    pub(super) fn probe(&self, host: Mac, round: u64) {
        self.tell(Command::Probe(host, round));
    }

    pub(super) fn reply(&self, host: Mac, round: u64, rank: u32, reply: Reply) {
        self.tell(Command::Reply(host, round, rank, reply));
    }

    /// [`Event::Missing`] follows.
    pub(super) fn tell_missing(&self) {
        self.tell(Command::TellMissing);
    }

    /// The next event, within `limit`.
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
    // Where it is full it has rung.
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}

/// The thread.
struct Worker {
    driver: Packet,
    link: Link,
    tell: SyncSender<Event>,
    bell: Arc<OwnedFd>,
    /// One that there was no room for.
    event: Option<Event>,
    /// What the interface said last where it carried no frames.
    fault: Option<Lost>,
}

impl Worker {
    /// Until the launcher is gone, and its last words have been said.
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
            // All that has come, before anybody is taken for silent.
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
        // Whatever it says, all is looked at again.
        let _ = poll(&mut fds, limit.ok().as_ref());
        if fds[0].revents().contains(PollFlags::ERR)
            && let Err(lost) = self.driver.wait(Some(Duration::ZERO))
        {
            self.fault = Some(lost);
        }
        let _ = rustix::io::read(&*self.bell, &mut buffer);
    }
}

/// Lets out the frames that `write` writes, until it has none or the interface takes no more.
fn transmit(
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
