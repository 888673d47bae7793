//! Changes interfaces by netlink in the thread's network namespace: the few changes for the private
//! pair that ticks circle through.
//!
//! A message is a header, a fixed part and attributes, in the byte order of the host
//! (linux/netlink.h, linux/if_link.h, linux/pkt_sched.h). An attribute is its length, its kind and
//! its bytes, padded to 4 bytes. These bytes may be attributes again.
//!
//! Threat: only the kernel answers on these sockets, and an answer of an unexpected form is an
//! error.

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Kinds of messages and of attributes whose names the crate `libc` lacks.
const VETH_INFO_PEER: u16 = 1;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// The handle of the queue discipline `1:`.
const HANDLE: u32 = 1 << 16;
/// The room for an answer, in bytes: an error with the request that it is about.
const ANSWER_MAX: usize = 4096;

/// `struct nlmsghdr`.
#[derive(IntoBytes, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    len: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
}

/// `struct ifinfomsg`.
#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct Link {
    family: u8,
    pad: u8,
    kind: u16,
    index: u32,
    flags: u32,
    changed: u32,
}

/// `struct tcmsg`.
#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
struct Queue {
    family: u8,
    pad: [u8; 3],
    index: u32,
    handle: u32,
    parent: u32,
    info: u32,
}

/// The bytes of a message behind its header.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    /// Adds the fixed part of a message.
    fn part(&mut self, part: &(impl IntoBytes + Immutable)) -> &mut Self {
        self.0.extend(part.as_bytes());
        self
    }

    /// Adds an attribute with these bytes.
    fn attribute(&mut self, kind: u16, bytes: &[u8]) -> &mut Self {
        self.nested(kind, |inner| inner.0.extend(bytes))
    }

    /// Adds an attribute whose bytes `fill` writes.
    fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.0.len();
        self.part(&[0, kind]);
        fill(self);
        let len = u16::try_from(self.0.len() - start).expect("attributes are short");
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

/// Sends a request to the kernel and waits for its answer.
fn request(kind: u16, flags: i32, body: &Body) -> io::Result<()> {
    // The protocol is NETLINK_ROUTE, which has the number 0.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags).expect("16 bits");
    let len = u32::try_from(size_of::<Header>() + body.0.len()).expect("a message is short");
    let mut message = Header { len, kind, flags, sequence: 0, port: 0 }.as_bytes().to_vec();
    message.extend(&body.0);
    retry_on_intr(|| send(&socket, &message, SendFlags::empty()))?;
    let mut answer = [0; ANSWER_MAX];
    let (len, _) = retry_on_intr(|| recv(&socket, &mut answer[..], RecvFlags::empty()))?;
    let parsed = Header::read_from_prefix(&answer[..len]);
    let (header, rest) = parsed.map_err(|_| io::ErrorKind::InvalidData)?;
    let (code, _) = i32::read_from_prefix(rest).map_err(|_| io::ErrorKind::InvalidData)?;
    match (i32::from(header.kind), code) {
        (libc::NLMSG_ERROR, 0) => Ok(()),
        (libc::NLMSG_ERROR, ..0) => Err(Errno::from_raw_os_error(-code).into()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Returns the bytes of a name, with the zero that ends it.
fn named(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// Creates a pair of virtual Ethernet interfaces: `near` in this network namespace, and `far` in
/// another one.
pub(crate) fn pair(near: &str, far: &str, far_namespace: BorrowedFd<'_>) -> io::Result<()> {
    let mut body = Body::default();
    body.part(&Link::default()).attribute(libc::IFLA_IFNAME, &named(near));
    body.nested(libc::IFLA_LINKINFO, |info| {
        info.attribute(libc::IFLA_INFO_KIND, b"veth").nested(libc::IFLA_INFO_DATA, |data| {
            data.nested(VETH_INFO_PEER, |peer| {
                peer.part(&Link::default())
                    .attribute(libc::IFLA_IFNAME, &named(far))
                    .attribute(libc::IFLA_NET_NS_FD, far_namespace.as_raw_fd().as_bytes());
            });
        });
    });
    request(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Brings an interface up that has no addresses.
pub(crate) fn up(index: u32) -> io::Result<()> {
    let inet6 = u16::try_from(libc::AF_INET6).expect("16 bits");
    let mut silent = Body::default();
    silent.part(&Link { index, ..Link::default() }).nested(libc::IFLA_AF_SPEC, |families| {
        families.nested(inet6, |family| {
            family.attribute(IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]);
        });
    });
    // A kernel without IPv6 refuses this, and gives the interface no address anyway.
    let _ = request(libc::RTM_SETLINK, 0, &silent);
    let flags = u32::try_from(libc::IFF_UP).expect("a flag");
    let mut up = Body::default();
    up.part(&Link { index, flags, changed: flags, ..Link::default() });
    request(libc::RTM_SETLINK, 0, &up)
}

/// Lets an interface send at most `rate` bytes a second, in bursts of at most `burst` bytes. The
/// interface queues at most `limit` bytes.
pub(crate) fn slow_down(index: u32, rate: u32, burst: u32, limit: u32) -> io::Result<()> {
    // struct tc_tbf_qopt: two struct tc_ratespec, limit, buffer, mtu.
    let mut parameters = [0u8; 36];
    parameters[1] = TC_LINKLAYER_ETHERNET;
    parameters[8..12].copy_from_slice(&rate.to_ne_bytes());
    parameters[24..28].copy_from_slice(&limit.to_ne_bytes());
    let mut body = Body::default();
    body.part(&Queue { index, handle: HANDLE, parent: TC_H_ROOT, ..Queue::default() })
        .attribute(libc::TCA_KIND, &named("tbf"))
        .nested(libc::TCA_OPTIONS, |options| {
            options
                .attribute(TCA_TBF_PARMS, &parameters)
                .attribute(TCA_TBF_BURST, burst.as_bytes());
        });
    request(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}
