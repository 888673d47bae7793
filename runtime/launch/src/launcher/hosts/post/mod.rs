//! Talks with the launchers of other hosts on a thread of its own. The thread answers them in time,
//! even if the launcher itself is busy.

mod ethernet;
mod tcp;

#[cfg(test)]
pub(super) use ethernet::transmit;
pub use tcp::listen_at;

use crate::hosts::{LauncherMessage, LinkEvent, Reply};
use goal_job::host::Host;
use goal_job::rights;
use goal_job::threads::{LibraryThread, sleep};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::setpriority_process;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The most events that are handled before ranks and signals are checked again. Other hosts may
/// send events without end.
pub(super) const EVENTS_MAX: usize = 256;

/// The most events that wait for the launcher, and the most commands that wait for the thread.
const WAITING_MAX: usize = 256;
/// The nice value that the thread asks for. It has little to do, but other hosts take this host for
/// lost if the thread does not run.
const NICE: i32 = -10;
/// The longest sleep of the thread. A command may arrive without a ring of the bell.
const SLEEP_MAX_NS: u64 = 20_000_000;
/// The longest time for sending the last messages after the [`Post`] was dropped.
const PART_NS: u64 = 1_000_000_000;
/// A command of the launcher to the thread.
enum Command {
    Claimed(Vec<u16>),
    Begin(u64),
    Connect(Host),
    Send(Host, LauncherMessage, Vec<u8>, bool),
    Probe(Host, u64),
    Reply(Host, u64, u32, Reply),
    TellMissing,
}

/// The launcher's handle of the thread. Dropping it waits until the last messages were sent, for at
/// most [`PART_NS`].
pub(super) struct Post {
    commands: Option<SyncSender<Command>>,
    events: Receiver<LinkEvent>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Returns random bytes that are impossible to guess.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // One call returns this few bytes in full.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

impl Post {
    /// Starts the thread, which calls `work` with its [`Inbox`].
    fn start(work: impl FnOnce(Inbox) + Send + 'static) -> io::Result<Self> {
        let bell =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?;
        let bell = Arc::new(bell);
        let (commands, told) = sync_channel(WAITING_MAX);
        let (tell, events) = sync_channel(WAITING_MAX);
        let inbox = Inbox { commands: told, tell, bell: Arc::clone(&bell), event: None };
        let work = move || {
            // Errors are ignored: the sockets are open, and the right to open others does no harm.
            let _ = setpriority_process(None, NICE);
            let _ = rights::give_up();
            let _thread = LibraryThread::enter();
            work(inbox);
        };
        let thread = thread::Builder::new().name("hosts".to_owned()).spawn(work)?;
        Ok(Self { commands: Some(commands), events, bell, thread: Some(thread) })
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

    pub(super) fn connect(&self, host: Host) {
        self.tell(Command::Connect(host));
    }

    pub(super) fn send(&self, host: Host, message: LauncherMessage) {
        self.send_with(host, message, vec![], false);
    }

    /// Sends a message with bytes after it, in the longest frames of the interface if `fills` is
    /// set, in short ones otherwise. Waits while much has to be sent.
    pub(super) fn send_with(
        &self,
        host: Host,
        message: LauncherMessage,
        bytes: Vec<u8>,
        fills: bool,
    ) {
        self.tell(Command::Send(host, message, bytes, fills));
    }

    pub(super) fn probe(&self, host: Host, round: u64) {
        self.tell(Command::Probe(host, round));
    }

    pub(super) fn reply(&self, host: Host, round: u64, rank: u32, reply: Reply) {
        self.tell(Command::Reply(host, round, rank, reply));
    }

    /// Asks the thread to report [`LinkEvent::Missing`].
    pub(super) fn tell_missing(&self) {
        self.tell(Command::TellMissing);
    }

    /// Returns the next event, or `None` if there is none within `limit`.
    pub(super) fn event(&self, limit: Duration) -> Option<LinkEvent> {
        match self.events.recv_timeout(limit) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                sleep(limit);
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

/// The thread's end of the channels to the launcher.
struct Inbox {
    commands: Receiver<Command>,
    tell: SyncSender<LinkEvent>,
    bell: Arc<OwnedFd>,
    /// An event that did not fit into `tell`. It is sent first when there is room.
    event: Option<LinkEvent>,
}

impl Inbox {
    /// Sends the launcher the events that `next` returns, until there is no more room or no event.
    fn tell(&mut self, mut next: impl FnMut() -> Option<LinkEvent>) {
        while let Some(event) = self.event.take().or_else(&mut next) {
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
}

fn ring(bell: &OwnedFd) {
    // An error means that the counter is full, so the bell has rung.
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}
