//! Connections whose handshake is not complete: of ranks, and of launchers.

use crate::Listener;
use crate::handshake::{
    Accepting, CONFIRM_LEN, Connecting, Ends, HELLO_LEN, Key, NONCE_LEN, Refused, WELCOME_LEN,
};
use crate::sockets::{begin, connected, prepare, receive};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags, accept_with, send};
use rustix::rand::{GetRandomFlags, getrandom};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A connection whose handshake is not complete.
pub struct Stranger {
    socket: OwnedFd,
    since_ns: u64,
    step: Step,
    /// The bytes of the peer's next step, as far as they have arrived.
    got: [u8; HELLO_LEN],
    len: usize,
}

/// The next step of a handshake.
enum Step {
    /// The system connects.
    Connects(Connecting),
    /// The hello was sent.
    AwaitsWelcome(Connecting),
    /// The socket was accepted.
    AwaitsHello,
    /// The welcome was sent.
    AwaitsConfirm(Accepting),
}

/// The state of a handshake after a step.
pub enum Shaken {
    /// It goes on when the socket is ready.
    GoesOn,
    /// A hello with the key has arrived. The caller may drop the connection, or call
    /// [`Stranger::welcome`].
    Greeted(Ends),
    /// It is complete.
    Done(Ends),
}

/// The reason why a handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The system refused.
    #[error("{}", std::io::Error::from(*.0))]
    System(Errno),
    /// The peer closed the connection.
    #[error(
        "it closed the connection before it proved the key: has it the same key, and is it of the same run?"
    )]
    Closed,
    /// A step was wrong.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl From<Errno> for Failed {
    fn from(error: Errno) -> Self {
        Failed::System(error)
    }
}

impl Stranger {
    /// Begins a connection whose peer is lost after `silence_s` seconds of silence. The socket can
    /// be written when it is connected.
    ///
    /// # Errors
    /// Those of the system.
    pub fn connect(
        to: SocketAddr,
        ends: Ends,
        silence_s: u32,
        now_ns: u64,
    ) -> Result<Self, Failed> {
        let step = Step::Connects(Connecting::new(ends, nonce()?));
        let socket = begin(to, silence_s)?;
        Ok(Self { socket, since_ns: now_ns, step, got: [0; HELLO_LEN], len: 0 })
    }

    /// Accepts a connection, if one waits. Its peer is lost after `silence_s` seconds of silence.
    pub fn accept(listener: &Listener, silence_s: u32, now_ns: u64) -> Option<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = accept_with(listener, flags).ok()?;
        prepare(&socket, silence_s).ok()?;
        let step = Step::AwaitsHello;
        Some(Self { socket, since_ns: now_ns, step, got: [0; HELLO_LEN], len: 0 })
    }

    /// Returns the time at which it began.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// Returns the socket, once the handshake is complete.
    pub fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Returns true if this end accepted the connection.
    pub fn is_accepted(&self) -> bool {
        matches!(self.step, Step::AwaitsHello | Step::AwaitsConfirm(_))
    }

    /// Returns true if the peer has said hello with the key. It may still be a recording.
    pub fn is_greeted(&self) -> bool {
        matches!(self.step, Step::AwaitsConfirm(_))
    }

    /// Returns the number of the peer if it has said hello with the key.
    pub(crate) fn greeted_by(&self) -> Option<u32> {
        match &self.step {
            Step::AwaitsConfirm(accepting) => Some(accepting.ends().from),
            _ => None,
        }
    }

    /// Returns the rank that this end connects with.
    pub(crate) fn wanted(&self) -> Option<u32> {
        match &self.step {
            Step::Connects(connecting) | Step::AwaitsWelcome(connecting) => {
                Some(connecting.ends().to)
            }
            Step::AwaitsHello | Step::AwaitsConfirm(_) => None,
        }
    }

    /// Returns true if the poller must wait until the socket can be written.
    pub fn connects(&self) -> bool {
        matches!(self.step, Step::Connects(_))
    }

    /// Goes on after the socket was ready.
    ///
    /// # Errors
    /// [`Failed`]. The caller must drop the connection.
    pub fn go_on(&mut self, key: &Key) -> Result<Shaken, Failed> {
        let wanted = match &self.step {
            Step::Connects(connecting) => {
                connected(&self.socket)?;
                let connecting = *connecting;
                self.say(&connecting.hello(key, &[]))?;
                self.step = Step::AwaitsWelcome(connecting);
                return Ok(Shaken::GoesOn);
            }
            Step::AwaitsWelcome(_) => WELCOME_LEN,
            Step::AwaitsHello => HELLO_LEN,
            Step::AwaitsConfirm(_) => CONFIRM_LEN,
        };
        while self.len < wanted {
            match receive(self.socket.as_fd(), &mut self.got[self.len..wanted])? {
                None => return Ok(Shaken::GoesOn),
                Some(0) => return Err(Failed::Closed),
                Some(taken) => self.len += taken,
            }
        }
        self.len = 0;
        let got = self.got;
        match &self.step {
            Step::AwaitsWelcome(connecting) => {
                let welcome = got[..WELCOME_LEN].try_into().expect("its length");
                let confirm = connecting.confirm(key, &[], welcome)?;
                let ends = connecting.ends();
                self.say(&confirm)?;
                Ok(Shaken::Done(ends))
            }
            Step::AwaitsHello => {
                let accepting = Accepting::new(key, &[], &got, nonce()?)?;
                let ends = accepting.ends();
                self.step = Step::AwaitsConfirm(accepting);
                Ok(Shaken::Greeted(ends))
            }
            Step::AwaitsConfirm(accepting) => {
                let confirm = got[..CONFIRM_LEN].try_into().expect("its length");
                accepting.confirmed(key, &[], confirm)?;
                Ok(Shaken::Done(accepting.ends()))
            }
            Step::Connects(_) => unreachable!("it awaits nothing"),
        }
    }

    /// Answers a hello.
    ///
    /// # Errors
    /// [`Failed`]. The caller must drop the connection.
    pub fn welcome(&mut self, key: &Key) -> Result<(), Failed> {
        let Step::AwaitsConfirm(accepting) = &self.step else { return Ok(()) };
        let welcome = accepting.welcome(key, &[]);
        self.say(&welcome)
    }

    /// Sends the bytes of a step, for which a new connection always has room.
    fn say(&self, bytes: &[u8]) -> Result<(), Failed> {
        match send(&self.socket, bytes, SendFlags::NOSIGNAL)? {
            sent if sent == bytes.len() => Ok(()),
            _ => Err(Failed::Closed),
        }
    }
}

impl AsFd for Stranger {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn nonce() -> Result<[u8; NONCE_LEN], Errno> {
    let mut nonce = [0; NONCE_LEN];
    // So few bytes are returned by one call.
    getrandom(&mut nonce, GetRandomFlags::empty())?;
    Ok(nonce)
}
