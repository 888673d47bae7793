//! EDP: single datagrams, authenticated if their kind demands it.

#[cfg(test)]
mod tests;

use crate::auth::{Address, JobKey, Key, Route};
use crate::limits::PAYLOAD_MAX;
use crate::wire::{Datagram, ETHERTYPE_EDP, EdpRepr, Frame, Mac, Message, VERSION};

/// The length of the longest frame with a datagram in bytes.
pub const FRAME_LEN_MAX: usize = Frame::<&[u8]>::HEADER_LEN + 28 + PAYLOAD_MAX;

/// One rank's end of EDP. It has no state that changes: each datagram stands alone.
pub struct Datagrams {
    address: Address,
    ethertype: u16,
    key: Key,
}

impl Datagrams {
    /// Creates the end of the rank at `address`.
    pub fn new(address: Address, job_key: &JobKey) -> Self {
        Self { address, ethertype: ETHERTYPE_EDP, key: job_key.datagrams() }
    }

    /// Sets another ethertype.
    pub fn with_ethertype(self, ethertype: u16) -> Self {
        Self { ethertype, ..self }
    }

    /// Writes a frame with a datagram to `out`, and returns the length of the frame in bytes. `out`
    /// must have room for the frame. The datagram is for the interface `to`, or for all interfaces
    /// if that is [`Mac::BROADCAST`]. There it is for the port `port`, or for all ports if that is
    /// 0.
    pub fn write(
        &self,
        to: Mac,
        port: u16,
        number: u32,
        message: Message<'_>,
        out: &mut [u8],
    ) -> usize {
        let repr =
            EdpRepr { source_port: self.address.port, destination_port: port, number, message };
        let mut frame = Frame::new_checked(&mut *out).expect("room for the frame");
        frame.emit(self.address.mac, to, self.ethertype);
        let mut datagram = Datagram::emit(frame.payload_mut(), &repr);
        if message.is_tagged() {
            let tag = self
                .key
                .tag_datagram(Route { source: self.address.mac, destination: to }, &datagram);
            datagram.set_tag(&tag);
        }
        datagram.fill_checksum();
        Frame::<&[u8]>::HEADER_LEN + repr.len()
    }

    /// Returns the datagram in a frame and the interface that sent it. Returns `None` if the
    /// datagram is not for this rank, or lacks a correct tag that its kind demands.
    pub fn read<'a>(&self, frame: &'a [u8]) -> Option<(Mac, Datagram<&'a [u8]>)> {
        self.parse(frame)
            .and_then(|(source, datagram, is_proven)| is_proven.then_some((source, datagram)))
    }

    /// Returns the datagram in a frame for this rank and the interface that sent it. The flag is
    /// true if the datagram has a correct tag or needs none.
    fn parse<'a>(&self, frame: &'a [u8]) -> Option<(Mac, Datagram<&'a [u8]>, bool)> {
        let header = Frame::new_checked(frame).ok()?;
        let way = Route { source: header.source(), destination: header.destination() };
        let is_for_this = [self.address.mac, Mac::BROADCAST].contains(&way.destination);
        if header.ethertype() != self.ethertype || !is_for_this || way.source == self.address.mac {
            return None;
        }
        let datagram = Datagram::new_checked(&frame[Frame::<&[u8]>::HEADER_LEN..]).ok()?;
        let repr = datagram.repr();
        let is_for_port = [self.address.port, 0].contains(&repr.destination_port);
        let is_proven = !repr.message.is_tagged() || self.key.verifies_datagram(way, &datagram);
        is_for_port.then_some((way.source, datagram, is_proven))
    }

    /// Returns the interface that sent a frame of another version of EDP, and this version; `None`
    /// for any other frame. The frame is not authenticated, so the result is only a hint.
    pub fn other_version(&self, frame: &[u8]) -> Option<(Mac, u8)> {
        let header = Frame::new_checked(frame).ok()?;
        let is_other = header.ethertype() == self.ethertype && header.source() != self.address.mac;
        let version = *frame.get(Frame::<&[u8]>::HEADER_LEN)? >> 4;
        (is_other && ![0, VERSION].contains(&version)).then_some((header.source(), version))
    }

    /// Returns the interface that sent the datagram, if it is for this rank and its tag is not of
    /// this job's key.
    pub fn source_with_other_key(&self, frame: &[u8]) -> Option<Mac> {
        self.parse(frame).and_then(|(source, _, is_proven)| (!is_proven).then_some(source))
    }

    /// Writes the answer to an echo to `out` and returns its length in bytes; `None` if `repr` is
    /// no echo.
    pub fn answer_echo(&self, to: Mac, repr: &EdpRepr<'_>, out: &mut [u8]) -> Option<usize> {
        let Message::Echo(bytes) = repr.message else { return None };
        Some(self.write(to, repr.source_port, repr.number, Message::EchoReply(bytes), out))
    }
}
