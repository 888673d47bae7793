//! The transport of messages to ranks on other hosts: streams of the Ethernet Stream Protocol, by
//! an [`Endpoint`] of `goal-esp` over a [`Driver`].
//!
//! The first message to a rank opens a connection with that rank. The transport has no room for a
//! message while there is no connection, or while as many packets wait as one chunk takes.

mod fabric;
mod lost;
mod messages;
mod peer;
mod peers;
#[cfg(test)]
mod tests;

pub use lost::LostPeer;

use crate::{BATCH_MAX, Driver, LostInterface, QueueFull};
use goal_engine::transport::Header;
use goal_esp::auth::Address;
use goal_esp::endpoint::{CHECKED_MAX, Config, Endpoint, Event, Seals, Timing};
use goal_esp::limits::{PAYLOAD_MAX, PAYLOAD_MIN};
use goal_fabric::chunk::Chunk;
use goal_fabric::translate::COMMUNICATOR;
use goal_fabric::{Exchanged, Room};
use peers::Peers;
use std::time::Duration;

/// The shortest sleep, in nanoseconds, if no frame arrives. It is longer than the timer tick of the
/// system, so a busy system sets no timer for it.
const SLEEP_MIN_NS: u64 = 5_000_000;
/// The most nanoseconds for which timers are put off while received frames are still to be handled.
/// One of these frames may be what a timer waits for.
const TIMERS_WAIT_MAX_NS: u64 = 10_000_000;
/// The most frames that one poll takes.
const FRAMES_PER_POLL: usize = 64;

/// The bytes of the longest payload of a message that fits into one packet to any peer.
pub const SHORT_MAX: usize = PAYLOAD_MIN - Chunk::HEADER_LEN_MAX;
/// The bytes of the longest payload of a message that fits into one packet if both sides have the
/// longest frames.
pub const MESSAGE_MAX: usize = PAYLOAD_MAX - Chunk::HEADER_LEN_MAX;

/// One rank's end of the streams to ranks on other hosts.
///
/// `D` carries the frames. `C` is the clock, which returns nanoseconds and never goes back.
pub struct EspTransport<D, C = fn() -> u64> {
    driver: D,
    clock: C,
    /// The last error of the driver.
    fault: Option<LostInterface>,
    endpoint: Endpoint,
    peers: Peers,
    room: Room,
    exchanged: Exchanged,
    /// Set when a connection was opened since [`EspTransport::exchange_frames`] was called last.
    has_connected: bool,
    /// The rank to which a message was refused last, if none was accepted since.
    refused: Option<u32>,
    /// The time at which timers were handled last, in nanoseconds of `clock`.
    timers_ns: u64,
    /// A buffer for the bytes of a message that does not fit into one packet.
    bytes: Vec<u8>,
    /// The authentication tags that must still be written into frames in the driver.
    seals: Seals,
}

const _: () = assert!(BATCH_MAX <= CHECKED_MAX);

impl<D: Driver, C: Fn() -> u64> EspTransport<D, C> {
    /// Returns the end of `rank` in a job whose ranks have these addresses. `seed` must be
    /// impossible to guess.
    pub fn new(
        rank: u32,
        addresses: Vec<Address>,
        config: Config,
        seed: [u8; 32],
        driver: D,
        clock: C,
    ) -> Self {
        // The job has one communicator. A stream of another communicator must not wait until that
        // is opened.
        let timing = Timing { postpone_ns: 0, ..config.timing };
        let config = Config { checks_communicators: true, timing, ..config };
        let mut endpoint = Endpoint::new(config, seed);
        endpoint.open_communicator(clock(), COMMUNICATOR);
        Self {
            driver,
            clock,
            fault: None,
            endpoint,
            peers: Peers::new(rank, addresses),
            room: Room::default(),
            exchanged: Exchanged::default(),
            has_connected: false,
            refused: None,
            timers_ns: 0,
            bytes: Vec::new(),
            seals: Seals::default(),
        }
    }

    /// Lets each rank send `bytes` bytes of messages to another rank before that rank has granted
    /// any room. So the first message between two ranks need not wait. All ranks of the job must
    /// use the same number, and must have room for it from each other rank.
    pub fn with_first_room(mut self, bytes: u64) -> Self {
        self.peers.first_room = bytes;
        self.room = Room::new(self.peers.connections.len() - 1, bytes);
        self
    }

    /// If `any`, accepts messages of any communicator, because programs open communicators at run
    /// time. By default a message of another communicator than the job's ends the job. The streams
    /// name the job's communicator in either case.
    pub fn with_communicators(mut self, any: bool) -> Self {
        self.peers.has_communicators = any;
        self
    }

    /// Returns the first rank that was lost, and why.
    pub fn lost(&self) -> Option<(u32, LostPeer)> {
        self.peers.lost
    }

