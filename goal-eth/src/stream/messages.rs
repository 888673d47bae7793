//! Messages into packets and out of them: what the engine asks of a transport.

use super::peer::Peer;
use super::{EspTransport, Frames, LostPeer, SHORT_MAX, translate};
use goal_engine::kept_bytes;
use goal_engine::memory::Span;
use goal_engine::transport::{Full, Header, Kind, Transport};
use goal_esp::endpoint::Endpoint;
use goal_esp::limits::ELEMENT_BYTES_MAX;
use goal_esp::wire::ChunkKind;

/// Packets that were never sent from which on there is no room: those of a chunk. What comes then
/// waits for as long as these take.
const UNSENT_MAX: usize = 96;

/// Ranks that are asked for a connection at a time. Questions are repeated: those of many ranks to
/// many others would leave no time for answers.
const ASKED_MAX: usize = 8;

// A receive with an operation combines each piece of a message by itself.
const _: () = assert!((ELEMENT_BYTES_MAX as u64).is_multiple_of(goal_engine::ELEMENT_BYTES_MAX));

/// What a packet had.
pub(super) struct Read {
    pub(super) messages: usize,
    /// Bytes of room that they may take.
    pub(super) spent: u64,
    /// Why nothing more is to be read from its rank.
    pub(super) lost: Option<LostPeer>,
}

/// Hands the messages of a packet from a rank, which there is a connection with, to `sink`.
pub(super) fn read(
    peers: &mut [Option<Box<Peer>>],
    written: &mut Vec<u32>,
    exchanged: &mut (u64, u64),
    share: u64,
    (rank, own): (u32, u32),
    payload: &[u8],
    sink: &mut impl FnMut(&Header, &[u8]),
) -> Read {
    let Peer { reader, credit, .. } =
        &mut **peers[rank as usize].as_mut().expect("it is connected");
    let (mut messages, mut room, mut refused) = (0, 0u64, None);
    let read = reader.read(payload, |chunk, bytes| {
        if chunk.kind == ChunkKind::Room {
            return credit.set(chunk.offset);
        }
        let header = translate::header(chunk, rank, own);
        let taken = header.and_then(|header| {
            credit.arrive(spent(&header)).map_err(LostPeer::Overrun)?;
            Ok(header)
        });
        match taken {
            Ok(header) if refused.is_none() => {
                messages += 1;
                room = room.saturating_add(spent(&header));
                sink(&header, bytes);
            }
            Ok(_) => {}
            Err(cause) => refused = refused.or(Some(cause)),
        }
    });
    if credit.is_due(share) {
        note_written(peers, written, rank);
    }
    let lost = match read {
        _ if refused.is_some() => refused,
        Err(broken) => Some(LostPeer::Stream(broken)),
        Ok(whole) => {
            exchanged.1 += whole;
            None
        }
    };
    Read { messages, spent: room, lost }
}

/// Whether a message to a rank may be written.
#[inline]
pub(super) fn has_room(peer: &Peer, endpoint: &Endpoint) -> bool {
    peer.waiting() + endpoint.unsent(peer.id) <= UNSENT_MAX
}

/// Bytes of a receiver's room for messages without a receive that a message may take.
fn spent(header: &Header) -> u64 {
    match header.kind() {
        Kind::Eager | Kind::Long => kept_bytes(header.size),
        Kind::Rts | Kind::Cts | Kind::Data | Kind::Fin | Kind::Part => 0,
    }
}

/// There is something for the endpoint in the connection to a rank.
#[inline]
pub(super) fn note_written(peers: &mut [Option<Box<Peer>>], written: &mut Vec<u32>, rank: u32) {
    if let Some(peer) = &mut peers[rank as usize]
        && !std::mem::replace(&mut peer.is_written, true)
    {
        written.push(rank);
    }
}

impl<F: Frames> Transport for EspTransport<F> {
    fn short_max(&self) -> usize {
        SHORT_MAX
    }

    /// What one packet has room for, so that bytes are written and read where they lie in it.
    fn payload_max(&mut self, to: u32) -> usize {
        self.peers[to as usize].as_ref().map_or(SHORT_MAX, |peer| peer.message_max())
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.peers[to as usize].as_ref().map_or(SHORT_MAX, |peer| peer.room())
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        debug_assert_ne!(to, self.rank, "messages to oneself stay on the host");
        let Some(peer) = &mut self.peers[to as usize] else {
            let address = self.addresses[to as usize];
            // One that is lost stays so, as messages of it may be.
            if self.lost.is_none()
                && self.asked.len() < ASKED_MAX
                && let Some(id) = self.endpoint.connect(self.frames.now_ns(), address)
            {
                self.asked.insert(id, to);
            }
            return Err(Full);
        };
        if !has_room(peer, &self.endpoint) {
            self.refused = Some(to);
            return Err(Full);
        }
        self.refused = None;
        // An engine asks before; whoever sends more than it was granted would be lost.
        if spent(header) > peer.credit.left() {
            return Err(Full);
        }
        peer.credit.spend(spent(header));
        self.exchanged.0 += 1;
        let chunk = translate::chunk(header, to);
        match peer.place(&chunk, &mut self.endpoint) {
            Some(place) => fill(place),
            None => {
                let len = chunk.len as usize;
                if self.bytes.len() < len {
                    self.bytes.resize(len, 0);
                }
                fill(&mut self.bytes[..len]);
                peer.write(&chunk, &self.bytes[..len], &mut self.endpoint);
            }
        }
        note_written(&mut self.peers, &mut self.written, to);
        Ok(())
    }

    fn poll(&mut self, messages_max: usize, mut sink: impl FnMut(&Header, &[u8])) -> usize {
        // The engine has seen to what came before, and has told what room that left.
        self.unsettled = 0;
        let (now_ns, mut taken) = self.exchange(messages_max, &mut sink);
        while taken < messages_max
            && let Some(rank) = self.readable.pop_front()
        {
            taken += self.read(now_ns, rank, &mut sink);
        }
        self.flush_rest(now_ns, taken > 0);
        taken
    }

    fn announce_room(&mut self, bytes: u64, _most: u64) {
        self.room = bytes;
        // Shares that changed by half are told, so smaller changes of the whole need no look at
        // them.
        if bytes.abs_diff(self.shared) > self.shared / 4 {
            self.shared = bytes;
            self.look_at_shares();
        }
    }

    fn room(&self, to: u32) -> u64 {
        self.peers[to as usize].as_ref().map_or(0, |peer| peer.credit.left())
    }

    fn export(&self, _to: u32, _bytes: Span) -> Option<u64> {
        None
    }

    fn import(&self, _source: u32, _address: u64, _len: u64) -> Option<Span> {
        None
    }
}
