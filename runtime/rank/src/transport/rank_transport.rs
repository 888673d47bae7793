//! Combines the transports of one rank into a single transport for its engine.
#![allow(unsafe_code)] // one user of a rank's transports at a time

use super::remote::{Remote, Sleeper};
use goal_engine::memory::{Imported, Span, copy};
use goal_engine::transport::{
    Distance, Full, Header, Sink, Transport, Unreadable, Unwritable, Wakeup, Workers, once,
};
use goal_eth::OpenError;
use goal_fabric::Exchanged;
use goal_job::network::Network;
use goal_job::remote_sockets::RemoteSockets;
use goal_job::transport::{RouteTable, TransportKind};
use goal_kernel::CompletionEvents;
use goal_shm::{Cma, Local, ShmTransport};
use goal_shm::{Mailbox, Segment};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The transports of one rank. The distance of a peer selects the transport of a message.
///
/// All messages from one rank to another use the same transport. So the order within this transport
/// is the order of all messages of the pair. The table of transports has an entry for each
/// distance, not for each rank. So memory does not grow with the square of the number of ranks.
pub(crate) struct RankTransport<'a> {
    rank: u32,
    carriers: [TransportKind; Distance::ALL.len()],
    /// The transport `shm`. The rank always polls it and waits for it, since the launcher wakes the
    /// rank by its mailbox.
    shm: ShmTransport<'a>,
    local: Local,
    cma: Option<Cma<'a>>,
    /// The fabrics to ranks on other hosts, if there are any.
    remote: Option<Box<Remote<'a>>>,
}

impl<'a> RankTransport<'a> {
    /// Returns the transports of `rank` within its host.
    ///
    /// # Safety
    /// While a method of the value runs, no other value of the rank may be used, in any process.
    pub(crate) unsafe fn new(segment: &'a Segment, rank: u32, paths: &RouteTable) -> Self {
        // SAFETY: as the caller says; the segment outlives the transports.
        let local = unsafe { Local::new(segment, rank) };
        let cma = paths.cma.then(|| Cma::new(segment));
        // SAFETY: as the caller says.
        let shm = unsafe { ShmTransport::new(segment, rank) };
        Self { rank, carriers: paths.carriers, shm, local, cma, remote: None }
    }

    /// Makes each message mark its receiver for help, if other ranks may act for the receiver.
    pub(crate) fn with_marks(self) -> Self {
        Self { shm: self.shm.with_marks(), ..self }
    }

    /// Keeps other ranks from writing to this rank's memory, in a job that goes on after the loss
    /// of a rank.
    pub(crate) fn without_lent_memory(self) -> Self {
        Self { shm: self.shm.without_lent_memory(), ..self }
    }

    /// Returns all transports of `rank`. If there are other hosts, they include the fabrics to
    /// these hosts, over the remote sockets that the launcher opened.
    ///
    /// # Safety
    /// As for [`RankTransport::new`].
    ///
    /// # Errors
    /// [`OpenError`] if the fabrics to other hosts can't be opened.
    pub(crate) unsafe fn open(
        segment: &'a Segment,
        rank: u32,
        paths: &RouteTable,
        network: Option<&'a Network>,
        remote_sockets: Option<RemoteSockets>,
    ) -> Result<Self, OpenError> {
        let remote = match (network, remote_sockets) {
            (None, _) => None,
            (Some(network), Some(remote_sockets)) => {
                let generation = segment.start_barrier().generation();
                Some(Box::new(Remote::over(network, rank, remote_sockets, generation)?))
            }
            (Some(_), None) => return Err(OpenError::NoDriver),
        };
        // SAFETY: as the caller says.
        let here = unsafe { Self::new(segment, rank, paths) };
        Ok(Self { remote, ..here })
    }