    /// Returns the last error of the driver. Frames that the driver did not send count as lost on
    /// the way, so a link that comes back in time does no harm.
    pub fn fault(&self) -> Option<&LostInterface> {
        self.fault.as_ref()
    }

    /// Returns the driver.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// Returns the time at which the transport must be polled even if no frame arrives; `None` if
    /// there is none.
    pub fn timeout_ns(&self) -> Option<u64> {
        // Postponed work is due at once, unless the driver has no room for its frames.
        let has_work = self.endpoint.wants_poll() || self.peers.have_new();
        if has_work && !self.driver.has_unsent() {
            return Some(0);
        }
        self.endpoint.poll_timeout()
    }

    /// Returns the time until which a caller may sleep if no frame arrives. If
    /// [`EspTransport::timeout_ns`] is less than some milliseconds away, the returned time is
    /// later. A wakeup by a timer costs more than a message.
    pub fn wake_ns(&self) -> Option<u64> {
        self.timeout_ns().map(|at_ns| at_ns.max((self.clock)() + SLEEP_MIN_NS))
    }

    /// Sleeps until a frame arrives, the time for the next poll has come (see
    /// [`EspTransport::wake_ns`]) or a signal arrives.
    pub fn wait(&mut self) {
        let limit_ns = self.wake_ns().map(|at_ns| at_ns.saturating_sub((self.clock)()));
        if let Err(lost) = self.driver.wait(limit_ns.map(Duration::from_nanos)) {
            self.fault = Some(lost);
        }
    }

    /// Returns the number of messages that this rank has exchanged with other hosts.
    pub fn exchanged(&self) -> Exchanged {
        self.exchanged
    }

