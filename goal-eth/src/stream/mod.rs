//! The Ethernet Stream Protocol: messages to ranks on other hosts, straight on Ethernet, as an
//! endpoint of `goal-esp` over frames that somebody carries.
//!
//! A connection to a rank is set up by the first message to it. Before that, and while as much
//! waits as the longest chunk has, there is no room for another one.

mod credit;
mod messages;
mod peer;
#[cfg(test)]
mod tests;
mod translate;

use super::Full as NoRoom;
pub use credit::Overrun;
use goal_engine::transport::Header;
use goal_esp::auth::Address;
use goal_esp::endpoint::{Config, ConnectionId, Endpoint, Event, Loss, Timing};
use goal_esp::limits::{PAYLOAD_MAX, PAYLOAD_MIN};
use goal_esp::message::Broken;
use goal_esp::wire::Chunk;
use goal_lang::ANY;
use messages::{has_room, note_written, read};
use peer::Peer;
use std::collections::{BTreeMap, VecDeque};
use translate::COMMUNICATOR;

/// The shortest sleep without a frame: longer than the tick of a system that is busy, which then
/// sets no timer of its own.
const SLEEP_NS: u64 = 5_000_000;
/// Longest time for which timers wait until a rank has looked at all that has arrived: that may be
/// what they wait for.
const BEHIND_NS: u64 = 10_000_000;
/// Frames that one poll takes.
const FRAMES_PER_POLL: usize = 64;

/// Most bytes of a message to whatever peer that are written and read in place: those for which the
/// shortest packet has room.
pub const SHORT_MAX: usize = PAYLOAD_MIN - Chunk::HEADER_LEN_MAX;
/// The same where the frames of both sides are the longest ones.
pub const MESSAGE_MAX: usize = PAYLOAD_MAX - Chunk::HEADER_LEN_MAX;

/// What carries frames, with a clock that never goes back.
pub trait Frames {
    /// Nanoseconds.
    fn now_ns(&self) -> u64;

    /// Hands `write` the place of the next frame, which leaves at the next [`Frames::flush`]; false
    /// if it says that there is none.
    ///
    /// # Errors
    /// There is no room, and `write` was not called.
    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, NoRoom>;

    /// Lets out what was sent, or as much of it as there is room for.
    fn flush(&mut self);

    /// Whether frames that were sent are still here after [`Frames::flush`].
    fn has_left_over(&self) -> bool;

    /// Whether a frame has arrived.
    fn has_frame(&self) -> bool;

    /// Hands at most `frames_max` frames that have arrived to `sink`. Returns how many.
    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize;
}

/// Why there will be no more messages to or from a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LostPeer {
    /// The connection.
    #[error("{0}")]
    Connection(Loss),
    /// What came is no stream of messages.
    #[error("what it sent is no stream of messages: {0}")]
    Stream(Broken),
    /// A chunk names another sender or receiver, or comes where it can't.
    #[error("it sent a message of another rank, or for another one")]
    Rank,
    /// A chunk names a communicator that the job does not have.
    #[error("it sent a message in communicator {0}, which the job does not have")]
    Communicator(u32),
    /// A chunk's tag is the one that stands for any.
    #[error("it sent a message with tag {ANY}, which only a receive of any tag names")]
    Tag,
    /// A chunk announces the parts of a message without bytes, which has none.
    #[error("it sent the envelope of a message in parts that has no bytes")]
    Empty,
    /// It sent more than it was granted.
    #[error("it sent {0}")]
    Overrun(Overrun),
}

impl From<Loss> for LostPeer {
    fn from(cause: Loss) -> Self {
        match cause {
            Loss::Communicator(number) => LostPeer::Communicator(number),
            cause => LostPeer::Connection(cause),
        }
    }
}

