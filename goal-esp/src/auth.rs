//! Authentication of frames that change a connection: keys, and the tags that prove them.
//!
//! A job has one key. BLAKE3 derives from it a key for handshakes, one for datagrams and one for
//! each connection; tags are SipHash-2-4 with 128 bits of output, cut to 96. The tag of a SYN is
//! made with the key for handshakes, as the other side's nonce is not known yet. All other tags of
//! a connection are made with a key that depends on both sides' addresses, ports and nonces of 64
//! bits, so no frame of one connection is one of another. A tag covers the addresses of the frame,
//! its whole number (the header has the low half), and the header but for its checksum. It covers
//! the payload too where the connection's data is authenticated, and always that of a request.
//!
//! Threat: anyone on the Ethernet may send any frame, and repeat or change those that it has seen.
//! An attacker without the key guesses a tag with a chance of 2^-96: at 15 million frames a second,
//! as many as 10 Gbit/s carry, that takes more than 10^13 years. SipHash is a pseudorandom
//! function, so nothing is lost where a number repeats under one key, as it would be with GMAC.

#[cfg(test)]
mod tests;

use crate::wire::{Datagram, Mac, Packet, TAG_LEN, Tag};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// Bytes that are hashed in one piece.
const START_LEN: usize = 128;

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
pub struct Key([u8; 16]);

impl JobKey {
    /// The key of a job, from secret bytes that nobody can guess.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key("goal-esp job key, version 2", secret))
    }

    /// What is proven before both sides know each other's nonces.
    pub fn handshake(&self) -> Key {
        Key::of(&blake3::derive_key("goal-esp handshake, version 2", &self.0))
    }

    /// What datagrams are proven with.
    pub fn datagrams(&self) -> Key {
        Key::of(&blake3::derive_key("goal-esp datagrams, version 2", &self.0))
    }

    /// What the connection between two ends with their nonces is proven with; the same on both
    /// sides.
    pub fn connection(&self, ends: [(Address, u64); 2]) -> Key {
        let [first, second] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"connection");
        for (address, nonce) in [first, second] {
            hasher
                .update(&address.mac.0)
                .update(&address.port.to_be_bytes())
                .update(&nonce.to_be_bytes());
        }
        Key::of(hasher.finalize().as_bytes())
    }
}

impl Key {
    /// The first half of a hash.
    fn of(hash: &[u8; 32]) -> Self {
        Self(hash[..16].try_into().expect("a hash is longer"))
    }

    /// The tag of a packet, whose number among those with a tag is `control`.
    pub fn tag<T: AsRef<[u8]>>(&self, way: Way, control: u64, packet: &Packet<T>) -> Tag {
        self.tag_of(way, control, &packet.proven())
    }

    /// Returns true if a packet has the tag that it must have. See [`Key::tag`].
    pub fn proves<T: AsRef<[u8]>>(&self, way: Way, control: u64, packet: &Packet<T>) -> bool {
        packet.tag().is_some_and(|tag| is_same(&tag, &self.tag(way, control, packet)))
    }

    /// The tag of a datagram.
    pub fn tag_datagram<T: AsRef<[u8]>>(&self, way: Way, datagram: &Datagram<T>) -> Tag {
        self.tag_of(way, 0, &datagram.proven())
    }

    /// Returns true if a datagram has the tag that it must have.
    pub fn proves_datagram<T: AsRef<[u8]>>(&self, way: Way, datagram: &Datagram<T>) -> bool {
        datagram.tag().is_some_and(|tag| is_same(&tag, &self.tag_datagram(way, datagram)))
    }

    #[inline]
    fn tag_of(&self, way: Way, control: u64, pieces: &[&[u8]]) -> Tag {
        // The addresses and the header lie in one piece, and all of a short packet does: pieces
        // cost more than bytes.
        let mut start = [0; START_LEN];
        start[..6].copy_from_slice(&way.source.0);
        start[6..12].copy_from_slice(&way.destination.0);
        start[12..20].copy_from_slice(&control.to_be_bytes());
        let mut len = 20;
        let mut left = pieces.iter();
        let mut hasher = SipHasher24::new_with_key(&self.0);
        loop {
            match left.next() {
                None => {
                    hasher.write(&start[..len]);
                    break;
                }
                Some(piece) if piece.len() <= START_LEN - len => {
                    start[len..len + piece.len()].copy_from_slice(piece);
                    len += piece.len();
                }
                Some(long) => {
                    hasher.write(&start[..len]);
                    hasher.write(long);
                    left.for_each(|piece| hasher.write(piece));
                    break;
                }
            }
        }
        hasher.finish128().as_bytes()[..TAG_LEN].try_into().expect("a hash is longer than a tag")
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
