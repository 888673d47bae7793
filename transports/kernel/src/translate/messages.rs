//! Translates the messages of a rank to the engine's sends and receives.

use super::builder::{Builder, NOTHING, Place, Step, aligned, copied};
use crate::analysis::{portion_bytes, portions};
use crate::graph::{Exec, Payload, Work, is_long};
use crate::layout::{NONE, RECEIVE_HELD, ReceiveEntry, SEND_ACK, SendEntry};
use crate::limits::PART_BYTES;

impl Builder<'_> {
    /// Cuts a message that has a place at `start` into portions. Returns the number, the place and
    /// the bytes of each.
    fn portions(&self, start: u64, bytes: u64) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
        // If there is no room for all messages together, `image` refuses the part.
        let bytes = if self.alternating > PART_BYTES.into() { 0 } else { bytes as u32 };
        let (start, most) = (start as u32, portion_bytes(self.matched.fragment));
        (0..portions(bytes.into(), self.matched.fragment)).map(move |number| {
            let at = number * most;
            (number, start.wrapping_add(at), most.min(bytes - at))
        })
    }

    pub(super) fn send(
        &mut self,
        action: usize,
        payload: &Payload,
        before: Option<&Exec>,
    ) -> (u32, u32) {
        let mut steps = before.map_or_else(Vec::new, |exec| self.exec(exec));
        let bytes = payload.bytes();
        let other = self.other(action);
        let is_local = other.rank == self.rank;
        let kept = match is_local {
            true => self.landings[other.action as usize].expect("placed before"),
            false => self.alternate(bytes),
        };
        match payload {
            Payload::Pattern(_) => {
                let at = self.constants_at() + self.constants.len() as u64;
                let start = self.constants.len();
                if start as u64 + bytes > PART_BYTES.into() {
                    // The part has no room for this pattern, so `image` refuses the part.
                    self.alternating += u64::from(PART_BYTES);
                } else {
                    self.constants.resize(start + aligned(bytes) as usize, 0);
                    other.key.fill(0, &mut self.constants[start..start + bytes as usize]);
                }
                steps.push(copied(Place::Fixed(at), Place::Alternating(kept), bytes));
            }
            Payload::Pieces(pieces) => {
                let mut at = kept;
                for &piece in pieces {
                    let from = self.place(piece);
                    steps.push(copied(from, Place::Alternating(at), piece.size));
                    at += piece.size;
                }
            }
        }
        if steps.is_empty() {
            steps.push(NOTHING);
        }
        if !is_local {
            for (number, place, bytes) in self.portions(kept, bytes) {
                if number > 0 {
                    steps.push(NOTHING);
                }
                steps.last_mut().expect("one at least").send = self.sends.len() as u32;
                self.sends.push(SendEntry {
                    place,
                    bytes,
                    peer: other.rank,
                    peers_receive: self.number(other.rank, other.action) + number,
                    fragments: self.matched.fragments(bytes),
                    ..SendEntry::default()
                });
            }
        }
        self.chain(action, steps)
    }

    pub(super) fn receive(&mut self, action: usize) -> (u32, u32) {
        let node = &self.graph.nodes[action];
        let Work::Recv { payload, combine, .. } = &node.work else { unreachable!("a receive") };
        let bytes = payload.bytes();
        let other = self.other(action);
        let landing = match self.landings[action] {
            Some(landing) => landing,
            None => self.alternate(bytes),
        };
        let mut steps = Vec::new();
        if let Payload::Pieces(pieces) = payload {
            let mut at = landing;
            for &piece in pieces {
                let (from, to) = (Place::Alternating(at), self.place(piece));
                at += piece.size;
                steps.push(match *combine {
                    Some((op, datatype)) if piece.size > 0 => Step {
                        op: op as u8,
                        datatype: datatype as u8,
                        places: [from, to, to],
                        bytes: piece.size,
                        send: NONE,
                        handed: is_long(op, datatype, piece.size),
                    },
                    _ => copied(from, to, piece.size),
                });
            }
        }
        let (mut entry, exit) = self.chain(action, steps);
        let arrival = entry;
        self.arrivals[action] = arrival;
        if !node.start_dependents.is_empty() {
            entry = self.step(action, NOTHING);
            self.depends(arrival, entry);
        }
        if other.rank == self.rank {
            self.initial[arrival as usize] += 1;
            return (entry, exit);
        }
        let count = portions(bytes, self.matched.fragment);
        for (number, place, bytes) in self.portions(landing, bytes) {
            self.initial[arrival as usize] += 1;
            self.receives.push(ReceiveEntry {
                missing: [self.matched.fragments(bytes).into(); 2],
                place,
                bytes,
                action: arrival,
                peer: other.rank,
                peers_send: self.number(other.rank, other.action) + number,
                fragments: self.matched.fragments(bytes),
                portions: count,
                ..ReceiveEntry::default()
            });
        }
        (entry, exit)
    }

    /// Returns the number of the acknowledgement of `pair` among all acknowledgements that `of`
    /// selects, from 0 on.
    pub(super) fn ack_number(&self, pair: (u32, u32), of: impl Fn(&(u32, u32)) -> bool) -> u32 {
        self.matched
            .acks
            .iter()
            .filter(|other| of(other))
            .take_while(|other| **other != pair)
            .count() as u32
    }

    /// Returns the number of the engine's sends (if `is_send`) or receives of a rank, without
    /// acknowledgements.
    pub(super) fn messages(&self, rank: u32, is_send: bool) -> u32 {
        let graph = &self.matched.graphs[rank as usize];
        let numbers = graph.nodes.iter().zip(&self.matched.numbers[rank as usize]);
        let mine = numbers.filter(|(_, number)| **number != NONE).filter_map(|(node, _)| {
            let (payload, sends) = match &node.work {
                Work::Send { payload, .. } => (payload, true),
                Work::Recv { payload, .. } => (payload, false),
                _ => return None,
            };
            (sends == is_send).then(|| portions(payload.bytes(), self.matched.fragment))
        });
        mine.sum()
    }

    pub(super) fn acknowledgements(&mut self) {
        for &pair in &self.matched.acks {
            let (receiver, sender) = pair;
            if receiver == self.rank {
                let number = self.ack_number(pair, |other| other.1 == sender);
                self.acks += 1;
                self.sends.push(SendEntry {
                    peer: sender,
                    peers_receive: self.messages(sender, false) + number,
                    fragments: 1,
                    flags: SEND_ACK,
                    ..SendEntry::default()
                });
            }
            if sender == self.rank {
                let number = self.ack_number(pair, |other| other.0 == receiver);
                self.held += 1;
                self.receives.push(ReceiveEntry {
                    missing: [1; 2],
                    action: NONE,
                    peer: receiver,
                    peers_send: self.messages(receiver, true) + number,
                    fragments: 1,
                    flags: RECEIVE_HELD,
                    ..ReceiveEntry::default()
                });
            }
        }
    }
}
