//! Identifies the process at the other end of a connection on this host.
//!
//! Threat: any process that reaches a socket of this host can connect, from any namespace. The
//! kernel states the user of a peer. For every user that this user namespace does not map, it
//! states the same number, 65534 by default. So if a process has this number itself, it accepts
//! only peers of its own user namespace.
//!
//! Threat: a process that is confined in a container or a sandbox connects to a launcher outside,
//! which starts programs. Outside it has the same user as the launcher. So the launcher compares
//! namespaces. A peer that it can't inspect counts as a peer from another namespace.
//!
//! Threat: the peer ends, and another process gets its process ID. Since Linux 6.5 the kernel gives
//! a descriptor of the process that has connected. The peer's folder in /proc is used only if this
//! process has not ended when the folder is open. Older kernels give only the process ID, and the
//! descriptor is opened by the ID. An attack would need that the peer ends, and its ID is used
//! again, between its connection and this check. A token is needed all the same.

use crate::rights::with_permitted;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials, sockopt::PeerPidfd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, openat, statat};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::fs::{read_link, read_to_string};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The namespaces that a launcher and a caller must share, so that the launcher starts programs for
/// the caller.
const NAMESPACES: [&str; 3] = ["user", "mnt", "pid"];

/// The number that the kernel states for unmapped users, unless the system sets another one.
const OVERFLOW: u32 = 65534;

/// A secret that a process must know to get an answer. Tokens are compared in constant time.
#[derive(Clone, Serialize, Deserialize)]
pub struct Token([u8; Token::LEN]);

impl Token {
    /// The length of a token in bytes.
    pub const LEN: usize = 32;

    /// Returns a new random token.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<Self> {
        random().map(Self)
    }

    /// Returns the token with these bytes; `None` if there are too few or too many.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes of the token.
    pub fn bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        blake3::Hash::from_bytes(self.0) == blake3::Hash::from_bytes(other.0)
    }
}

impl Eq for Token {}

/// Writes only the name of the type, and not the token.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// The address of a launcher's socket, and the token that callers must know. The socket lies in a
/// folder of its own that only the launcher's user may enter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The process ID of the launcher.
    pub process: u32,
    /// The folder of the socket.
    pub folder: PathBuf,
    /// The token that callers must know.
    pub token: Token,
}

/// Returns random bytes that nobody can guess.
///
/// # Errors
/// The system's error.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // One call returns so few bytes completely.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// A process of this user at the other end of a connection.
#[derive(Debug)]
pub struct Peer {
    /// The process ID of the peer; 0 if the peer is in a PID namespace that this process does not
    /// see.
    pub process: u32,
    /// A descriptor of the peer (pidfd), which stays valid when the peer has ended. `None` if the
    /// system provides none.
    pub handle: Option<OwnedFd>,
}

impl Peer {
    /// Returns the process at the other end of a connection; `None` if it belongs to another user.
    ///
    /// # Errors
    /// The system's error.
    pub fn from_socket(socket: &impl AsFd) -> io::Result<Option<Self>> {
        // The process ID may be 0. `nix` reads it, since `rustix` would assume that it is never 0,
        // which would be undefined behaviour.
        let told = getsockopt(socket, PeerCredentials)?;
        let handle = getsockopt(socket, PeerPidfd)
            .ok()
            .or_else(|| pidfd_open(Pid::from_raw(told.pid())?, PidfdFlags::empty()).ok());
        let peer = Self { process: told.pid() as u32, handle };
        let is_own = told.uid() == geteuid().as_raw()
            && (is_known(told.uid()) || peer.shares_namespaces(&["user"]));
        Ok(is_own.then_some(peer))
    }

    /// Returns true if this process and the peer are in the same user, mount and PID namespaces.
    pub fn is_unconfined(&self) -> bool {
        self.shares_namespaces(&NAMESPACES)
    }

