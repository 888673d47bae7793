//! The part of ESP's header that depends on its form.

/// The parameters that an end announces in the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// The longest payload of a packet, in bytes, that the end accepts.
    pub payload_max: u16,
    /// True if the end tags header and payload of every frame, and accepts no other frames. Both
    /// ends do so if one of them asks for it.
    pub authenticates_data: bool,
}

impl Parameters {
    pub(super) const AUTHENTICATES_DATA: u16 = 1;
}

/// The part of the header behind its first 26 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extension {
    /// No tag: data that is not authenticated.
    None,
    /// A control number and a tag over the header.
    Tagged {
        /// The low half of the control number.
        control: u32,
    },
    /// A control number and a tag over header and payload. The tag replaces the checksum, which is
    /// 0.
    Whole {
        /// The low half of the control number.
        control: u32,
    },
    /// A control number, a tag, and the parameters of a handshake.
    Handshake {
        /// The low half of the control number.
        control: u32,
        /// The high half of the sender's nonce. All headers have the low half.
        nonce_high: u32,
        /// The sender's parameters.
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

    /// Returns the low half of the control number; `None` if there is no tag.
    pub const fn control(&self) -> Option<u32> {
        match *self {
            Extension::None => None,
            Extension::Tagged { control }
            | Extension::Whole { control }
            | Extension::Handshake { control, .. } => Some(control),
        }
    }
}