/// One rank's end of ESP.
pub struct EspTransport<F> {
    rank: u32,
    /// The communicator that its streams name.
    communicator: u32,
    frames: F,
    endpoint: Endpoint,
    addresses: Vec<Address>,
    ranks: BTreeMap<Address, u32>,
    /// Connections, by rank.
    peers: Vec<Option<Box<Peer>>>,
    by_id: BTreeMap<ConnectionId, u32>,
    /// Ranks for which something was written that the endpoint does not have, each once.
    written: Vec<u32>,
    /// Ranks from which something can be read, each once.
    readable: VecDeque<u32>,
    /// The rank's own room for messages without a receive, and how much it was when the shares of
    /// it were looked at last.
    room: u64,
    shared: u64,
    /// Bytes of it that messages may take of which the engine has not said yet whether they do.
    unsettled: u64,
    /// Messages that left and that came, and news of room: whatever lets a rank go on.
    exchanged: (u64, u64),
    /// Something happened that lets a rank go on, but for messages.
    has_news: bool,
    /// To whom a send was refused for want of room.
    refused: Option<u32>,
    /// When timers passed last.
    timed_ns: u64,
    /// Bytes of a message that does not fit into one packet.
    bytes: Vec<u8>,
    /// Ranks that were asked for a connection.
    asked: BTreeMap<ConnectionId, u32>,
    lost: Option<(u32, LostPeer)>,
}

impl<F: Frames> EspTransport<F> {
    /// The end of `rank`, where the ranks have these addresses. Nobody must be able to guess
    /// `seed`.
    pub fn new(
        rank: u32,
        addresses: Vec<Address>,
        config: Config,
        seed: [u8; 32],
        frames: F,
    ) -> Self {
        let ranks = (0..).zip(&addresses).map(|(rank, &address)| (address, rank)).collect();
        // The job has one communicator, so a stream of another one never becomes readable.
        let timing = Timing { postpone_ns: 0, ..config.timing };
        let config = Config { checks_communicators: true, timing, ..config };
        let mut endpoint = Endpoint::new(config, seed);
        endpoint.open_communicator(frames.now_ns(), COMMUNICATOR);
        Self {
            rank,
            communicator: COMMUNICATOR,
            frames,
            endpoint,
            peers: addresses.iter().map(|_| None).collect(),
            addresses,
            ranks,
            by_id: BTreeMap::new(),
            written: Vec::new(),
            readable: VecDeque::new(),
            room: 0,
            shared: 0,
            unsettled: 0,
            exchanged: (0, 0),
            has_news: false,
            refused: None,
            timed_ns: 0,
            bytes: Vec::new(),
            asked: BTreeMap::new(),
            lost: None,
        }
    }

    /// The first rank that was lost, and why.
    pub fn lost(&self) -> Option<(u32, LostPeer)> {
        self.lost
    }

    /// What carries its frames.
    pub fn frames_mut(&mut self) -> &mut F {
        &mut self.frames
    }

    /// When it has to be polled again though nothing arrives.
    pub fn timeout_ns(&self) -> Option<u64> {
        // What was put off is to be done at once, but for what there is no room for.
        if self.endpoint.wants_poll() && !self.frames.has_left_over() {
            return Some(0);
        }
        self.endpoint.poll_timeout()
    }

    /// The same for whoever sleeps meanwhile: no sooner than in some milliseconds, as to be woken
    /// by a clock soon costs more than a message.
    pub fn wake_ns(&self) -> Option<u64> {
        self.timeout_ns().map(|at_ns| at_ns.max(self.frames.now_ns() + SLEEP_NS))
    }

    /// What carries the frames.
    pub fn frames(&self) -> &F {
        &self.frames
    }

    /// Messages that left and that came, with the news of room between them: where all ranks rest
    /// and what left is what came, none goes on by itself.
    pub fn exchanged(&self) -> (u64, u64) {
        self.exchanged
    }

