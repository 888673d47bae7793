//! ESP's header (thesis Fig. 3.2, and decisions on its open points).
//!
//! ```text
//!  0               1               2               3
//! +-------+-------+---------------+---------------+---------------+ 0
//! |version|  form |     flags     |        payload length         |
//! +-------+-------+---------------+---------------+---------------+ 4
//! |          source port          |       destination port        |
//! +---------------+---------------+---------------+---------------+ 8
//! |                      nonce of the sender                      |
//! +---------------+---------------+---------------+---------------+ 12
//! |                        sequence number                        |
//! +---------------+---------------+---------------+---------------+ 16
//! |                     acknowledgement number                    |
//! +---------------+---------------+---------------+---------------+ 20
//! |                            checksum                           |
//! +---------------+---------------+---------------+---------------+ 24
//! |             window            |
//! +---------------+---------------+   form 0 ends here, with 26 bytes
//!                                 |         control number        :
//! +---------------+---------------+---------------+---------------+
//! :         control number        |                               |
//! +---------------+---------------+              tag              +
//! |                                                               |
//! +                               +---------------+---------------+
//! |                               |   forms 1 and 3 end here, with 42
//! +---------------+---------------+---------------+---------------+
//!                                 |     longest payload taken     |
//! +---------------+---------------+---------------+---------------+
//! |            options            |   high half of the nonce      :
//! +---------------+---------------+---------------+---------------+
//! :   high half of the nonce      |   form 2 ends here, with 50
//! +---------------+---------------+
//! ```
//!
//! Form 3 has the header of form 1. Its tag covers the payload too and takes the place of the
//! checksum, which is 0.
//!
//! Threat: any byte may come from anyone on the Ethernet. [`Packet::new_checked`] checks the whole
//! header before anything uses it. Nothing in this file authenticates a sender: [`crate::auth`]
//! does so by the tag.

use super::bytes::{checksum, fill_checksum, u16_at, u32_at};
use super::{Extension, Flags, Malformed, Parameters, Ranges, TAG_LEN, Tag, VERSION};
use crate::limits::{PAYLOAD_MAX, PAYLOAD_MIN};

mod field {
    use super::super::bytes::Field;
    use super::TAG_LEN;

    pub(super) const FORM: usize = 0;
    pub(super) const FLAGS: usize = 1;
    pub(super) const LENGTH: Field = 2..4;
    pub(super) const SOURCE_PORT: Field = 4..6;
    pub(super) const DESTINATION_PORT: Field = 6..8;
    pub(super) const NONCE: Field = 8..12;
    pub(super) const SEQUENCE: Field = 12..16;
    pub(super) const ACKNOWLEDGEMENT: Field = 16..20;
    pub(super) const CHECKSUM: Field = 20..24;
    pub(super) const WINDOW: Field = 24..26;
    pub(super) const CONTROL: Field = 26..30;
    pub(super) const TAG: Field = 30..30 + TAG_LEN;
    pub(super) const PAYLOAD_MAX: Field = 42..44;
    pub(super) const OPTIONS: Field = 44..46;
    pub(super) const NONCE_HIGH: Field = 46..50;
}

/// Returns the length of a header of this form in bytes.
const fn header_len(form: u8) -> usize {
    match form {
        0 => field::WINDOW.end,
        2 => field::NONCE_HIGH.end,
        _ => field::TAG.end,
    }
}

impl Extension {
    /// Returns the length of a header with this extension in bytes.
    #[inline]
    pub const fn header_len(&self) -> usize {
        header_len(self.form())
    }
}

