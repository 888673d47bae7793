//! Makes the engine's ticks without a process. Frames circle through a private pair of virtual
//! interfaces, and a token bucket at one end slows them down.
//!
//! One end is in the host's network namespace, so that the engine at this end can send frames out
//! of the host's interface. The other end is in a namespace that only a descriptor holds. This
//! namespace vanishes with the descriptor, however the process ends, and takes the whole pair with
//! it.
//!
//! Threat: a program that may open packet sockets on the host can send frames into the pair, and
//! see the host's cookie there. The other end drops frames without the cookie. Such a program can
//! use the cookie to make ticks and continuations. Ticks and continuations only continue ready
//! actions, and request missing messages.

use crate::kernel::{Hook, Kernel};
use crate::layout::{CIRCLE_BYTES, FRAME_LENGTH};
use crate::netlink;
use crate::sys::{own_namespace, packet_socket};
use aya::programs::TcAttachType;
use aya::programs::tc::SchedClassifierLink;
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The number of frames that circle. There are several, so that ticks go on when one is lost.
pub(crate) const FRAMES: u32 = 4;
/// The name of the pair's other end, in the private network namespace.
const FAR_END: &str = "goal";

/// The private pair of interfaces. Its links are dropped before its namespace.
#[derive(Debug)]
pub(crate) struct Circle {
    socket: OwnedFd,
    _links: [SchedClassifierLink; 2],
    _namespace: OwnedFd,
}

impl Circle {
    /// Creates the pair in the thread's network namespace, with a tick every `period`.
    pub(crate) fn new(kernel: &Kernel, period: Duration) -> io::Result<Self> {
        if kernel.hook() != Hook::Tcx {
            return Err(io::Error::other("the kernel has no TCX"));
        }
        let rate = CIRCLE_BYTES as u128 * 1_000_000_000 / period.as_nanos().max(1);
        let rate = u32::try_from(rate).ok().filter(|&rate| rate > 0);
        let rate = rate.ok_or_else(|| io::Error::other("no such period"))?;
        let mut number = [0; 4];
        rustix::rand::getrandom(&mut number, rustix::rand::GetRandomFlags::empty())?;
        let near_end = format!("goal{:08x}", u32::from_ne_bytes(number));
        let host = rustix::fs::open(NAMESPACE, rustix::fs::OFlags::CLOEXEC, MODE)?;
        let far = || {
            own_namespace()?;
            let namespace = rustix::fs::open(NAMESPACE, rustix::fs::OFlags::CLOEXEC, MODE)?;
            netlink::pair(FAR_END, &near_end, host.as_fd())?;
            let index = interface(FAR_END)?;
            let bytes = CIRCLE_BYTES as u32;
            netlink::slow_down(index, rate, bytes, 2 * FRAMES * bytes)?;
            let link = kernel.attach_other("goal_mirror", FAR_END, TcAttachType::Ingress)?;
            netlink::up(index)?;
            Ok((namespace, link))
        };
        // A separate thread changes its namespace, so the caller's namespace stays.
        let far: io::Result<_> = std::thread::scope(|scope| scope.spawn(far).join())
            .unwrap_or_else(|_| Err(io::Error::other("the thread of the other end panicked")));
        let (namespace, far_link) = far?;
        let link = kernel.attach_other("goal_engine", &near_end, TcAttachType::Ingress)?;
        let index = interface(&near_end)?;
        netlink::up(index)?;
        let socket = packet_socket(index, 0, None)?;
        Ok(Self { socket, _links: [link, far_link], _namespace: namespace })
    }

    /// Sends [`FRAMES`] ticks into the pair. Ticks that circle already stay.
    pub(crate) fn feed(&self, tick: &[u8; FRAME_LENGTH]) -> io::Result<()> {
        let mut frame = tick.to_vec();
        frame.resize(CIRCLE_BYTES, 0);
        for _ in 0..FRAMES {
            send(&self.socket, &frame, SendFlags::empty())?;
        }
        Ok(())
    }
}

const NAMESPACE: &str = "/proc/thread-self/ns/net";
const MODE: rustix::fs::Mode = rustix::fs::Mode::empty();

fn interface(name: &str) -> io::Result<u32> {
    use rustix::net::{AddressFamily, SocketType, netdevice::name_to_index, socket};
    Ok(name_to_index(socket(AddressFamily::UNIX, SocketType::DGRAM, None)?, name)?)
}