    /// Returns true if there is work: a frame has arrived, the driver has unsent frames, or the
    /// time of [`EspTransport::timeout_ns`] has come.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.driver.has_frame()
            || self.driver.has_unsent()
            || self.timeout_ns().is_some_and(|at_ns| at_ns <= (self.clock)())
    }

    /// Returns true while a peer sends a message of several packets: further ones follow soon.
    #[inline]
    pub fn is_receiving(&self) -> bool {
        self.endpoint.is_receiving()
    }

    /// Sends and receives frames and handles timers, without delivering messages. Returns true if
    /// the rank may be able to go on. This is so if a message can be taken, a connection was
    /// opened, a refused message has room now, or a rank was lost.
    pub fn exchange_frames(&mut self) -> bool {
        self.peers.release(true);
        let (now_ns, _) = self.exchange(0, &mut |_, _| {});
        self.transmit_rest(now_ns, !self.peers.readable.is_empty());
        let has_room =
            |rank| self.peers.get(rank).is_some_and(|peer| peer.has_room(&self.endpoint));
        let has_room = self.refused.is_some_and(has_room);
        std::mem::take(&mut self.has_connected)
            || has_room
            || !self.peers.readable.is_empty()
            || self.peers.lost.is_some()
    }

    /// Sends written packets, receives frames and handles timers, each if there is any need.
    /// Returns the current time, and the number of messages with which [`Self::receive`] called
    /// `sink`.
    fn exchange(
        &mut self,
        messages_max: usize,
        sink: &mut impl FnMut(&Header, &[u8]),
    ) -> (u64, usize) {
        let has_frame = self.driver.has_frame();
        let has_written = self.endpoint.wants_poll()
            || !self.peers.written.is_empty()
            || self.driver.has_unsent();
        let now_ns = (self.clock)();
        if has_written {
            self.transmit(now_ns);
        }
        let is_timer_due = || self.endpoint.poll_timeout().is_some_and(|at_ns| at_ns <= now_ns);
        if has_frame || has_written || is_timer_due() {
            return (now_ns, self.receive(now_ns, messages_max, sink));
        }
        (now_ns, 0)
    }

    /// Receives frames, handles timers, and handles the endpoint's events. Calls `sink` with the
    /// next messages if they lie in the received frames. The last packet passed to `sink` is the
    /// packet in which it has got `messages_max` messages. Returns the number of messages passed to
    /// `sink`.
    fn receive(
        &mut self,
        now_ns: u64,
        messages_max: usize,
        sink: &mut impl FnMut(&Header, &[u8]),
    ) -> usize {
        // Frames with messages that nobody wants yet stay in the driver. A caller that wants no
        // message at all looks for acknowledgements, which may be in any of them.
        let frames_max =
            if messages_max == 0 { FRAMES_PER_POLL } else { messages_max.min(FRAMES_PER_POLL) };
        let (mut taken, mut lost) = (0, None);
        self.driver.receive_batches(frames_max, |frames| {
            let checked = self.endpoint.check(frames);
            for (frame, checked) in frames.iter().zip(checked) {
                let reads = taken < messages_max && lost.is_none();
                if let Some((id, payload)) =
                    self.endpoint.handle_checked(now_ns, frame, reads, checked)
                    && let Some(rank) = self.peers.rank_of(id)
                {
                    let read =
                        self.peers.read(rank, payload, &mut self.room, &mut self.exchanged, sink);
                    taken += read.messages;
                    lost = read.fault.map(|cause| (rank, cause));
                }
            }
        });
        if let Some((rank, cause)) = lost {
            self.lose(rank, cause);
        }
        if !self.driver.has_frame() || self.timers_ns + TIMERS_WAIT_MAX_NS <= now_ns {
            self.timers_ns = now_ns;
            self.endpoint.handle_timeout(now_ns);
        }
        while let Some(event) = self.endpoint.poll_event() {
            self.handle_event(now_ns, event);
        }
        taken
    }

    fn handle_event(&mut self, now_ns: u64, event: Event) {
        match event {
            Event::Connected { id, peer } => {
                self.has_connected = true;
                if !self.peers.add(id, peer, &mut self.endpoint) {
                    return self.endpoint.reset(now_ns, id);
                }
                // The room is now shared with one more rank.
                self.room.set_sharers(self.peers.len());
                self.peers.note_due_grants(self.room.share());
            }
            Event::Readable(id) => self.peers.readable.extend(self.peers.rank_of(id)),
            Event::Lost { id, cause } => {
                let asked = self.peers.remove_asked(id);
                if let Some(rank) = self.peers.rank_of(id).or(asked) {
                    self.lose(rank, cause.into());
                }
            }
            Event::Writable(_) | Event::Finished(_) | Event::Closed(_) => {}
        }
    }

    /// Notes that a rank is lost, and ends its connection.
    fn lose(&mut self, rank: u32, cause: LostPeer) {
        if let Some(id) = self.peers.lose(rank, cause) {
            self.room.set_sharers(self.peers.len());
            self.endpoint.reset((self.clock)(), id);
        }
    }

    /// Sends the packets that were written, and the frames that the endpoint has to send itself.
    fn transmit(&mut self, now_ns: u64) {
        self.peers.push_packets(&mut self.endpoint, &self.room, &mut self.exchanged);
        let mut was_full = false;
        loop {
            let (endpoint, seals) = (&mut self.endpoint, &mut self.seals);
            let sent = if self.driver.can_amend() {
                self.driver.send(|out| endpoint.poll_unsealed(now_ns, out, seals))
            } else {
                self.driver.send(|out| endpoint.poll_transmit(now_ns, out))
            };
            match sent {
                Ok(true) => was_full = false,
                Ok(false) => break,
                Err(QueueFull) if was_full => return,
                Err(QueueFull) => was_full = true,
            }
            // Frames with messages leave before the endpoint does anything else.
            if was_full || !self.endpoint.wants_transmit() {
                self.flush();
            }
        }
        self.flush();
    }

    fn flush(&mut self) {
        if self.seals.len() > 0 {
            self.driver.amend(self.seals.len(), |frames| self.seals.seal(frames));
        }
        if let Err(lost) = self.driver.flush() {
            self.fault = Some(lost);
        }
    }

    /// Sends the messages that were written since the last poll. Without this call they wait for
    /// the next poll. That may come late, because a rank that computes does not poll.
    #[inline]
    pub fn send_written(&mut self) {
        if !self.peers.written.is_empty() || self.endpoint.wants_transmit() {
            self.transmit((self.clock)());
        }
    }

    /// Sends what has become due since [`Self::transmit`]. If `has_messages`, the endpoint's
    /// postponed work waits, because the caller may want to answer these messages first.
    fn transmit_rest(&mut self, now_ns: u64, has_messages: bool) {
        let is_wanted =
            self.endpoint.wants_poll() && (!has_messages || self.endpoint.wants_transmit());
        if is_wanted || !self.peers.written.is_empty() {
            self.transmit(now_ns);
        }
    }

    /// Reads the next packet from a rank and calls `sink` with its messages. Returns their number.
    fn read(&mut self, now_ns: u64, rank: u32, sink: &mut impl FnMut(&Header, &[u8])) -> usize {
        let Some(id) = self.peers.get(rank).map(|peer| peer.id) else { return 0 };
        let Some(payload) = self.endpoint.read(now_ns, id) else { return 0 };
        if self.endpoint.is_readable(id) {
            self.peers.readable.push_back(rank);
        }
        let read = self.peers.read(rank, &payload, &mut self.room, &mut self.exchanged, sink);
        self.endpoint.recycle(payload);
        if let Some(cause) = read.fault {
            self.lose(rank, cause);
        }
        read.messages
    }
}