    /// Whether there is something to do: a frame has arrived, the time for something has come, or
    /// frames are to leave that there was no room for.
    #[inline]
    pub fn has_frame(&self) -> bool {
        self.frames.has_frame()
            || self.frames.has_left_over()
            || self.timeout_ns().is_some_and(|at_ns| at_ns <= self.frames.now_ns())
    }

    /// Does what is to be done without a message being taken. Whether there is anything for whoever
    /// takes messages.
    pub fn tend(&mut self) -> bool {
        let (now_ns, _) = self.exchange(0, &mut |_, _| {});
        self.flush_rest(now_ns, !self.readable.is_empty());
        let has_room = |rank: u32| {
            self.peers[rank as usize].as_ref().is_some_and(|p| has_room(p, &self.endpoint))
        };
        let is_welcome = self.refused.is_some_and(has_room);
        std::mem::take(&mut self.has_news)
            || is_welcome
            || !self.readable.is_empty()
            || self.lost.is_some()
    }

    /// What each rank that there is a connection with may have of the room.
    fn share(&self) -> u64 {
        self.room / self.by_id.len().max(1) as u64
    }

    /// The same without what may be taken already.
    fn settled_share(&self) -> u64 {
        self.room.saturating_sub(self.unsettled) / self.by_id.len().max(1) as u64
    }

    fn lose(&mut self, rank: u32, cause: LostPeer) {
        self.lost.get_or_insert((rank, cause));
        if let Some(peer) = self.peers[rank as usize].take() {
            self.by_id.remove(&peer.id);
            self.endpoint.reset(self.frames.now_ns(), peer.id);
        }
        self.written.retain(|&other| other != rank);
        self.readable.retain(|&other| other != rank);
    }

    /// Lets out what was written, takes what came and lets timers pass, as far as there is anything
    /// of that. The time, and how many messages went to `sink`: see [`Self::take_frames`].
    fn exchange(
        &mut self,
        messages_max: usize,
        sink: &mut impl FnMut(&Header, &[u8]),
    ) -> (u64, usize) {
        let has_frame = self.frames.has_frame();
        let has_written =
            self.endpoint.wants_poll() || !self.written.is_empty() || self.frames.has_left_over();
        let now_ns = self.frames.now_ns();
        if has_written {
            self.flush(now_ns);
        }
        if has_frame
            || has_written
            || self.endpoint.poll_timeout().is_some_and(|at_ns| at_ns <= now_ns)
        {
            return (now_ns, self.take_frames(now_ns, messages_max, sink));
        }
        (now_ns, 0)
    }

