//! Pending connections of ranks and launchers. Their handshake is not complete, so the peer has not
//! proved the key yet.

use crate::Listener;
use crate::channel::{Channel, ChannelError};
use crate::conditions::Conditions;
use crate::handshake::{
    Accepting, CONFIRM_LEN, Connecting, Ends, HELLO_LEN, HandshakeError, Key, NONCE_LEN,
    WELCOME_LEN, check_knock,
};
use crate::limits::FAILED_MAX;
use crate::sockets::{begin, complete, connected, prepare, receive};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags, accept_with, send};
use rustix::rand::{GetRandomFlags, getrandom};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A pending connection, whose handshake is not complete.
pub struct PendingConnection {
    channel: Channel,
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
    /// The channel opens, on the connecting end.
    Opens(Connecting),
    /// The socket of an encrypted channel was accepted.
    AwaitsKnock,
    /// The channel opens, on the accepting end.
    Accepts,
    /// The hello was sent.
    AwaitsWelcome(Connecting),
    /// The socket was accepted.
    AwaitsHello,
    /// The welcome was sent.
    AwaitsConfirm(Accepting),
}

/// The state of a handshake after a step.
pub enum HandshakeState {
    /// The handshake goes on when the socket is ready.
    GoesOn,
    /// A hello with the key has arrived. The caller may drop the connection, or call
    /// [`PendingConnection::welcome`].
    Greeted(Ends),
    /// The handshake is complete.
    Done(Ends),
}

/// The reason why a pending connection failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PendingError {
    /// A system call failed, or the channel did not open.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The peer closed the connection.
    #[error(
        "it closed the connection before it proved the key: do both have the same key and the same --tls, and are they of the same run?"
    )]
    Closed,
    /// A step was wrong.
    #[error(transparent)]
    Refused(#[from] HandshakeError),
    /// The peer's system took the connection, and the peer said nothing for too long.
    #[error(
        "nobody answered in time: is the program there stopped, at its limit of open files (ulimit -n), or another one?"
    )]
    Unanswered,
}

impl PendingError {
    /// Returns true if the host at the other end was silent.
    pub(crate) fn is_silence(&self) -> bool {
        // A router before that host, or this host in its own network, may report the silence
        // sooner.
        let silences = [Errno::TIMEDOUT, Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::HOSTDOWN];
        matches!(self, PendingError::Channel(ChannelError::System(cause)) if silences.contains(cause))
    }
}

impl From<Errno> for PendingError {
    fn from(error: Errno) -> Self {
        PendingError::Channel(error.into())
    }
}

impl PendingConnection {
    /// Begins to connect with the address `to`. The socket becomes writable when it is connected.
    ///
    /// # Errors
    /// Those of the system.
    pub fn connect(
        to: SocketAddr,
        ends: Ends,
        conditions: &Conditions,
        now_ns: u64,
    ) -> Result<Self, PendingError> {
        let step = Step::Connects(Connecting::new(ends, nonce()?));
        let channel =
            Channel::connecting(begin(to, conditions.silence_s)?, conditions.tls.as_ref())?;
        Ok(Self { channel, since_ns: now_ns, step, got: [0; HELLO_LEN], len: 0 })
    }

