//! Lets processes that another launcher, such as `mpirun`, has started join a job as ranks. Such a
//! process connects to the GOAL launcher of its node. This launcher sends it a bootstrap record and
//! descriptors.
//!
//! ```text
//! process    connects to the launcher's socket, sends its rank and the token
//! launcher   sends the bootstrap record, with the numbers of its descriptors, and then these
//! process    holds the connection until it has left the job
//! ```
//!
//! Threat: any process of the host can connect to an abstract socket, or take its name before the
//! launcher does. So the name can't be guessed, both ends must belong to the same user, and the
//! process must know a token. The processes of the job get name and token through the launcher that
//! started them, such as `mpirun`. A process that lies about its rank belongs to the job, and can
//! only end it. The launcher starts nothing for processes that join. Each rank may be in a
//! container of its own, and need not see the files of others. So the socket's name is not a path.
//!
//! Threat: other processes connect and send nothing, or open more connections than the launcher has
//! descriptors. The launcher does not block on a silent connection, and closes it after
//! [`PATIENCE`]. It closes the oldest one if there are too many, or if no descriptors are left.

use goal_job::bootstrap::RankBootstrap;
use goal_job::inherited::Inherited;
use goal_job::peer::{Peer, Token, random};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind,
    connect, listen, recv, recvmsg, send, sendmsg, socket_with,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// The bytes of a socket's name, which is random.
const NAME_LEN: usize = 16;
/// The bytes of a hello: the token and the rank.
const HELLO_LEN: usize = Token::LEN + 4;
/// The most descriptors in one message; Linux allows 253.
const DESCRIPTORS_MAX: usize = 128;
/// The most bytes of a bootstrap record.
const BOOTSTRAP_MAX: usize = 128 << 10;
/// The most connections in the queue of the listening socket.
const BACKLOG: i32 = 4096;
/// The most connections that have not sent a hello.
const SILENT_MAX: usize = 256;
/// The time in which a connection must send its hello.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before connections are accepted again, after descriptors ran out.
const PAUSE: Duration = Duration::from_millis(20);

/// The address of a node's launcher: the name of its socket, and the token. The processes of a job
/// exchange it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaunchAddress {
    name: [u8; NAME_LEN],
    token: Token,
    /// The process ID of the launcher.
    process: u32,
}

impl LaunchAddress {
    fn socket(&self) -> io::Result<SocketAddrUnix> {
        let digits: String = self.name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SocketAddrUnix::new_abstract_name(format!("goal-run-{digits}").as_bytes())?)
    }

    /// Waits until the launcher's process has ended, for at most `limit`. Returns at once in that
    /// process. A process ID of another namespace costs the limit at most.
    pub(crate) fn await_end(&self, limit: Duration) {
        if self.process == std::process::id() {
            return;
        }
        let Some(process) = Pid::from_raw(self.process as i32) else { return };
        let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { return };
        let Ok(limit) = Timespec::try_from(limit) else { return };
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit));
    }
}

/// The bootstrap record and the numbers that it uses for descriptors. The descriptors follow in the
/// order of `numbers`.
#[derive(Serialize, Deserialize)]
struct HandedRecord {
    bootstrap: RankBootstrap,
    numbers: Vec<RawFd>,
}

/// The socket at which processes of a node join their launcher.
#[derive(Debug)]
pub struct LaunchSocket {
    socket: OwnedFd,
    address: LaunchAddress,
}

/// The connections of a launch socket that have not sent a hello.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// These connections, the oldest first.
    silent: Vec<Caller>,
    /// The reason why no connection can be accepted at the moment. `None` if one can.
    hindrance: Option<Errno>,
}

#[derive(Debug)]
struct Caller {
    socket: OwnedFd,
    peer: Peer,
    since: Instant,
}

/// A process that has joined as a rank.
#[derive(Debug)]
pub(crate) struct JoinedRank {
    pub(crate) rank: u32,
    pub(crate) peer: Peer,
    /// The connection. It is readable once the process has left the job or has ended.
    pub(crate) socket: OwnedFd,
}

fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