    /// Returns true if the fabrics to other hosts have work, or a run in the kernel has ended.
    #[inline]
    pub(crate) fn has_frame(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.has_work() || remote.has_event())
    }

    /// Returns true if something has arrived from other hosts, or if a run in the kernel has ended.
    /// Asks the system. It is for a rank that looks for arrivals without a sleep.
    pub(crate) fn has_arrived(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.has_arrived() || remote.has_event())
    }

    /// Lets completion events of the rank's runs in the kernel end its sleeps. Has no effect in a
    /// job on one host.
    pub(crate) fn follow(&mut self, events: Arc<CompletionEvents>) {
        if let Some(remote) = &mut self.remote {
            remote.follow(events);
        }
    }

    /// Returns true if some completion event of a run in the kernel was not settled yet.
    #[inline]
    pub(crate) fn has_event(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.has_event())
    }

    /// Sends the messages to other hosts that were written since the last poll. Messages to ranks
    /// of this host were sent when they were written.
    #[inline]
    pub(crate) fn send_written(&mut self) {
        if let Some(remote) = &mut self.remote {
            remote.send_written();
        }
    }

    /// Returns true if there are ranks on other hosts.
    #[inline]
    pub(crate) fn has_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Returns the ranks of other hosts for which bytes of messages wait for room on the network.
    /// If the caller begins to compute, these bytes stay unsent.
    pub(crate) fn kept_back(&mut self) -> Vec<u32> {
        self.remote.as_mut().map_or_else(Vec::new, |remote| remote.kept_back())
    }

    /// Returns true while a message of several packets from another host has arrived only in part.
    #[inline]
    pub(crate) fn is_receiving(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.is_receiving())
    }

    /// Returns the number of ranks on other hosts that the first fabric can't reach, so that
    /// another one carries their messages.
    pub(crate) fn fallen_back(&self) -> u64 {
        self.remote.as_ref().map_or(0, |remote| remote.fallen_back())
    }

    /// Returns the number of ranks of this host whose memory the system did not let this rank read.
    pub(crate) fn unreadable(&self) -> u64 {
        self.cma.as_ref().map_or(0, |cma| cma.unreadable())
    }

    /// Returns the rank on another host that was lost, with a description; `None` if none was.
    pub(crate) fn loss(&self) -> Option<(u32, String)> {
        self.remote.as_ref()?.loss()
    }

    /// Returns a sleeper, which waits for other hosts while another thread uses the transports.
    /// Returns `None` if there are no other hosts.
    pub(crate) fn sleeper(&self) -> Option<Sleeper> {
        self.remote.as_ref().map(|remote| remote.sleeper())
    }

    #[inline]
    fn carrier(&self, peer: u32) -> TransportKind {
        let distance = match &self.remote {
            _ if peer == self.rank => Distance::Own,
            Some(remote) if remote.leads_to(peer) => Distance::Network,
            _ => Distance::Node,
        };
        self.carriers[distance as usize]
    }

    /// Returns the fabrics to ranks on other hosts. There must be other hosts.
    #[inline]
    fn remote(&mut self) -> &mut Remote<'a> {
        self.remote.as_mut().expect(NO_REMOTE)
    }

    /// Returns the transport that carries the messages to `rank`. The functions that every short
    /// message needs do not use this, so that the compiler inlines them into the engine.
    fn to(&mut self, rank: u32) -> &mut dyn Transport {
        match self.carrier(rank) {
            TransportKind::Local => &mut self.local,
            TransportKind::Shm => &mut self.shm,
            TransportKind::Remote => self.remote().to(rank),
        }
    }

    fn mailbox(&self) -> Mailbox<'a> {
        self.shm.endpoint().mailbox
    }
}

/// The text of the panic if a rank without fabrics sends to another host. It can't happen, because
/// [`RankTransport::open`] opens fabrics whenever there are other hosts.
const NO_REMOTE: &str = "ranks on other hosts have a way";

/// The most bytes of a message that is pushed to another host.
const REMOTE_PUSHED_MAX: u64 = 512 << 10;

