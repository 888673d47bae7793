//! Sends a rank's messages to other hosts through its fabrics, and lets the rank sleep until one of
//! their sockets is readable.
//!
//! A message to a rank takes the first fabric that can connect to this rank. A fabric gives up on a
//! rank only before it has exchanged a message with it. So messages keep their order.

mod esp;
mod sleeper;

pub use esp::RETRANSMIT_MAX_NS;
pub(crate) use sleeper::Sleeper;

use goal_engine::transport::{Full, Sink};
use goal_eth::{OpenError, now_ns};
use goal_fabric::{Exchanged, Fabric};
use goal_job::network::{Network, OverTcp, Wire};
use goal_job::remote_sockets::RemoteSockets;
use goal_kernel::CompletionEvents;
use goal_shm::{Bell, SHORT_MAX};
use goal_tcp::{Conditions, TcpFabric, Tls};
use sleeper::{FABRICS_DESCRIPTORS_MAX, sleep};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// A rank's fabrics to ranks on other hosts.
pub(crate) struct Remote<'a> {
    network: &'a Network,
    /// The fabrics, in the order of their priorities.
    fabrics: Vec<Box<dyn Fabric + 'a>>,
    /// The index in `fabrics`, for each rank, of the fabric that carries the messages to the rank.
    chosen: Vec<u8>,
    /// The descriptors of all fabrics. A thread may sleep on them while another thread uses the
    /// fabrics.
    sockets: Arc<[OwnedFd]>,
    /// The completion events of the rank's runs in the kernel, which also end a sleep.
    events: Option<Arc<CompletionEvents>>,
    /// The number of ranks whose messages take a fabric other than the first.
    fallen_back: u64,
    /// The first rank that no fabric can reach, and the reason.
    unreachable: Option<(u32, String)>,
}