    /// Takes frames, lets timers pass, and sees what that changed. At most `messages_max` messages,
    /// a packet's more, that come next go to `sink` from where they lie in frames. How many.
    fn take_frames(
        &mut self,
        now_ns: u64,
        messages_max: usize,
        sink: &mut impl FnMut(&Header, &[u8]),
    ) -> usize {
        // What nobody wants now is better left where it is, unless it is to be looked through for
        // acknowledgements.
        let frames_max =
            if messages_max == 0 { FRAMES_PER_POLL } else { messages_max.min(FRAMES_PER_POLL) };
        let share = self.share();
        let Self {
            rank: own, frames, endpoint, peers, by_id, written, exchanged, unsettled, ..
        } = self;
        let (mut taken, mut lost) = (0, None);
        frames.receive(frames_max, |frame| {
            if taken >= messages_max || lost.is_some() {
                endpoint.handle_frame(now_ns, frame);
            } else if let Some((id, payload)) = endpoint.read_frame(now_ns, frame)
                && let Some(&rank) = by_id.get(&id)
            {
                let read = read(peers, written, exchanged, share, (rank, *own), payload, sink);
                taken += read.messages;
                *unsettled = unsettled.saturating_add(read.spent);
                lost = read.lost.map(|cause| (rank, cause));
            }
        });
        if let Some((rank, cause)) = lost {
            self.lose(rank, cause);
        }
        if !self.frames.has_frame() || self.timed_ns + BEHIND_NS <= now_ns {
            self.timed_ns = now_ns;
            self.endpoint.handle_timeout(now_ns);
        }
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Connected { id, peer } => {
                    self.has_news = true;
                    self.connected(id, peer);
                }
                Event::Readable(id) => {
                    if let Some(&rank) = self.by_id.get(&id) {
                        self.readable.push_back(rank);
                    }
                }
                Event::Lost { id, cause } => {
                    if let Some(&rank) = self.by_id.get(&id).or_else(|| self.asked.get(&id)) {
                        self.asked.remove(&id);
                        self.lose(rank, cause.into());
                    }
                }
                Event::Writable(_) | Event::Finished(_) | Event::Closed(_) => {}
            }
        }
        taken
    }

    fn connected(&mut self, id: ConnectionId, address: Address) {
        let Some(&rank) = self.ranks.get(&address) else {
            return self.endpoint.reset(self.frames.now_ns(), id);
        };
        let peer = Peer::new(id, self.communicator, &mut self.endpoint);
        self.asked.remove(&id);
        self.peers[rank as usize] = Some(Box::new(peer));
        self.by_id.insert(id, rank);
        note_written(&mut self.peers, &mut self.written, rank);
        // One more shares the room.
        self.look_at_shares();
    }

    /// Notes who is to be told of a share that has changed.
    fn look_at_shares(&mut self) {
        let share = self.share();
        for &rank in self.by_id.values() {
            let is_due =
                self.peers[rank as usize].as_ref().is_some_and(|peer| peer.credit.is_due(share));
            if is_due {
                note_written(&mut self.peers, &mut self.written, rank);
            }
        }
    }

    /// Lets out what was written and what the endpoint has to say.
    fn flush(&mut self, now_ns: u64) {
        let (share, settled) = (self.share(), self.settled_share());
        let Self { endpoint, peers, written, exchanged: (sent, _), .. } = self;
        written.retain(|&rank| {
            let Some(peer) = &mut peers[rank as usize] else { return false };
            peer.is_written = !peer.flush(endpoint, (share, settled), sent);
            peer.is_written
        });
        let mut was_full = false;
        loop {
            match self.frames.send(|out| self.endpoint.poll_transmit(now_ns, out)) {
                Ok(true) => was_full = false,
                Ok(false) => break,
                Err(NoRoom) if was_full => return,
                Err(NoRoom) => was_full = true,
            }
            // Frames leave before anything else is done.
            if was_full || !self.endpoint.wants_transmit() {
                self.frames.flush();
            }
        }
        self.frames.flush();
    }

    /// The same for what has come up since. Timers wait until messages that are there, or were just
    /// taken, can be answered.
    fn flush_rest(&mut self, now_ns: u64, has_messages: bool) {
        let is_wanted =
            self.endpoint.wants_poll() && (!has_messages || self.endpoint.wants_transmit());
        if is_wanted || !self.written.is_empty() {
            self.flush(now_ns);
        }
    }

    /// Reads the next packet from a rank and hands its messages to `sink`. How many there were.
    fn read(&mut self, now_ns: u64, rank: u32, sink: &mut impl FnMut(&Header, &[u8])) -> usize {
        let share = self.share();
        let Self { rank: own, endpoint, peers, written, exchanged, .. } = self;
        let Some(id) = peers[rank as usize].as_ref().map(|peer| peer.id) else { return 0 };
        let Some(payload) = endpoint.read(now_ns, id) else { return 0 };
        if endpoint.is_readable(id) {
            self.readable.push_back(rank);
        }
        let read = read(peers, written, exchanged, share, (rank, *own), &payload, sink);
        endpoint.recycle(payload);
        self.unsettled = self.unsettled.saturating_add(read.spent);
        if let Some(cause) = read.lost {
            self.lose(rank, cause);
        }
        read.messages
    }
}
