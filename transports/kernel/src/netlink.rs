//! Changes interfaces by netlink in the thread's network namespace: the few changes for the private
//! pair that ticks circle through.

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoData, InfoKind, InfoVeth, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use netlink_sys::{Socket, protocols::NETLINK_ROUTE};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sends a request to the kernel and waits for its answer.
fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    let socket = Socket::new(NETLINK_ROUTE)?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map(|m| m.payload) {
        Ok(NetlinkPayload::Error(error)) if error.code.is_none() => Ok(()),
        Ok(NetlinkPayload::Error(error)) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Creates two virtual Ethernet interfaces, `far` of them in another network namespace.
pub(crate) fn pair(near: &str, far: &str, far_namespace: BorrowedFd<'_>) -> io::Result<()> {
    let mut peer = LinkMessage::default();
    peer.attributes.push(LinkAttribute::IfName(far.into()));
    peer.attributes.push(LinkAttribute::NetNsFd(far_namespace.as_raw_fd()));
    let mut link = LinkMessage::default();
    link.attributes.push(LinkAttribute::IfName(near.into()));
    link.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    request(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
}

/// Brings an interface up that has no addresses.
pub(crate) fn up(index: u32) -> io::Result<()> {
    let mut silent = LinkMessage::default();
    silent.header.index = index;
    silent.attributes.push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![
        AfSpecInet6::AddrGenMode(In6AddrGenMode::None),
    ])]));
    // A kernel without IPv6 refuses this, and gives the interface no address anyway.
    let _ = request(RouteNetlinkMessage::SetLink(silent), 0);
    let mut up = LinkMessage::default();
    up.header.index = index;
    up.header.flags = LinkFlags::Up;
    up.header.change_mask = LinkFlags::Up;
    request(RouteNetlinkMessage::SetLink(up), 0)
}

/// The attributes and constants of Linux's token bucket filter.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// Lets an interface send at most `rate` bytes a second, in bursts of at most `burst` bytes. It
/// holds back at most `limit` bytes.
pub(crate) fn slow_down(index: u32, rate: u32, burst: u32, limit: u32) -> io::Result<()> {
    // struct tc_tbf_qopt: two struct tc_ratespec, limit, buffer, mtu.
    let mut options = vec![0u8; 36];
    options[1] = TC_LINKLAYER_ETHERNET;
    options[8..12].copy_from_slice(&rate.to_ne_bytes());
    options[24..28].copy_from_slice(&limit.to_ne_bytes());
    let mut filter = TcMessage::with_index(index as i32);
    filter.header.parent = TcHandle::ROOT;
    filter.header.handle = TcHandle { major: 1, minor: 0 };
    filter.attributes.push(TcAttribute::Kind("tbf".into()));
    filter.attributes.push(TcAttribute::Options(vec![
        TcOption::Other(DefaultNla::new(TCA_TBF_PARMS, options)),
        TcOption::Other(DefaultNla::new(TCA_TBF_BURST, burst.to_ne_bytes().to_vec())),
    ]));
    request(RouteNetlinkMessage::NewQueueDiscipline(filter), NLM_F_CREATE | NLM_F_EXCL)
}