impl<'a> Remote<'a> {
    /// Opens the fabrics of `rank` for `generation` of the job, over the remote sockets that its
    /// launcher opened. A fabric that the program itself provides comes first.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(crate) fn over(
        network: &'a Network,
        rank: u32,
        mut remote_sockets: RemoteSockets,
        generation: u32,
    ) -> Result<Self, OpenError> {
        let system = |what| move |cause| OpenError::System { what, cause };
        let mut fabrics: Vec<Box<dyn Fabric + 'a>> = Vec::new();
        while let RemoteSockets::Other(fabric, next) = remote_sockets {
            fabrics.push(fabric);
            remote_sockets = *next;
        }
        let last: Box<dyn Fabric + 'a> = match (remote_sockets, &network.wire) {
            (RemoteSockets::Ethernet(driver), Wire::Ethernet(ethernet)) => {
                Box::new(esp::open(network, ethernet, rank, driver)?)
            }
            (RemoteSockets::Tcp(listener), Wire::Tcp(over) | Wire::Other(_, over)) => {
                let &OverTcp { silence_s, encrypts } = over;
                let addresses = network.locations().map(|location| location.socket()).collect();
                let key = network.secret.tcp_key(generation);
                let tcp = TcpFabric::new(rank, addresses, listener, key, now_ns);
                let tcp = tcp.map_err(system("the sockets can't be watched"))?;
                let tls = encrypts.then(Tls::new).transpose();
                let tls = tls.map_err(system("there is no encryption"))?;
                let conditions = Conditions { silence_s, tls };
                let tcp = tcp.with_first_room(network.first_room).with_conditions(conditions);
                Box::new(tcp.with_communicators(network.has_communicators))
            }
            _ => return Err(OpenError::NoDriver),
        };
        fabrics.push(last);
        if fabrics.iter().any(|fabric| fabric.short_max() < SHORT_MAX) {
            let few =
                "a fabric must carry as many bytes in one message as shared memory does at once";
            return Err(system(few)(io::ErrorKind::InvalidInput.into()));
        }
        let sockets = fabrics.iter().flat_map(|fabric| fabric.descriptors());
        let sockets = sockets.map(|socket| BorrowedFd::try_clone_to_owned(&socket));
        let sockets = sockets.collect::<io::Result<Arc<[OwnedFd]>>>();
        let sockets = sockets.map_err(system("there is no descriptor left"))?;
        if sockets.len() > FABRICS_DESCRIPTORS_MAX {
            let many = "the fabrics have more descriptors than a rank can wait for: six";
            return Err(system(many)(io::ErrorKind::InvalidInput.into()));
        }
        let chosen = vec![0; network.num_ranks() as usize];
        Ok(Self {
            network,
            fabrics,
            chosen,
            sockets,
            events: None,
            unreachable: None,
            fallen_back: 0,
        })
    }

    /// Lets completion events of the rank's runs in the kernel end its sleeps.
    pub(crate) fn follow(&mut self, events: Arc<CompletionEvents>) {
        self.events = Some(events);
    }

    /// Returns true if some completion event was not settled yet, or if the rank must look at its
    /// runs in the kernel for another reason.
    #[inline]
    pub(crate) fn has_event(&self) -> bool {
        self.events.as_ref().is_some_and(|events| events.is_due() || events.is_news())
    }

    /// Returns true if `rank` is on another host.
    #[inline]
    pub(crate) fn leads_to(&self, rank: u32) -> bool {
        !self.network.is_here(rank)
    }

    /// Returns the fabric that carries the messages to `rank`.
    #[inline]
    pub(crate) fn to(&mut self, rank: u32) -> &mut (dyn Fabric + 'a) {
        &mut *self.fabrics[usize::from(self.chosen[rank as usize])]
    }

    /// Returns a shared reference to the fabric that carries the messages to `rank`.
    #[inline]
    pub(crate) fn route_to(&self, rank: u32) -> &(dyn Fabric + 'a) {
        &*self.fabrics[usize::from(self.chosen[rank as usize])]
    }

    /// Calls `send` with the fabric that carries the messages to the rank `to`. If this fabric
    /// can't reach the rank, the next fabric carries its messages from now on.
    ///
    /// # Errors
    /// The error [`Full`] of `send`.
    #[inline]
    pub(crate) fn send(
        &mut self,
        to: u32,
        send: impl FnOnce(&mut (dyn Fabric + 'a)) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let sent = send(self.to(to));
        if sent.is_err() {
            self.fall_back(to);
        }
        sent
    }

    /// Chooses the next fabric for the rank `to` if the present one can't reach it. If there is no
    /// next fabric, notes that the rank is unreachable.
    #[cold]
    fn fall_back(&mut self, to: u32) {
        let Some(why) = self.route_to(to).unreachable(to) else { return };
        let next = self.chosen[to as usize] + 1;
        if usize::from(next) < self.fabrics.len() {
            self.fallen_back += u64::from(next == 1);
            self.chosen[to as usize] = next;
        } else {
            self.unreachable.get_or_insert((to, why));
        }
    }

    /// Returns the number of ranks whose messages take a fabric other than the first.
    pub(crate) fn fallen_back(&self) -> u64 {
        self.fallen_back
    }

    /// Takes at most `messages_max` messages of each fabric. Returns their number.
    #[inline]
    pub(crate) fn poll(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        self.fabrics.iter_mut().map(|fabric| fabric.poll_dyn(messages_max, sink)).sum()
    }

    /// Announces `bytes` bytes of room for messages. Each fabric announces an equal part, so that
    /// all fabrics together grant no more than `bytes`.
    pub(crate) fn announce_room(&mut self, bytes: u64, most: u64) {
        let bytes = bytes / self.fabrics.len() as u64;
        self.fabrics.iter_mut().for_each(|fabric| fabric.announce_room(bytes, most));
    }

    /// See [`Fabric::send_written`].
    #[inline]
    pub(crate) fn send_written(&mut self) {
        self.fabrics.iter_mut().for_each(|fabric| fabric.send_written());
    }

    /// Sends the messages that were written. Returns the ranks for which bytes of messages have to
    /// wait for room on the network.
    pub(crate) fn kept_back(&mut self) -> Vec<u32> {
        self.send_written();
        self.fabrics.iter().flat_map(|fabric| fabric.kept_back()).collect()
    }

    /// See [`Fabric::progress`].
    pub(crate) fn progress(&mut self) -> bool {
        self.fabrics.iter_mut().fold(false, |any, fabric| fabric.progress() | any)
    }

    /// See [`Fabric::has_work`].
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.fabrics.iter().any(|fabric| fabric.has_work())
    }

    /// See [`Fabric::has_arrived`].
    pub(crate) fn has_arrived(&self) -> bool {
        self.fabrics.iter().any(|fabric| fabric.has_arrived())
    }

    /// See [`Fabric::is_receiving`].
    #[inline]
    pub(crate) fn is_receiving(&self) -> bool {
        self.fabrics.iter().any(|fabric| fabric.is_receiving())
    }

    /// Returns the numbers of messages that this rank has sent to other hosts and taken from them.
    pub(crate) fn exchanged(&self) -> Exchanged {
        let add = |sum: Exchanged, Exchanged { sent, taken }| Exchanged {
            sent: sum.sent.wrapping_add(sent),
            taken: sum.taken.wrapping_add(taken),
        };
        self.fabrics.iter().map(|fabric| fabric.exchanged()).fold(Exchanged::default(), add)
    }

    /// Returns a rank on another host that was lost, with a description; `None` if none was.
    pub(crate) fn loss(&self) -> Option<(u32, String)> {
        let lost = self.fabrics.iter().find_map(|fabric| fabric.lost());
        let (rank, why) = lost.or_else(|| self.unreachable.clone())?;
        let text = format!("rank {rank} on host {} is lost: {why}", self.network.host(rank));
        Some((rank, text))
    }

    /// Sleeps until the rank may be able to go on: the bell rang, a message arrived, a refused
    /// message has room, a completion event came, or `limit` has passed. Meanwhile keeps the
    /// connections alive, by acknowledgements and retransmissions. The caller must have made
    /// progress since it armed the mailbox, or right before.
    pub(crate) fn sleep(
        &mut self,
        bell: Bell<'_>,
        is_armed: impl Fn() -> bool,
        limit: Option<Duration>,
    ) {
        let until_ns = limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
        // An earlier sleep may have left the bell with a signal that nobody read. It would end a
        // later sleep at once. So the bell is drained once in each call.
        let mut may_ring = true;
        while is_armed() && !self.has_event() {
            let now_ns = now_ns();
            if until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                break;
            }
            let next_ns = until_ns.into_iter().chain(self.until_ns()).min();
            let left = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(now_ns)));
            // While an interface has no room for frames, the rank sleeps even if there is work.
            if self.fabrics.iter().any(|fabric| fabric.has_unsent()) || !self.has_work() {
                may_ring = sleep(&self.sockets, bell, self.events.as_deref(), left);
                // The bell is drained before `is_armed` is read again. A rank disarms the mailbox
                // before it rings the bell, so no signal is lost.
                if std::mem::take(&mut may_ring) {
                    bell.drain();
                }
            }
            if self.progress() {
                break;
            }
        }
        if may_ring {
            bell.drain();
        }
    }

    /// Returns a sleeper, by which another thread waits for other hosts.
    pub(crate) fn sleeper(&self) -> Sleeper {
        let (sockets, events) = (Arc::clone(&self.sockets), self.events.clone());
        Sleeper { sockets, events, until_ns: self.until_ns() }
    }

    /// Returns the time in nanoseconds at which a fabric has work even if nothing arrives; `None`
    /// if there is no such time.
    fn until_ns(&self) -> Option<u64> {
        self.fabrics.iter().filter_map(|fabric| fabric.wake_ns()).min()
    }
}
