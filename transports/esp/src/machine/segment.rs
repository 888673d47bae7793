//! The contents of frames between two ends, and the timers of a connection.

use crate::seq::Seq;
use crate::transfer::Acknowledgement;
use crate::wire::{Flags, Range};

/// The timers of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Timer {
    /// Repeats the SYN or the last packet of the handshake.
    Handshake,
    /// Sends the first unacknowledged packet again.
    Repeat,
    /// Requests all missing packets again.
    Request,
    /// Sends an acknowledgement alone, because no data has carried it.
    Acknowledge,
}

impl Timer {
    /// All timers.
    pub(crate) const ALL: [Timer; 4] =
        [Timer::Handshake, Timer::Repeat, Timer::Request, Timer::Acknowledge];
}

/// One incarnation of a connection's end. A rank that restarts or connects again gets another
/// identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// A random number that distinguishes this incarnation from others.
    pub(crate) nonce: u64,
    /// The sequence number of the end's first packet, which is random.
    pub(crate) first: Seq,
}

/// A frame between two ends, without addresses and keys. `P` is a payload.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Segment<P> {
    /// Asks for a connection.
    Syn {
        /// The sender's end of the connection.
        identity: Identity,
    },
    /// Answers a SYN. The sender keeps no state for it.
    SynAck {
        /// The sender's end of the connection.
        identity: Identity,
        /// The nonce of the receiver's end.
        to: u64,
    },
    /// Completes the handshake: the sender is connected and has seen the nonce of its peer.
    HandshakeAck {
        /// The sender's end of the connection.
        identity: Identity,
        /// The nonce of the receiver's end.
        to: u64,
    },
    /// A packet of an established connection.
    Packet {
        /// The nonce of the sender's end.
        from: u64,
        /// The nonce of the receiver's end.
        to: u64,
        /// The contents of the packet.
        body: Body<P>,
    },
}

/// The contents of a packet of an established connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Body<P> {
    /// A packet of the stream.
    Data {
        /// The sequence number of the packet.
        seq: Seq,
        /// [`Flags::TXS`], [`Flags::TXF`], [`Flags::TXR`], [`Flags::FIN`].
        flags: Flags,
        /// The bytes that the packet carries.
        payload: P,
        /// The acknowledgement that travels with the packet.
        acknowledgement: Option<Acknowledgement>,
    },
    /// An acknowledgement alone.
    Ack(Acknowledgement),
    /// A request for packets. A request without ranges asks only for a sign of life.
    Request {
        /// The acknowledgement that every request has.
        acknowledgement: Acknowledgement,
        /// The packets to send again.
        ranges: Vec<Range>,
    },
    /// Gives the connection up.
    Reset,
}

impl<P> Body<P> {
    /// Returns the acknowledgement, if the body has one.
    pub(crate) fn acknowledgement(&self) -> Option<Acknowledgement> {
        match *self {
            Body::Data { acknowledgement, .. } => acknowledgement,
            Body::Ack(acknowledgement) | Body::Request { acknowledgement, .. } => {
                Some(acknowledgement)
            }
            Body::Reset => None,
        }
    }
}

#[cfg(test)]
impl<P: Clone> Segment<&P> {
    /// Copies the payload.
    pub(crate) fn cloned(self) -> Segment<P> {
        match self {
            Segment::Syn { identity } => Segment::Syn { identity },
            Segment::SynAck { identity, to } => Segment::SynAck { identity, to },
            Segment::HandshakeAck { identity, to } => Segment::HandshakeAck { identity, to },
            Segment::Packet { from, to, body } => Segment::Packet { from, to, body: body.cloned() },
        }
    }
}

#[cfg(test)]
impl<P: Clone> Body<&P> {
    /// Copies the payload.
    pub(crate) fn cloned(self) -> Body<P> {
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