impl LaunchSocket {
    /// Opens a socket with a new name and token.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn open() -> io::Result<Self> {
        let address =
            LaunchAddress { name: random()?, token: Token::new()?, process: std::process::id() };
        let socket = socket(SocketFlags::NONBLOCK)?;
        bind(&socket, &address.socket()?)?;
        listen(&socket, BACKLOG)?;
        Ok(Self { socket, address })
    }

    /// Returns the address that other processes need to join.
    pub(crate) fn address(&self) -> &LaunchAddress {
        &self.address
    }

    /// Waits for a new connection or a hello, for at most `limit`. Returns the processes that have
    /// joined. Closes connections that do not belong to the job.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn admit(
        &self,
        callers: &mut Callers,
        limit: Duration,
    ) -> io::Result<Vec<JoinedRank>> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let pause = Timespec::try_from(PAUSE).map_err(io::Error::other)?;
        let mut fds: Vec<_> =
            callers.silent.iter().map(|one| PollFd::new(&one.socket, PollFlags::IN)).collect();
        // A connection that can't be accepted would end the poll at once, so the listener is left
        // out.
        let limit = if callers.hindrance.is_some() { pause } else { limit };
        if callers.hindrance.is_none() {
            fds.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        match poll(&mut fds, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(fds);
        self.take_callers(callers)?;
        let mut joined = Vec::new();
        for caller in std::mem::take(&mut callers.silent) {
            match self.hear(&caller) {
                Heard::Nothing if caller.since.elapsed() < PATIENCE => callers.silent.push(caller),
                Heard::Rank(rank) => {
                    joined.push(JoinedRank { rank, peer: caller.peer, socket: caller.socket });
                }
                Heard::Nothing | Heard::Invalid => {}
            }
        }
        if callers.hindrance.is_some() && joined.is_empty() {
            callers.drop_oldest(1);
        }
        Ok(joined)
    }

    /// Accepts connections until none waits, but at most [`SILENT_MAX`].
    fn take_callers(&self, callers: &mut Callers) -> io::Result<()> {
        callers.hindrance = None;
        for _ in 0..SILENT_MAX {
            let socket = match accept_with(&self.socket, SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
                    // The system reports this error even if no connection waits.
                    let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
                    let waits = poll(&mut fds, Some(&Timespec::default()))? > 0;
                    callers.hindrance = waits.then_some(error);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            if let Ok(Some(peer)) = Peer::from_socket(&socket) {
                callers.drop_oldest(SILENT_MAX);
                callers.silent.push(Caller { socket, peer, since: Instant::now() });
            }
        }
        Ok(())
    }

    fn hear(&self, caller: &Caller) -> Heard {
        let mut hello = [0; HELLO_LEN];
        // With TRUNC, `recv` returns the length of the whole message.
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let len = match recv(&caller.socket, &mut hello, flags) {
            Ok((_, len)) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Heard::Nothing,
            Err(_) => return Heard::Invalid,
        };
        let (token, rank) = hello.split_at(Token::LEN);
        match Token::from_bytes(token) {
            Some(token) if len == HELLO_LEN && token == self.address.token => {
                Heard::Rank(u32::from_le_bytes(rank.try_into().expect("four bytes")))
            }
            _ => Heard::Invalid,
        }
    }
}

/// The message that a connection has sent so far.
enum Heard {
    Nothing,
    /// The hello of this rank.
    Rank(u32),
    /// Something that is not a hello of this job, or an error.
    Invalid,
}

impl Callers {
    /// Closes the oldest connection if there are `most` or more.
    fn drop_oldest(&mut self, most: usize) {
        if self.silent.len() >= most {
            self.silent.remove(0);
        }
    }

    /// Returns the reason why no connection can be accepted; `None` if one can.
    pub(crate) fn hindrance(&self) -> Option<io::Error> {
        self.hindrance.map(io::Error::from)
    }
}

impl JoinedRank {
    /// Sends the process its bootstrap record, and the descriptors of the record.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn hand(
        &self,
        bootstrap: RankBootstrap,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let numbers = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let text =
            serde_json::to_vec(&HandedRecord { bootstrap, numbers }).expect("numbers and names");
        send(&self.socket, &text, SendFlags::NOSIGNAL)?;
        for some in descriptors.chunks(DESCRIPTORS_MAX) {
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if !ancillary.push(SendAncillaryMessage::ScmRights(some)) {
                return Err(io::Error::other("a message has no room for descriptors"));
            }
            sendmsg(&self.socket, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::NOSIGNAL)?;
        }
        Ok(())
    }
}

