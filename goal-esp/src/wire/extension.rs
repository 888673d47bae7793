//! What a header of ESP has beside what all have.

/// What a side says of itself while the connection is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Longest payload of a packet in bytes that it takes.
    pub payload_max: u16,
    /// True if it tags all of every frame and takes no others; both do if one asks.
    pub authenticates_data: bool,
}

impl Parameters {
    pub(super) const AUTHENTICATES_DATA: u16 = 1;
}

/// What follows the header's first part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extension {
    /// Nothing: data, whose origin is not proven.
    None,
    /// Number of the frame among those with a tag in this direction, and a tag.
    Tagged {
        /// Low half of the number.
        control: u32,
    },
    /// As before, and the tag covers the payload too. It takes the checksum's place, which is 0.
    Whole {
        /// Low half of the number.
        control: u32,
    },
    /// A tag, and what a connection is set up with.
    Handshake {
        /// Low half of the number.
        control: u32,
        /// High half of the sender's nonce, whose low half all headers have.
        nonce_high: u32,
        /// What the sender says of itself.
        parameters: Parameters,
    },
}

impl Extension {
    pub(super) const fn form(&self) -> u8 {
        match self {
            Extension::None => 0,
            Extension::Tagged { .. } => 1,
            Extension::Handshake { .. } => 2,
            Extension::Whole { .. } => 3,
        }
    }

    /// Low half of the frame's number among those with a tag; `None` where there is no tag.
    pub const fn control(&self) -> Option<u32> {
        match *self {
            Extension::None => None,
            Extension::Tagged { control }
            | Extension::Whole { control }
            | Extension::Handshake { control, .. } => Some(control),
        }
    }

    /// Bytes of a header with this extension.
    #[inline]
    pub const fn header_len(&self) -> usize {
        super::esp::header_len(self.form())
    }
}