    /// Accepts a connection. Returns `None` if none waits.
    ///
    /// # Errors
    /// The system has no more descriptors or memory ([`Errno::MFILE`] and the like). The listener
    /// stays readable, so the caller must wait before it tries again.
    pub fn accept(
        listener: &Listener,
        conditions: &Conditions,
        now_ns: u64,
    ) -> Result<Option<Self>, Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Connections that failed while they waited are passed over. Only a few are passed over at
        // a time, because anyone may make more of them.
        for _ in 0..FAILED_MAX {
            match accept_with(listener, flags) {
                Ok(socket) => {
                    let Ok(channel) = accepted(socket, conditions) else { continue };
                    let step = match channel.plain() {
                        Some(_) => Step::AwaitsHello,
                        None => Step::AwaitsKnock,
                    };
                    let got = [0; HELLO_LEN];
                    return Ok(Some(Self { channel, since_ns: now_ns, step, got, len: 0 }));
                }
                Err(Errno::AGAIN) => return Ok(None),
                Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Returns the time in nanoseconds at which the connection began.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// Returns the channel, once the handshake is complete.
    pub fn into_channel(self) -> Channel {
        complete(self.channel.as_fd());
        self.channel
    }

    /// Returns true if this end accepted the connection.
    pub fn is_accepted(&self) -> bool {
        use Step::{Accepts, AwaitsConfirm, AwaitsHello, AwaitsKnock};
        matches!(self.step, AwaitsKnock | Accepts | AwaitsHello | AwaitsConfirm(_))
    }

    /// Returns true if the peer has shown the key, by a hello or by a knock before it.
    pub fn has_shown_key(&self) -> bool {
        let has_knocked = self.channel.plain().is_none() && !matches!(self.step, Step::AwaitsKnock);
        self.is_greeted() || has_knocked
    }

    /// Returns true if the peer has sent a hello with the key. The hello may still be a repetition
    /// of recorded bytes.
    pub fn is_greeted(&self) -> bool {
        matches!(self.step, Step::AwaitsConfirm(_))
    }

    /// Returns the number of the peer; `None` unless the peer has sent a hello with the key.
    pub(crate) fn greeted_by(&self) -> Option<u32> {
        match &self.step {
            Step::AwaitsConfirm(accepting) => Some(accepting.ends().from),
            _ => None,
        }
    }

    /// Returns the rank that this end connects with; `None` if this end accepted the connection.
    pub(crate) fn wanted(&self) -> Option<u32> {
        match &self.step {
            Step::Connects(connecting)
            | Step::Opens(connecting)
            | Step::AwaitsWelcome(connecting) => Some(connecting.ends().to),
            Step::AwaitsKnock | Step::Accepts | Step::AwaitsHello | Step::AwaitsConfirm(_) => None,
        }
    }

    /// Returns true while the system connects. The poller must then wait until the socket can be
    /// written.
    pub fn connects(&self) -> bool {
        matches!(self.step, Step::Connects(_))
    }

    /// Continues the handshake after the socket was ready.
    ///
    /// # Errors
    /// [`PendingError`]. The caller must drop the connection.
    pub fn go_on(&mut self, key: &Key) -> Result<HandshakeState, PendingError> {
        if let Step::Connects(connecting) = &self.step {
            connected(self.channel.socket())?;
            if self.channel.plain().is_none() {
                // A new connection has room for the knock.
                let knock = connecting.knock(key);
                if send(self.channel.socket(), &knock, SendFlags::NOSIGNAL)? < HELLO_LEN {
                    return Err(PendingError::Closed);
                }
            }
            self.step = Step::Opens(*connecting);
        }
        if matches!(self.step, Step::AwaitsKnock) {
            while self.len < HELLO_LEN {
                match receive(self.channel.as_fd(), &mut self.got[self.len..])? {
                    None => return Ok(HandshakeState::GoesOn),
                    Some(0) => return Err(PendingError::Closed),
                    Some(taken) => self.len += taken,
                }
            }
            self.len = 0;
            check_knock(key, &self.got)?;
            self.step = Step::Accepts;
        }
        if matches!(self.step, Step::Opens(_) | Step::Accepts) {
            if !self.channel.open()? {
                return Ok(HandshakeState::GoesOn);
            }
            self.step = match &self.step {
                Step::Opens(connecting) => {
                    let connecting = *connecting;
                    let hello = connecting.hello(key, &self.channel.binding());
                    self.say(&hello)?;
                    Step::AwaitsWelcome(connecting)
                }
                _ => Step::AwaitsHello,
            };
        }
        let wanted = match &self.step {
            Step::AwaitsWelcome(_) => WELCOME_LEN,
            Step::AwaitsConfirm(_) => CONFIRM_LEN,
            _ => HELLO_LEN,
        };
        while self.len < wanted {
            match self.channel.receive(&mut self.got[self.len..wanted])? {
                None => return Ok(HandshakeState::GoesOn),
                Some(0) => return Err(PendingError::Closed),
                Some(taken) => self.len += taken,
            }
        }
        self.len = 0;
        let (got, binding) = (self.got, self.channel.binding());
        match &self.step {
            Step::AwaitsWelcome(connecting) => {
                let welcome = got[..WELCOME_LEN].try_into().expect("its length");
                let confirm = connecting.confirm(key, &binding, welcome)?;
                let ends = connecting.ends();
                self.say(&confirm)?;
                Ok(HandshakeState::Done(ends))
            }
            Step::AwaitsHello => {
                let accepting = Accepting::new(key, &binding, &got, nonce()?)?;
                let ends = accepting.ends();
                self.step = Step::AwaitsConfirm(accepting);
                Ok(HandshakeState::Greeted(ends))
            }
            Step::AwaitsConfirm(accepting) => {
                let confirm = got[..CONFIRM_LEN].try_into().expect("its length");
                accepting.confirmed(key, &binding, confirm)?;
                Ok(HandshakeState::Done(accepting.ends()))
            }
            _ => unreachable!("it awaits nothing"),
        }
    }

    /// Sends the welcome that answers a hello.
    ///
    /// # Errors
    /// [`PendingError`]. The caller must drop the connection.
    pub fn welcome(&mut self, key: &Key) -> Result<(), PendingError> {
        let Step::AwaitsConfirm(accepting) = &self.step else { return Ok(()) };
        let welcome = accepting.welcome(key, &self.channel.binding());
        self.say(&welcome)
    }

    /// Sends the bytes of a step, for which a new connection always has room.
    fn say(&mut self, bytes: &[u8]) -> Result<(), PendingError> {
        match self.channel.send(bytes)? {
            sent if sent == bytes.len() => Ok(()),
            _ => Err(PendingError::Closed),
        }
    }
}

impl AsFd for PendingConnection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

/// Returns the channel of an accepted socket.
fn accepted(socket: OwnedFd, conditions: &Conditions) -> Result<Channel, ChannelError> {
    prepare(&socket, conditions.silence_s)?;
    Channel::accepting(socket, conditions.tls.as_ref())
}

fn nonce() -> Result<[u8; NONCE_LEN], Errno> {
    let mut nonce = [0; NONCE_LEN];
    // One call returns all bytes, because they are few.
    getrandom(&mut nonce, GetRandomFlags::empty())?;
    Ok(nonce)
}
