//! Keys, and the tags that authenticate frames.
//!
//! A job has one key. BLAKE3 derives from this key a key for handshakes, a key for datagrams, and a
//! key for each connection. Tags are SipHash-2-4 with 128 bits of output, cut to 96. The tag of a
//! SYN is made with the key for handshakes, because the other side's nonce is not known yet. All
//! other tags of a connection are made with the connection's own key. This key depends on both
//! sides' addresses, ports and nonces of 64 bits. So a frame of one connection is never valid on
//! another. A tag covers the addresses of the frame, its control number of 64 bits (the header has
//! the low half), and the header without its checksum. The tag of a request covers the payload too.
//! If the connection authenticates its data, the tags of all frames cover the payload.
//!
//! Threat: anyone on the Ethernet may send any frame, and repeat or change frames that it has seen.
//! An attacker without the key guesses a tag with a probability of 2^-96. At 15 million frames a
//! second, the rate of 10 Gbit/s, that takes more than 10^13 years. SipHash is a pseudorandom
//! function, so the repetition of a control number under one key reveals nothing, unlike with GMAC.

mod lanes;
#[cfg(test)]
mod tests;

pub(crate) use lanes::LANES;

use crate::wire::{Datagram, Mac, Packet, TAG_LEN, Tag};
use lanes::Input;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// The length of the buffer in which short pieces are collected before they are hashed.
const START_LEN: usize = 128;

/// The secret that all ranks of a job share.
#[derive(Clone)]
pub struct JobKey([u8; 32]);

/// The address of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The address of the interface.
    pub mac: Mac,
    /// The rank's port at that interface.
    pub port: u16,
}

/// The Ethernet addresses of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The sender.
    pub(crate) source: Mac,
    /// The receiver.
    pub(crate) destination: Mac,
}

/// A key that makes and verifies tags.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; 16]);

impl JobKey {
    /// Derives the key of a job from secret bytes, which must be unpredictable.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key("goal-esp job key, version 2", secret))
    }

    /// Returns the key for SYNs.
    pub(crate) fn handshake(&self) -> Key {
        Key::of(&blake3::derive_key("goal-esp handshake, version 2", &self.0))
    }

    /// Returns the key for datagrams.
    pub(crate) fn datagrams(&self) -> Key {
        Key::of(&blake3::derive_key("goal-esp datagrams, version 2", &self.0))
    }

    /// Returns the key of the connection between two ends, each given with its nonce. The order of
    /// the ends does not matter, so both sides get the same key.
    pub(crate) fn connection(&self, ends: [(Address, u64); 2]) -> Key {
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
    /// Returns the key that consists of the first half of a hash.
    fn of(hash: &[u8; 32]) -> Self {
        Self(hash[..16].try_into().expect("a hash is longer"))
    }

    /// Returns the tag of a packet with the control number `control`.
    pub(crate) fn tag<T: AsRef<[u8]>>(&self, way: Route, control: u64, packet: &Packet<T>) -> Tag {
        self.tag_of(way, control, &packet.proven())
    }

    /// Returns true if a packet has the correct tag. See [`Key::tag`].
    pub(crate) fn verifies<T: AsRef<[u8]>>(
        &self,
        way: Route,
        control: u64,
        packet: &Packet<T>,
    ) -> bool {
        packet.tag().is_some_and(|tag| is_same(&tag, &self.tag(way, control, packet)))
    }

    /// Returns the tag of a datagram.
    pub(crate) fn tag_datagram<T: AsRef<[u8]>>(&self, way: Route, datagram: &Datagram<T>) -> Tag {
        self.tag_of(way, 0, &datagram.proven())
    }

    /// Returns true if a datagram has the correct tag.
    pub(crate) fn verifies_datagram<T: AsRef<[u8]>>(
        &self,
        way: Route,
        datagram: &Datagram<T>,
    ) -> bool {
        datagram.tag().is_some_and(|tag| is_same(&tag, &self.tag_datagram(way, datagram)))
    }

    #[inline]
    fn tag_of(&self, way: Route, control: u64, pieces: &[&[u8]]) -> Tag {
        // Short packets are collected with the addresses and hashed in one piece, because each
        // piece costs more than its bytes.
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

/// A packet whose tag must be computed, with everything that the tag depends on.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// The key of the connection.
    pub(crate) key: &'a Key,
    /// The addresses of the frame.
    pub(crate) way: Route,
    /// The control number of the frame.
    pub(crate) control: u64,
    /// The packet.
    pub(crate) packet: &'a Packet<&'a [u8]>,
}

impl<'a> Claim<'a> {
    /// Returns the tag.
    fn tag(&self) -> Tag {
        self.key.tag(self.way, self.control, self.packet)
    }

    /// Returns the bytes that the tag covers, if the packet is long enough to be hashed together
    /// with others. Returns `None` if fewer than [`LONG_MIN`] bytes are behind the beginning, or if
    /// the header does not fit into the beginning.
    fn input(&self) -> Option<Input<'a>> {
        let [first, second, payload] = self.packet.proven();
        let mut start = [0; lanes::START_LEN];
        start[..6].copy_from_slice(&self.way.source.0);
        start[6..12].copy_from_slice(&self.way.destination.0);
        start[12..20].copy_from_slice(&self.control.to_be_bytes());
        let (first_end, second_end) = (20 + first.len(), 20 + first.len() + second.len());
        let (filling, rest) =
            payload.split_at_checked(lanes::START_LEN.checked_sub(second_end)?)?;
        start[20..first_end].copy_from_slice(first);
        start[first_end..second_end].copy_from_slice(second);
        start[second_end..].copy_from_slice(filling);
        (rest.len() >= LONG_MIN).then_some(Input { key: &self.key.0, start, rest })
    }
}

/// The shortest message that is hashed together with others, in bytes behind its beginning.
const LONG_MIN: usize = 256;

/// Returns the tags of up to [`LANES`] packets, in their order.
pub(crate) fn tags(claims: &[Claim<'_>]) -> [Tag; LANES] {
    let mut tags = [Tag::default(); LANES];
    let mut places = [0; LANES];
    let mut inputs: [Option<Input<'_>>; LANES] = [None; LANES];
    let mut count = 0;
    for (place, claim) in claims.iter().enumerate() {
        match claim.input() {
            input @ Some(_) => {
                (inputs[count], places[count]) = (input, place);
                count += 1;
            }
            None => tags[place] = claim.tag(),
        }
    }
    if !lanes::are_worth(count) {
        for &place in &places[..count] {
            tags[place] = claims[place].tag();
        }
        return tags;
    }
    let first = inputs[0].expect("there are some");
    let inputs = inputs.map(|input| input.unwrap_or(first));
    for (hash, &place) in lanes::hash(&inputs).iter().zip(&places[..count]) {
        tags[place] = hash[..TAG_LEN].try_into().expect("a hash is longer than a tag");
    }
    tags
}

/// Returns true if [`tags`] may be faster for `packets` packets than one tag after the other.
pub(crate) fn hashes_together(packets: usize) -> bool {
    lanes::are_worth(packets)
}

/// Returns true if both tags are equal. Compares in constant time, so that the time does not show
/// the first difference.
pub(crate) fn is_same(one: &Tag, other: &Tag) -> bool {
    one.iter().zip(other).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

/// Returns the whole control number whose low half is `low`. Of all such numbers, this is the
/// nearest to `highest`, the highest control number seen.
pub(crate) fn whole_control(low: u32, highest: u64) -> u64 {
    let ahead = low.wrapping_sub(highest as u32) as i32;
    highest.checked_add_signed(ahead.into()).unwrap_or(low.into())
}