/// Joins the job of the launcher at `address` as `rank`. Waits for the bootstrap record. Returns
/// the record, its descriptors and the connection. The process must keep the connection open until
/// it leaves the job.
///
/// # Errors
/// The launcher has ended, does not know the rank or belongs to another user. Also the errors of
/// the system.
pub(crate) fn join(
    address: &LaunchAddress,
    rank: u32,
) -> io::Result<(RankBootstrap, Inherited, OwnedFd)> {
    let gone = || {
        io::Error::other("the launcher of this node has ended before the job began: see its error")
    };
    let socket = socket(SocketFlags::empty())?;
    connect(&socket, &address.socket()?).map_err(|error| match error {
        Errno::CONNREFUSED => gone(),
        error => error.into(),
    })?;
    if Peer::from_socket(&socket)?.is_none() {
        return Err(io::Error::other("the launcher of this node belongs to another user"));
    }
    let hello = [&address.token.bytes()[..], &rank.to_le_bytes()].concat();
    send(&socket, &hello, SendFlags::NOSIGNAL)?;
    let mut text = vec![0; BOOTSTRAP_MAX];
    let len = loop {
        match recv(&socket, &mut text[..], RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) | Ok((0, _)) => return Err(gone()),
            Ok((len, _)) => break len,
            Err(error) => return Err(error.into()),
        }
    };
    let HandedRecord { bootstrap, numbers } = serde_json::from_slice(&text[..len])?;
    let mut received = Vec::new();
    while received.len() < numbers.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags);
        match got {
            Err(Errno::INTR) => continue,
            Ok(message) if message.bytes == 0 => return Err(gone()),
            got => got?,
        };
        let before = received.len();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                received.extend(descriptors);
            }
        }
        if received.len() == before {
            return Err(io::Error::other("the launcher's descriptors did not arrive"));
        }
    }
    let received: BTreeMap<RawFd, OwnedFd> = numbers.into_iter().zip(received).collect();
    Ok((bootstrap, Inherited::received(received), socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::process::Command;

    const NOW: Duration = Duration::ZERO;

    /// The time that the tests wait for connections that are there.
    fn soon() -> Duration {
        goal_filetest::patience(60)
    }

    fn connected(launch_socket: &LaunchSocket) -> OwnedFd {
        let caller = socket(SocketFlags::empty()).unwrap();
        connect(&caller, &launch_socket.address.socket().unwrap()).unwrap();
        caller
    }

    fn greet(caller: &OwnedFd, token: &[u8], rank: u32) {
        let hello = [token, &rank.to_le_bytes()].concat();
        send(caller, &hello, SendFlags::NOSIGNAL).unwrap();
    }

    /// Returns true if the launch socket has closed a connection.
    fn is_closed(caller: &OwnedFd) -> bool {
        matches!(recv(caller, &mut [0; 1], RecvFlags::DONTWAIT), Ok((0, _)) | Err(Errno::CONNRESET))
    }

    #[test]
    fn only_processes_with_the_token_join() {
        let (launch_socket, mut callers) = (LaunchSocket::open().unwrap(), Callers::default());
        let token = launch_socket.address.token.bytes();
        let knows = connected(&launch_socket);
        greet(&knows, token, 3);
        let joined = launch_socket.admit(&mut callers, soon()).unwrap();
        let [JoinedRank { rank: 3, peer, .. }] = &joined[..] else { panic!("{joined:?}") };
        assert_eq!(peer.process, std::process::id());
        let (guesses, long) = (connected(&launch_socket), connected(&launch_socket));
        let mut guess = *token;
        guess[Token::LEN - 1] ^= 1;
        greet(&guesses, &guess, 3);
        greet(&long, &[&token[..], &[0; 100]].concat(), 3);
        assert!(launch_socket.admit(&mut callers, soon()).unwrap().is_empty());
        assert!(is_closed(&guesses) && is_closed(&long) && callers.silent.is_empty());
    }

    #[test]
    fn silent_callers_hold_nobody_up() {
        let (launch_socket, mut callers) = (LaunchSocket::open().unwrap(), Callers::default());
        let silent: Vec<_> = (0..SILENT_MAX + 3).map(|_| connected(&launch_socket)).collect();
        let knows = connected(&launch_socket);
        greet(&knows, launch_socket.address.token.bytes(), 5);
        // One call accepts at most as many connections as may be silent.
        let joined: Vec<_> =
            (0..2).flat_map(|_| launch_socket.admit(&mut callers, soon()).unwrap()).collect();
        assert_eq!(joined.iter().map(|one| one.rank).collect::<Vec<_>>(), [5]);
        // The oldest connections made room. The others are closed when their time is up.
        assert!(silent[..4].iter().all(is_closed) && !silent.iter().skip(4).any(is_closed));
        for caller in &mut callers.silent {
            caller.since -= PATIENCE;
        }
        assert!(launch_socket.admit(&mut callers, NOW).unwrap().is_empty());
        assert!(silent.iter().all(is_closed) && callers.silent.is_empty());
    }

    #[test]
    fn a_socket_without_descriptors_goes_on_later() {
        const PART: &str = "GOAL_TEST_LAUNCH_SOCKET";
        if std::env::var_os(PART).is_none() {
            // The test runs in a process of its own, because it uses up all descriptors.
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "join::tests::a_socket_without_descriptors_goes_on_later"]);
            let output = command.env(PART, "1").output().unwrap();
            assert!(output.status.success(), "{output:?}");
            return;
        }
        let (launch_socket, mut callers) = (LaunchSocket::open().unwrap(), Callers::default());
        let silent = connected(&launch_socket);
        assert!(launch_socket.admit(&mut callers, NOW).unwrap().is_empty());
        let knows = connected(&launch_socket);
        greet(&knows, launch_socket.address.token.bytes(), 1);
        // All descriptors below the limit are in use.
        let limit = getrlimit(Resource::Nofile);
        let all: Vec<_> = std::iter::from_fn(|| rustix::io::dup(&silent).ok()).take(64).collect();
        let next = rustix::io::dup(&silent).unwrap();
        let lowest = std::os::fd::AsRawFd::as_raw_fd(&next) as u64;
        drop(next);
        setrlimit(Resource::Nofile, Rlimit { current: Some(lowest), ..limit }).unwrap();
        // The silent connection is closed to free a descriptor.
        let joined = launch_socket.admit(&mut callers, soon()).unwrap();
        assert!(joined.is_empty() && callers.hindrance().is_some() && is_closed(&silent));
        let joined = launch_socket.admit(&mut callers, soon()).unwrap();
        assert!(joined.len() == 1 && callers.hindrance().is_none(), "{joined:?}");
        // Without a silent connection, the launcher waits until a descriptor is free.
        let knows = connected_by(&launch_socket, all);
        greet(&knows, launch_socket.address.token.bytes(), 2);
        assert!(launch_socket.admit(&mut callers, soon()).unwrap().is_empty());
        setrlimit(Resource::Nofile, limit).unwrap();
        let joined = launch_socket.admit(&mut callers, soon()).unwrap();
        assert_eq!(joined.iter().map(|one| one.rank).collect::<Vec<_>>(), [2]);
    }

    /// Frees one of the descriptors `all` and connects with it. Then all descriptors are in use
    /// again.
    fn connected_by(launch_socket: &LaunchSocket, mut all: Vec<OwnedFd>) -> OwnedFd {
        drop(all.pop());
        let caller = connected(launch_socket);
        std::mem::forget(all);
        caller
    }

    #[test]
    fn an_address_without_a_launcher_is_an_error() {
        let address = LaunchSocket::open().unwrap().address().clone();
        let error = join(&address, 0).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("the launcher of this node has ended"), "{error}");
    }
}
