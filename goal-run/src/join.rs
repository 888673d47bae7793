//! How a process that a launcher has not started becomes a rank of its job, as one that `mpirun`
//! has started: it connects to the launcher of its node, which hands it an order and descriptors.
//!
//! ```text
//! process    connects to the door, sends its rank and the token
//! launcher   sends the order, with the numbers of its descriptors, and then these
//! process    holds the connection until it has left the job
//! ```
//!
//! Threat: any process of the host can connect to an abstract socket, and take its name before the
//! launcher does. The name is impossible to guess, both ends must belong to the same user, and the
//! process must know the token, which the processes of the job get from the launcher that started
//! them (`mpirun`'s). A process that lies about its rank is one of the job, and ends it at most.

use crate::inherited::Inherited;
use crate::order::Order;
use crate::rights::peer_of_own_user;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind,
    connect, listen, recv, recvmsg, send, sendmsg, socket_with,
};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// The bytes of a token.
const TOKEN_LEN: usize = 16;
/// The bytes of a hello: the token and the rank.
const HELLO_LEN: usize = TOKEN_LEN + 4;
/// The descriptors that one message carries; the system allows 253.
const DESCRIPTORS_MAX: usize = 128;
/// The longest order.
const ORDER_MAX: usize = 128 << 10;
/// The processes that wait to be accepted.
const BACKLOG: i32 = 4096;

/// The door of a node's launcher: the name of its socket, and the token. Processes of the job tell
/// each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Door {
    name: [u8; TOKEN_LEN],
    token: [u8; TOKEN_LEN],
}

impl Door {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        let digits: String = self.name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SocketAddrUnix::new_abstract_name(format!("goal-run-{digits}").as_bytes())?)
    }
}

/// The order with the numbers of the launcher's descriptors, in the order in which they follow.
#[derive(Serialize, Deserialize)]
struct Handed {
    order: Order,
    numbers: Vec<RawFd>,
}

/// The launcher's end: a socket at which processes of its node join.
#[derive(Debug)]
pub struct Hall {
    socket: OwnedFd,
    door: Door,
}

/// A process that has joined.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) rank: u32,
    /// The ID of the process.
    pub(crate) process: u32,
    /// Readable once the process has left the job or has ended.
    pub(crate) socket: OwnedFd,
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // So few bytes are returned by one call.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

impl Hall {
    /// Opens a door with a new name and token.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn open() -> io::Result<Self> {
        let door = Door { name: random()?, token: random()? };
        let socket = socket()?;
        bind(&socket, &door.address()?)?;
        listen(&socket, BACKLOG)?;
        Ok(Self { socket, door })
    }

    /// Returns the door, for the processes that are to join.
    pub(crate) fn door(&self) -> &Door {
        &self.door
    }

    /// Accepts a process, once there is one. Returns `None` for one that is not of the job.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn accept(&self) -> io::Result<Option<Joined>> {
        let socket = match accept_with(&self.socket, SocketFlags::CLOEXEC) {
            Err(Errno::INTR | Errno::CONNABORTED) => return Ok(None),
            socket => socket?,
        };
        let Some(process) = peer_of_own_user(&socket)? else { return Ok(None) };
        let mut hello = [0; HELLO_LEN];
        // A process of the job sends at once; one that does not must not keep others waiting.
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        // With TRUNC the length is that of the whole message.
        let Ok((_, len)) = patient(&socket, || recv(&socket, &mut hello, flags)) else {
            return Ok(None);
        };
        let (token, rank) = hello.split_at(TOKEN_LEN);
        if len != HELLO_LEN || token != self.door.token {
            return Ok(None);
        }
        let rank = u32::from_le_bytes(rank.try_into().expect("four bytes"));
        Ok(Some(Joined { rank, process, socket }))
    }
}

impl AsFd for Hall {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Tries a call again that would block, for a tenth of a second.
fn patient<T>(
    socket: &OwnedFd,
    mut call: impl FnMut() -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    match call() {
        Err(Errno::AGAIN) => {
            let limit = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&limit))?;
            call()
        }
        result => result,
    }
}

impl Joined {
    /// Hands the process its order and the descriptors that it names.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn hand(&self, order: Order, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let numbers = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let text = serde_json::to_vec(&Handed { order, numbers }).expect("numbers and names");
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

/// Joins the job of a door as `rank`. Waits until the launcher hands out the order. Returns it with
/// its descriptors and the connection, which the process must hold until it leaves the job.
///
/// # Errors
/// The launcher has ended or does not know the rank, or the system refuses.
pub(crate) fn join(door: &Door, rank: u32) -> io::Result<(Order, Inherited, OwnedFd)> {
    let gone = || {
        io::Error::other("the launcher of this node has ended before the job began: see its error")
    };
    let socket = socket()?;
    connect(&socket, &door.address()?).map_err(|error| match error {
        Errno::CONNREFUSED => gone(),
        error => error.into(),
    })?;
    if peer_of_own_user(&socket)?.is_none() {
        return Err(io::Error::other("the launcher of this node belongs to another user"));
    }
    let hello = [&door.token[..], &rank.to_le_bytes()].concat();
    send(&socket, &hello, SendFlags::NOSIGNAL)?;
    let mut text = vec![0; ORDER_MAX];
    let len = loop {
        match recv(&socket, &mut text[..], RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) | Ok((0, _)) => return Err(gone()),
            Ok((len, _)) => break len,
            Err(error) => return Err(error.into()),
        }
    };
    let Handed { order, numbers } = serde_json::from_slice(&text[..len])?;
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
    Ok((order, Inherited::received(received), socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_with_the_token_join() {
        let hall = Hall::open().unwrap();
        let greet = |token: [u8; TOKEN_LEN], rank: u32| {
            let stranger = socket().unwrap();
            connect(&stranger, &hall.door.address().unwrap()).unwrap();
            let hello = [&token[..], &rank.to_le_bytes()].concat();
            send(&stranger, &hello, SendFlags::NOSIGNAL).unwrap();
            (hall.accept().unwrap().map(|joined| (joined.rank, joined.process)), stranger)
        };
        assert_eq!(greet(hall.door.token, 3).0, Some((3, std::process::id())));
        assert_eq!(greet([0; TOKEN_LEN], 3).0, None);
        let silent = socket().unwrap();
        connect(&silent, &hall.door.address().unwrap()).unwrap();
        assert!(hall.accept().unwrap().is_none(), "it has a tenth of a second");
        let long = socket().unwrap();
        connect(&long, &hall.door.address().unwrap()).unwrap();
        let hello = [&hall.door.token[..], &[0; 100]].concat();
        send(&long, &hello, SendFlags::NOSIGNAL).unwrap();
        assert!(hall.accept().unwrap().is_none());
    }

    #[test]
    fn nobody_behind_the_door_is_an_error() {
        let door = Hall::open().unwrap().door().clone();
        let error = join(&door, 0).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("the launcher of this node has ended"), "{error}");
    }
}
