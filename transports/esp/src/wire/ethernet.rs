//! Ethernet's header.
//!
//! ```text
//!  0                6                12        14
//! +----------------+----------------+---------+----
//! |  destination   |     source     |ethertype|
//! +----------------+----------------+---------+----
//! ```
//!
//! Ethernet pads frames that are too short. So each header behind this one has the length of its
//! payload.

use super::Malformed;
use super::bytes::u16_at;
use std::fmt;

mod field {
    use super::super::bytes::Field;

    pub(super) const DESTINATION: Field = 0..6;
    pub(super) const SOURCE: Field = 6..12;
    pub(super) const ETHERTYPE: Field = 12..14;
}

/// The address of a network interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address of all interfaces of a segment.
    pub const BROADCAST: Mac = Mac([0xff; 6]);
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A view of an Ethernet frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<T>(T);

impl<T: AsRef<[u8]>> Frame<T> {
    /// The length of the header in bytes.
    pub const HEADER_LEN: usize = field::ETHERTYPE.end;

    /// Checks that the bytes have a whole header, and returns a view of them.
    ///
    /// # Errors
    /// [`Malformed::Short`].
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        if bytes.as_ref().len() < Self::HEADER_LEN {
            Err(Malformed::Short)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Returns the address of the interface that the frame is for.
    pub fn destination(&self) -> Mac {
        Mac(self.0.as_ref()[field::DESTINATION].try_into().expect("six bytes"))
    }

    /// Returns the address of the interface that sent the frame.
    pub fn source(&self) -> Mac {
        Mac(self.0.as_ref()[field::SOURCE].try_into().expect("six bytes"))
    }

    /// Returns the ethertype: the protocol of the payload.
    pub fn ethertype(&self) -> u16 {
        u16_at(self.0.as_ref(), field::ETHERTYPE)
    }

    /// Returns the bytes behind the header, with their padding.
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[Self::HEADER_LEN..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Frame<T> {
    /// Writes the header.
    pub fn emit(&mut self, source: Mac, destination: Mac, ethertype: u16) {
        let bytes = self.0.as_mut();
        bytes[field::DESTINATION].copy_from_slice(&destination.0);
        bytes[field::SOURCE].copy_from_slice(&source.0);
        bytes[field::ETHERTYPE].copy_from_slice(&ethertype.to_be_bytes());
    }

    /// Returns the bytes behind the header, to be written.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.0.as_mut()[Self::HEADER_LEN..]
    }
}