    fn shares_namespaces(&self, names: &[&str]) -> bool {
        let compare = || -> io::Result<bool> {
            // If the link has another process ID than this process, /proc shows the IDs of another
            // PID namespace.
            if read_link("/proc/self")? != Path::new(&std::process::id().to_string()) {
                return Ok(false);
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let own = openat(CWD, "/proc/self", flags, Mode::empty())?;
            let theirs = openat(CWD, format!("/proc/{}", self.process), flags, Mode::empty())?;
            if !self.is_there() {
                return Ok(false);
            }
            for name in names {
                let file = format!("ns/{name}");
                let of = |process: &OwnedFd| statat(process, &file, AtFlags::empty());
                let number = |stat: Stat| (stat.st_dev, stat.st_ino);
                if number(of(&own)?) != number(of(&theirs)?) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        with_permitted(compare).unwrap_or(false)
    }

    /// Returns true if the peer has not ended. Returns false if that is not known.
    fn is_there(&self) -> bool {
        let Some(handle) = &self.handle else { return false };
        poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&Timespec::default())) == Ok(0)
    }
}

/// Returns true if the number `user` stands for one user only. Otherwise the kernel may also state
/// it for users that this user namespace does not map.
fn is_known(user: u32) -> bool {
    let overflow = read_to_string("/proc/sys/kernel/overflowuid").ok();
    let overflow = overflow.and_then(|text| text.trim().parse().ok()).unwrap_or(OVERFLOW);
    user != overflow || read_to_string("/proc/self/uid_map").is_ok_and(|map| maps_all(&map))
}

/// Returns true if `map`, the text of a user namespace's `uid_map`, maps every user to itself.
fn maps_all(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    /// The variable by which a test starts its own file as another process.
    const PART: &str = "GOAL_TEST_PEER";

    /// Returns what a process says about the peer at its standard input: another process that
    /// runs the test of this name in this file, behind a command.
    fn told(by: &[&str], test: &str, socket: UnixStream) -> String {
        let (program, arguments) = by.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(arguments).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", test]).env(PART, "1");
        let output = command.stdin(Stdio::from(OwnedFd::from(socket))).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.split_once("peer: "));
        line.unwrap_or_else(|| panic!("{by:?}: {output:?}")).1.to_owned()
    }

    fn tell() {
        let told = match Peer::from_socket(&std::io::stdin()).unwrap() {
            None => "another user's",
            Some(peer) if peer.is_unconfined() => "unconfined",
            Some(_) => "confined",
        };
        println!("peer: {told}");
    }

    fn can_unshare(flags: &[&str]) -> bool {
        let can = Command::new("unshare").args(flags).arg("true").output();
        let can = can.is_ok_and(|output| output.status.success());
        if !can {
            goal_filetest::skipped(&format!("unshare {} is refused here", flags.join(" ")));
        }
        can
    }

    #[test]
    fn a_peer_in_other_namespaces_is_confined() {
        if std::env::var_os(PART).is_some() {
            return tell();
        }
        let test = "peer::tests::a_peer_in_other_namespaces_is_confined";
        let pair = || UnixStream::pair().unwrap().0;
        let own = UnixStream::pair().unwrap();
        assert!(Peer::from_socket(&own.0).unwrap().unwrap().is_unconfined());
        assert_eq!(told(&["env"], test, pair()), "unconfined");
        for flags in [&["--mount"][..], &["--user", "--map-root-user"]] {
            if can_unshare(flags) {
                let by = [&["unshare"], flags].concat();
                assert_eq!(told(&by, test, pair()), "confined", "{flags:?}");
            }
        }
        // The starter is in none of its namespaces of processes, so its number is 0.
        let flags = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
        if can_unshare(&flags) {
            let by = [&["unshare"], &flags[..]].concat();
            assert_eq!(told(&by, test, pair()), "confined");
        }
    }

    /// A user that a namespace does not map has the number of nobody there.
    #[test]
    fn an_unmapped_user_is_another_one() {
        if std::env::var_os(PART).is_some() {
            // A peer in this namespace is of the own user.
            assert!(Peer::from_socket(&UnixStream::pair().unwrap().0).unwrap().is_some());
            return tell();
        }
        let test = "peer::tests::an_unmapped_user_is_another_one";
        let flags = ["--user", "--map-user=65534"];
        if !can_unshare(&flags) {
            return;
        }
        let by = [&["unshare"], &flags[..]].concat();
        assert_eq!(told(&by, test, UnixStream::pair().unwrap().0), "another user's");
        assert!(maps_all("         0          0 4294967295\n"));
        for map in ["", "65534 0 1", "0 0 65536", "0 0 65536\n65536 65536 4294901759"] {
            assert!(!maps_all(map), "{map}");
        }
        assert!(is_known(OVERFLOW - 1));
    }

    #[test]
    fn a_peer_that_has_ended_is_confined() {
        let mut child = Command::new("true").spawn().unwrap();
        let process = child.id();
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
        child.wait().unwrap();
        assert!(!Peer { process, handle }.is_unconfined());
        assert!(!Peer { process: std::process::id(), handle: None }.is_unconfined());
    }

    #[test]
    fn tokens_differ_and_do_not_show() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(one != other && one == one.clone());
        assert_eq!(Token::from_bytes(one.bytes()), Some(one.clone()));
        assert_eq!(Token::from_bytes(&one.bytes()[1..]), None);
        assert_eq!(format!("{one:?}"), "Token");
    }
}
