//! Who may change a connection: keys, and the tags that prove them (BLAKE3, keyed).
//!
//! A job has one key. The tag of a SYN is made with it, as the other side's nonce is not known yet; all other tags of a
//! connection are made with a key that depends on both sides' addresses, ports and nonces, so that no frame of one
//! connection is one of another. A tag covers the addresses of the frame, the whole number of the frame (of which the header has the
//! low half), the header but for its checksum, and the payload; data only where every frame is tagged, as it counts without a tag elsewhere.

#[cfg(test)]
mod tests;

use crate::wire::{Datagram, Mac, Packet, TAG_LEN, Tag};

/// Bytes that are hashed in one piece.
const START_LEN: usize = 256;

/// What all ranks of a job have and nobody else.
#[derive(Clone)]
pub struct JobKey([u8; 32]);

/// Where an end of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The interface.
    pub mac: Mac,
    /// The rank's port there.
    pub port: u16,
}

/// The addresses of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Who sends it.
    pub source: Mac,
    /// Who receives it.
    pub destination: Mac,
}

/// What the frames with a tag of one connection are proven with.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl JobKey {
    /// The key of a job, from secret bytes that nobody can guess.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key("goal-esp job key, version 1", secret))
    }

    /// What is proven before both sides know each other's nonces.
    pub fn handshake(&self) -> Key {
        Key(blake3::derive_key("goal-esp handshake, version 1", &self.0))
    }

    /// What datagrams are proven with.
    pub fn datagrams(&self) -> Key {
        Key(blake3::derive_key("goal-esp datagrams, version 1", &self.0))
    }

    /// What the connection between two ends with their nonces is proven with; the same on both sides.
    pub fn connection(&self, ends: [(Address, u32); 2]) -> Key {
        let [first, second] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"connection");
        for (address, nonce) in [first, second] {
            hasher.update(&address.mac.0).update(&address.port.to_be_bytes()).update(&nonce.to_be_bytes());
        }
        Key(*hasher.finalize().as_bytes())
    }
}

impl Key {
    /// The tag of a packet, whose number among those with a tag is `control`. `covers_data` where all of the connection's are tagged.
    pub fn tag<T: AsRef<[u8]>>(&self, way: Way, control: u64, covers_data: bool, packet: &Packet<T>) -> Tag {
        self.tag_of(way, control, &packet.proven(covers_data))
    }

    /// Whether a packet has the tag that it must have. See [`Key::tag`].
    pub fn proves<T: AsRef<[u8]>>(
        &self,
        way: Way,
        control: u64,
        covers_data: bool,
        packet: &Packet<T>,
    ) -> bool {
        packet.tag().is_some_and(|tag| is_same(&tag, &self.tag(way, control, covers_data, packet)))
    }

    /// The tag of a datagram.
    pub fn tag_datagram<T: AsRef<[u8]>>(&self, way: Way, datagram: &Datagram<T>) -> Tag {
        self.tag_of(way, 0, &datagram.proven())
    }

    /// Whether a datagram has the tag that it must have.
    pub fn proves_datagram<T: AsRef<[u8]>>(&self, way: Way, datagram: &Datagram<T>) -> bool {
        datagram.tag().is_some_and(|tag| is_same(&tag, &self.tag_datagram(way, datagram)))
    }

    fn tag_of(&self, way: Way, control: u64, pieces: &[&[u8]]) -> Tag {
        // What is hashed lies in one piece, all of it where it is short: a hasher that takes pieces costs more than the hash.
        let mut start = [0; START_LEN];
        start[..6].copy_from_slice(&way.source.0);
        start[6..12].copy_from_slice(&way.destination.0);
        start[12..20].copy_from_slice(&control.to_be_bytes());
        let mut len = 20;
        let mut left = pieces.iter();
        let hash = loop {
            match left.next() {
                None => break blake3::keyed_hash(&self.0, &start[..len]),
                Some(piece) if piece.len() <= START_LEN - len => {
                    start[len..len + piece.len()].copy_from_slice(piece);
                    len += piece.len();
                }
                Some(long) => {
                    let mut hasher = blake3::Hasher::new_keyed(&self.0);
                    hasher.update(&start[..len]).update(long);
                    for piece in left {
                        hasher.update(piece);
                    }
                    break hasher.finalize();
                }
            }
        };
        hash.as_bytes()[..TAG_LEN].try_into().expect("a hash is longer than a tag")
    }
}

/// Compares in a time that does not tell where they differ.
fn is_same(one: &Tag, other: &Tag) -> bool {
    one.iter().zip(other).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// The whole number of which a header has the low half: the one nearest to the highest number seen.
pub fn whole_control(low: u32, highest: u64) -> u64 {
    let ahead = low.wrapping_sub(highest as u32) as i32;
    highest.checked_add_signed(ahead.into()).unwrap_or(low.into())
}