/// A view of an ESP packet: header and payload.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// The length of the shortest header in bytes.
    pub(crate) const HEADER_LEN_MIN: usize = field::WINDOW.end;

    /// The length of the longest header of a packet with data in bytes.
    pub(crate) const HEADER_LEN_DATA_MAX: usize = field::TAG.end;

    /// The length of the longest header in bytes.
    pub const HEADER_LEN_MAX: usize = field::NONCE_HIGH.end;

    /// Checks that version, lengths, fields and checksum of a packet are right, and returns a view
    /// of it. Bytes behind its payload are padding.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        let packet = Self(bytes);
        packet.check_len()?;
        packet.check_fields()?;
        let right = if packet.is_whole() { 0 } else { checksum(packet.bytes(), field::CHECKSUM) };
        if packet.checksum() == right { Ok(packet) } else { Err(Malformed::Checksum) }
    }

    /// Returns true if the tag covers the payload and replaces the checksum.
    #[inline]
    fn is_whole(&self) -> bool {
        self.form() == 3
    }

    fn check_len(&self) -> Result<(), Malformed> {
        let bytes = self.0.as_ref();
        if bytes.len() < Self::HEADER_LEN_MIN {
            return Err(Malformed::Short);
        }
        if bytes[field::FORM] >> 4 != VERSION || self.form() > 3 {
            return Err(Malformed::Version);
        }
        if bytes.len() < self.len() { Err(Malformed::Short) } else { Ok(()) }
    }

    fn check_fields(&self) -> Result<(), Malformed> {
        let flags = self.flags();
        let is_handshake = self.form() == 2;
        let holds = self.payload_len() <= PAYLOAD_MAX
            && (self.form() > 0 || !flags.is_control())
            && (is_handshake || !flags.has(Flags::SYN));
        let holds = holds
            && match flags {
                _ if is_handshake => {
                    [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK].contains(&flags)
                        && self.payload_len() == 0
                        && self.parameters().is_some()
                }
                _ if flags.has(Flags::RST) => flags == Flags::RST && self.payload_len() == 0,
                _ if flags.has(Flags::RRQ) => {
                    flags == Flags::RRQ | Flags::ACK && Ranges::parse(self.payload()).is_some()
                }
                _ if flags.has(Flags::FIN) => self.payload_len() == 0,
                _ => true,
            };
        if holds { Ok(()) } else { Err(Malformed::Contradiction) }
    }

    fn form(&self) -> u8 {
        self.0.as_ref()[field::FORM] & 0xf
    }

    /// Returns the length of the header in bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        header_len(self.form())
    }

    /// Returns the length of the payload in bytes.
    #[inline]
    pub fn payload_len(&self) -> usize {
        u16_at(self.0.as_ref(), field::LENGTH).into()
    }

    /// Returns the length of header and payload in bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.header_len() + self.payload_len()
    }

    /// Returns the packet without padding.
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.0.as_ref()[..self.len()]
    }

    /// Returns the flags.
    #[inline]
    pub fn flags(&self) -> Flags {
        Flags(self.0.as_ref()[field::FLAGS])
    }

    /// Returns the port that sent the packet.
    #[inline]
    pub fn source_port(&self) -> u16 {
        u16_at(self.0.as_ref(), field::SOURCE_PORT)
    }

    /// Returns the port that the packet is for.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        u16_at(self.0.as_ref(), field::DESTINATION_PORT)
    }

    /// Returns the low half of the nonce of the sender's end.
    #[inline]
    pub fn nonce(&self) -> u32 {
        u32_at(self.0.as_ref(), field::NONCE)
    }

    /// Returns the CRC-32C of header and payload; 0 if the tag replaces it.
    #[inline]
    pub fn checksum(&self) -> u32 {
        u32_at(self.0.as_ref(), field::CHECKSUM)
    }

    fn parameters(&self) -> Option<Parameters> {
        let bytes = self.0.as_ref();
        let payload_max = u16_at(bytes, field::PAYLOAD_MAX);
        let options = u16_at(bytes, field::OPTIONS);
        let is_known = options & !Parameters::AUTHENTICATES_DATA == 0;
        let fits = (PAYLOAD_MIN..=PAYLOAD_MAX).contains(&usize::from(payload_max));
        let authenticates_data = options & Parameters::AUTHENTICATES_DATA != 0;
        (is_known && fits).then_some(Parameters { payload_max, authenticates_data })
    }

    /// Returns the meaning of the header.
    pub fn repr(&self) -> Repr {
        let bytes = self.0.as_ref();
        let control = || u32_at(bytes, field::CONTROL);
        Repr {
            flags: self.flags(),
            source_port: self.source_port(),
            destination_port: self.destination_port(),
            nonce: self.nonce(),
            sequence: u32_at(bytes, field::SEQUENCE),
            acknowledgement: u32_at(bytes, field::ACKNOWLEDGEMENT),
            window: u16_at(bytes, field::WINDOW),
            extension: match self.parameters_if_handshake() {
                Some(parameters) => {
                    let nonce_high = u32_at(bytes, field::NONCE_HIGH);
                    Extension::Handshake { control: control(), nonce_high, parameters }
                }
                None if self.is_whole() => Extension::Whole { control: control() },
                None if self.form() == 1 => Extension::Tagged { control: control() },
                None => Extension::None,
            },
        }
    }

    fn parameters_if_handshake(&self) -> Option<Parameters> {
        if self.form() == 2 { self.parameters() } else { None }
    }

    /// Returns the tag; `None` if the packet has none.
    pub fn tag(&self) -> Option<Tag> {
        (self.form() > 0)
            .then(|| self.0.as_ref()[field::TAG].try_into().expect("the bytes of a tag"))
    }

    /// Returns the bytes that the tag covers, in three pieces: before the checksum, between the
    /// checksum and the tag, and behind the tag. They include the payload only in form 3 and in
    /// requests.
    #[inline]
    pub(crate) fn proven(&self) -> [&[u8]; 3] {
        let covers_payload = self.is_whole() || self.flags().has(Flags::RRQ);
        let bytes = &self.bytes()[..if covers_payload { self.len() } else { self.header_len() }];
        let (tag_start, tag_end) = if self.form() > 0 {
            (field::TAG.start, field::TAG.end)
        } else {
            (self.header_len(), self.header_len())
        };
        [&bytes[..field::CHECKSUM.start], &bytes[field::CHECKSUM.end..tag_start], &bytes[tag_end..]]
    }

    /// Returns the payload.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.bytes()[self.header_len()..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes the header of a packet to `bytes`. `bytes` must have room for the packet, and must
    /// already hold its payload behind the place of the header. `repr` determines the length of the
    /// header.
    pub fn emit(bytes: T, repr: &Repr, payload_len: usize) -> Self {
        let mut packet = Self(bytes);
        let bytes = packet.0.as_mut();
        bytes[field::FORM] = VERSION << 4 | repr.extension.form();
        bytes[field::FLAGS] = repr.flags.0;
        bytes[field::LENGTH].copy_from_slice(&(payload_len as u16).to_be_bytes());
        bytes[field::SOURCE_PORT].copy_from_slice(&repr.source_port.to_be_bytes());
        bytes[field::DESTINATION_PORT].copy_from_slice(&repr.destination_port.to_be_bytes());
        bytes[field::NONCE].copy_from_slice(&repr.nonce.to_be_bytes());
        bytes[field::SEQUENCE].copy_from_slice(&repr.sequence.to_be_bytes());
        bytes[field::ACKNOWLEDGEMENT].copy_from_slice(&repr.acknowledgement.to_be_bytes());
        bytes[field::WINDOW].copy_from_slice(&repr.window.to_be_bytes());
        if let Some(control) = repr.extension.control() {
            bytes[field::CONTROL].copy_from_slice(&control.to_be_bytes());
            bytes[field::TAG].fill(0);
        }
        if let Extension::Handshake { parameters, nonce_high, .. } = repr.extension {
            bytes[field::NONCE_HIGH].copy_from_slice(&nonce_high.to_be_bytes());
            let options =
                if parameters.authenticates_data { Parameters::AUTHENTICATES_DATA } else { 0 };
            bytes[field::PAYLOAD_MAX].copy_from_slice(&parameters.payload_max.to_be_bytes());
            bytes[field::OPTIONS].copy_from_slice(&options.to_be_bytes());
        }
        packet
    }

    /// Returns a view of a packet that [`Packet::emit`] has written.
    pub(crate) fn over(bytes: T) -> Self {
        Self(bytes)
    }

    /// Writes the tag.
    pub fn set_tag(&mut self, tag: &Tag) {
        self.0.as_mut()[field::TAG].copy_from_slice(tag);
    }

    /// Writes the checksum, or 0 if the tag replaces it. Must be called last.
    pub fn fill_checksum(&mut self) {
        if self.is_whole() {
            return self.0.as_mut()[field::CHECKSUM].fill(0);
        }
        let len = self.len();
        fill_checksum(&mut self.0.as_mut()[..len], field::CHECKSUM);
    }

    /// Corrects the checksum of any bytes that are as long as their header says.
    pub(crate) fn repair_checksum(bytes: T) {
        let mut packet = Self(bytes);
        if packet.check_len().is_ok() {
            packet.fill_checksum();
        }
    }
}

/// The meaning of an ESP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// The flags.
    pub flags: Flags,
    /// The port that sends the packet.
    pub source_port: u16,
    /// The port that the packet is for.
    pub destination_port: u16,
    /// The low half of the nonce of the sender's end.
    pub nonce: u32,
    /// The sequence number of this packet. If the frame carries no packet of the stream, it is the
    /// number of the next packet.
    pub sequence: u32,
    /// The number of the first packet that has not arrived; used with [`Flags::ACK`].
    pub acknowledgement: u32,
    /// The number of packets that may be sent, from packet `acknowledgement` on; used with
    /// [`Flags::ACK`].
    pub window: u16,
    /// The part of the header that depends on its form.
    pub extension: Extension,
}
