//! All that a rank and one peer have with each other, as machines that know no time, no bytes and
//! no keys.
//!
//! A [`Slot`] sets connections up, a [`Machine`] is an established one. What they are handed was
//! proven to come from the peer where it must be; what they say is due, their owner writes into
//! frames. Which timers run follows from their state alone, so a model checker can let every timer
//! pass at every moment: what holds there holds for every clock.

mod connection;
#[cfg(test)]
mod model;
mod slot;

pub use connection::{Machine, Outgoing, Progress};
pub use slot::{Change, Identity, Slot};

use crate::seq::Seq;
use crate::wire::{Flags, Range};

/// The timers of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timer {
    /// Says again what sets the connection up.
    Handshake,
    /// Sends the first packet again that is not acknowledged.
    Insist,
    /// Asks again for what is missing.
    Request,
    /// Acknowledges what no data took along.
    Acknowledge,
}

impl Timer {
    /// All of them.
    pub const ALL: [Timer; 4] =
        [Timer::Handshake, Timer::Insist, Timer::Request, Timer::Acknowledge];
}

/// How far a receiver is: the first packet that it lacks, and how many it allows from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Acknowledgement {
    /// The first missing packet.
    pub next: Seq,
    /// Packets from there on that may be sent.
    pub window: u16,
}

/// What one end tells the other. `P` is a payload.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment<P> {
    /// I would like to connect; my first packet will be that.
    Syn {
        /// Which incarnation of the sender's end says so.
        identity: Identity,
    },
    /// I heard you, and would like to connect.
    SynAck {
        /// Which incarnation of the sender's end says so.
        identity: Identity,
        /// Nonce of the end that is answered.
        to: u64,
    },
    /// I know that you heard me: we are connected.
    HandshakeAck {
        /// Which incarnation of the sender's end says so.
        identity: Identity,
        /// Nonce of the end that is answered.
        to: u64,
    },
    /// Something of an established connection.
    Packet {
        /// Nonces of the ends: of its sender and of its receiver.
        ends: (u64, u64),
        /// What it is.
        body: Body<P>,
    },
}

/// What the ends of an established connection tell each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body<P> {
    /// A packet of the stream.
    Data {
        /// Its number.
        seq: Seq,
        /// [`Flags::TXS`], [`Flags::TXF`], [`Flags::TXR`], [`Flags::FIN`].
        flags: Flags,
        /// What it carries.
        payload: P,
        /// What travels with it.
        acknowledgement: Option<Acknowledgement>,
    },
    /// How far the receiver is.
    Ack(Acknowledgement),
    /// What the receiver lacks. Nothing, where it only asks whether its peer lives.
    Request {
        /// How far it is.
        acknowledgement: Acknowledgement,
        /// What is to be sent again.
        ranges: Vec<Range>,
    },
    /// The connection is given up.
    Reset,
}

impl<P> Body<P> {
    /// Returns the acknowledgement, if the body has one.
    pub fn acknowledgement(&self) -> Option<Acknowledgement> {
        match *self {
            Body::Data { acknowledgement, .. } => acknowledgement,
            Body::Ack(acknowledgement) | Body::Request { acknowledgement, .. } => {
                Some(acknowledgement)
            }
            Body::Reset => None,
        }
    }
}

impl<P: Clone> Segment<&P> {
    /// The same with a payload of its own.
    pub fn cloned(self) -> Segment<P> {
        match self {
            Segment::Syn { identity } => Segment::Syn { identity },
            Segment::SynAck { identity, to } => Segment::SynAck { identity, to },
            Segment::HandshakeAck { identity, to } => Segment::HandshakeAck { identity, to },
            Segment::Packet { ends, body } => Segment::Packet { ends, body: body.cloned() },
        }
    }
}

impl<P: Clone> Body<&P> {
    /// The same with a payload of its own.
    pub fn cloned(self) -> Body<P> {
        match self {
            Body::Data { seq, flags, payload, acknowledgement } => {
                Body::Data { seq, flags, payload: payload.clone(), acknowledgement }
            }
            Body::Ack(acknowledgement) => Body::Ack(acknowledgement),
            Body::Request { acknowledgement, ranges } => Body::Request { acknowledgement, ranges },
            Body::Reset => Body::Reset,
        }
    }
}