impl Transport for RankTransport<'_> {
    #[inline]
    fn short_max(&self) -> usize {
        self.local.short_max().min(self.shm.short_max())
    }

    #[inline]
    fn payload_max(&mut self, to: u32) -> usize {
        match self.carrier(to) {
            TransportKind::Local => self.local.payload_max(to),
            TransportKind::Shm => self.shm.payload_max(to),
            TransportKind::Remote => self.remote().to(to).payload_max(to),
        }
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.to(to).part_max(to)
    }

    fn zcopy_max(&mut self, to: u32) -> usize {
        self.to(to).zcopy_max(to)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.try_send(to, header, fill)
    }

    #[inline(always)]
    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        match self.carrier(to) {
            TransportKind::Local => self.local.try_send(to, header, fill),
            TransportKind::Shm => self.shm.try_send(to, header, fill),
            TransportKind::Remote => {
                self.remote().send(to, |fabric| fabric.try_send_dyn(to, header, &mut once(fill)))
            }
        }
    }

    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        match self.carrier(to) {
            TransportKind::Local | TransportKind::Shm => {
                self.try_send(to, header, |out| copy(out, payload))
            }
            TransportKind::Remote => {
                self.remote().send(to, |fabric| fabric.try_send_zcopy(to, header, payload))
            }
        }
    }

    fn poll_dyn(&mut self, messages_max: usize, mut sink: &mut dyn Sink) -> usize {
        self.poll_into(messages_max, &mut sink)
    }

    /// Takes at most `messages_max` messages of each transport, so that no transport delays
    /// another.
    #[inline]
    fn poll_into(&mut self, messages_max: usize, sink: &mut impl Sink) -> usize {
        let mut taken = self.shm.poll_into(messages_max, sink);
        if self.local.has_message() {
            taken += self.local.poll_into(messages_max, sink);
        }
        if let Some(remote) = &mut self.remote {
            taken += remote.poll(messages_max, sink);
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.shm.announce_room(bytes, most);
        self.local.announce_room(bytes, most);
        if let Some(remote) = &mut self.remote {
            remote.announce_room(bytes, most);
        }
    }

    #[inline]
    fn room(&self, to: u32) -> u64 {
        match self.carrier(to) {
            TransportKind::Local => self.local.room(to),
            TransportKind::Shm => self.shm.room(to),
            TransportKind::Remote => self.remote.as_ref().expect(NO_REMOTE).route_to(to).room(to),
        }
    }

    fn pushed_max(&mut self, to: u32, bytes: Option<Span>) -> u64 {
        let most = self.to(to).pushed_max(to, bytes);
        if self.carrier(to) == TransportKind::Remote { most.min(REMOTE_PUSHED_MAX) } else { most }
    }

    fn window(&mut self, source: u32) -> u32 {
        self.to(source).window(source)
    }

    fn export(&self, to: u32, bytes: Span) -> Option<u64> {
        if self.carrier(to) == TransportKind::Remote {
            return None;
        }
        // The buffers of a message from a rank to itself may overlap. Only a copy of the message
        // handles that correctly.
        let copied = || self.cma.as_ref().filter(|_| to != self.rank).map(|_| Cma::export(bytes));
        self.shm.export(to, bytes).or_else(copied)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Imported<'_>> {
        self.shm.import(source, address, len)
    }

    fn workers(&self) -> Option<&dyn Workers> {
        self.shm.workers()
    }

    fn get_zcopy(
        &mut self,
        source: u32,
        address: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        self.cma.as_mut().ok_or(Unreadable)?.get(source, address, offset, into)
    }

    fn export_mut(&self, to: u32, bytes: Span) -> Option<u64> {
        (self.carrier(to) == TransportKind::Shm).then(|| self.shm.export_mut(to, bytes)).flatten()
    }

    fn put_zcopy(
        &mut self,
        to: u32,
        address: u64,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Unwritable> {
        self.to(to).put_zcopy(to, address, offset, bytes)
    }
}

impl Wakeup for RankTransport<'_> {
    #[inline]
    fn has_message(&self) -> bool {
        self.shm.has_message() || self.local.has_message() || self.has_frame()
    }

    fn publish(&mut self) {
        self.shm.publish();
    }

    /// Arms only the mailbox. A message from the rank to itself can't arrive during the sleep, and
    /// a frame from another host makes a socket readable.
    fn arm(&mut self) -> bool {
        let Some(remote) = &mut self.remote else {
            return !self.local.has_message() && self.shm.arm();
        };
        if self.local.has_message() || remote.progress() {
            return false;
        }
        // While the rank sleeps, launchers compare these numbers to find out if the job is stuck.
        let Exchanged { sent, taken } = remote.exchanged();
        let segment = self.shm.segment();
        segment.status(self.rank).remote_sent.store(sent, Ordering::SeqCst);
        segment.status(self.rank).remote_taken.store(taken, Ordering::SeqCst);
        self.shm.arm()
    }

    fn wait(&mut self, limit: Option<Duration>) {
        let mailbox = self.mailbox();
        match &mut self.remote {
            None => mailbox.wait(limit),
            Some(remote) => {
                remote.sleep(mailbox.bell(), || mailbox.is_armed(), limit);
                mailbox.disarm();
            }
        }
    }
}
