//! One rank's end of the messages over MPI.

mod deliver;
mod messages;
mod peer;
mod settle;

use crate::comm::Comm;
use crate::error::MpiError;
use crate::limits::{PACKET_MAX, PAUSE_MIN_NS, RECEIVES};
use crate::transfer::Transfer;
use goal_fabric::chunk::Chunk;
use goal_fabric::{Credit, Exchanged, Room, Terms};
use peer::Peer;
use std::collections::VecDeque;

/// One rank's end of the messages over MPI.
pub struct MpiFabric {
    own: u32,
    has_communicators: bool,
    first_room: u64,
    comm: Comm,
    /// The clock: nanoseconds that never go back.
    clock: fn() -> u64,
    /// The state of each rank; `None` before the first message to it or from it.
    peers: Vec<Option<Box<Peer>>>,
    /// The ranks with a packet that has not left, each once.
    written: Vec<u32>,
    /// The posted receives, in the order in which MPI matches them.
    receives: VecDeque<Transfer>,
    /// The packet that is being read.
    reading: Option<Reading>,
    room: Room,
    exchanged: Exchanged,
    /// By rank, the number of packets that were taken from it.
    packets_taken: Vec<u64>,
    /// By rank, the number of packets that were sent to it.
    packets_sent: Vec<u64>,
    spare: Vec<Box<[u8]>>,
    /// The rank to which a message was refused last, if none was accepted since.
    refused: Option<u32>,
    /// The pause before the next look for packets, in nanoseconds.
    pause_ns: u64,
    /// The time of the next look for packets, in nanoseconds of `clock`.
    next_ns: u64,
    /// The first rank that was lost, and why.
    lost: Option<(u32, String)>,
}

/// A packet whose bytes from `start` on are still to be read.
struct Reading {
    source: u32,
    buffer: Box<[u8]>,
    start: usize,
    len: usize,
}

impl MpiFabric {
    /// Returns a rank's end of the messages in a job with these `terms`. The ranks of the job must
    /// be those of `comm`. All ranks call this. `clock` returns nanoseconds and never goes back.
    /// [`Fabric::wake_ns`] is a time of this clock.
    ///
    /// [`Fabric::wake_ns`]: goal_fabric::Fabric::wake_ns
    ///
    /// # Errors
    /// The ranks of the job are not those of MPI, or [`MpiError`].
    pub fn new(terms: &Terms, comm: &Comm, clock: fn() -> u64) -> Result<Self, String> {
        let Terms { rank, ranks, first_room, has_communicators } = *terms;
        if (rank, ranks) != (comm.rank(), comm.size()) {
            return Err(format!(
                "this process is rank {rank} of {ranks} in the job, and rank {} of {} in MPI: they must be the same",
                comm.rank(),
                comm.size()
            ));
        }
        comm.begin_fabric()?;
        let receive = |_| Transfer::receive(comm, vec![0; PACKET_MAX].into());
        let receives = (0..RECEIVES).map(receive).collect::<Result<_, MpiError>>();
        if receives.is_err() {
            comm.end_fabric(false);
        }
        Ok(Self {
            own: rank,
            has_communicators,
            first_room,
            comm: comm.clone(),
            clock,
            peers: (0..ranks).map(|_| None).collect(),
            written: Vec::new(),
            receives: receives.map_err(|error| error.to_string())?,
            reading: None,
            room: Room::new(ranks.saturating_sub(1) as usize, first_room),
            exchanged: Exchanged::default(),
            packets_taken: vec![0; ranks as usize],
            packets_sent: vec![0; ranks as usize],
            spare: Vec::new(),
            refused: None,
            pause_ns: PAUSE_MIN_NS,
            next_ns: 0,
            lost: None,
        })
    }

    /// Returns the state of a rank. The first call for the rank, at the first message to it or from
    /// it, makes the state.
    fn peer(&mut self, rank: u32) -> &mut Peer {
        if self.peers[rank as usize].is_none() {
            self.peers[rank as usize] = Some(Box::new(Peer::new(Credit::new(self.first_room))));
            // The room is now shared with one more rank.
            self.room.set_sharers(self.peers.iter().flatten().count());
            self.note_due_grants();
        }
        self.peers[rank as usize].as_mut().expect("it was made")
    }

    /// Notes the ranks that must get a new grant of their share.
    fn note_due_grants(&mut self) {
        let share = self.room.share();
        let due = (0..).zip(&self.peers).filter_map(|(rank, peer)| {
            peer.as_ref().filter(|peer| peer.credit.is_due(share)).map(|_| rank)
        });
        for rank in due.collect::<Vec<u32>>() {
            self.note_written(rank);
        }
    }

    fn note_written(&mut self, rank: u32) {
        let Some(peer) = &mut self.peers[rank as usize] else { return };
        if !peer.is_written {
            peer.is_written = true;
            self.written.push(rank);
        }
    }

    /// Notes that MPI or a rank failed. Only the first failure is kept.
    fn lose(&mut self, rank: u32, why: String) {
        self.lost.get_or_insert((rank, why));
    }

    /// Sends the packets that were written, as far as there is room for more under way.
    fn flush_written(&mut self) {
        if self.lost.is_some() {
            return;
        }
        for rank in std::mem::take(&mut self.written) {
            if !self.flush(rank) {
                self.written.push(rank);
            } else if let Some(peer) = &mut self.peers[rank as usize] {
                peer.is_written = false;
            }
        }
    }

    /// Sends the packet to a rank. Returns false if too many packets are under way to the rank.
    fn flush(&mut self, rank: u32) -> bool {
        let Self { peers, room, exchanged, spare, comm, packets_sent, .. } = self;
        let Some(peer) = &mut peers[rank as usize] else { return true };
        let sent = peer.flush(comm, rank, room, exchanged, spare);
        match sent {
            Ok(Some(packets)) => {
                packets_sent[rank as usize] += packets;
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.lose(rank, error.to_string());
                true
            }
        }
    }

    /// Returns true if a chunk fits into the packet to a rank. If it does not fit, first sends that
    /// packet.
    fn make_room(&mut self, rank: u32, chunk: &Chunk) -> bool {
        let has_room = |peer: &Peer| peer.packet.as_ref().is_none_or(|open| open.has_room(chunk));
        has_room(self.peer(rank)) || self.flush(rank) && has_room(self.peer(rank))
    }
}
