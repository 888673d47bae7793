//! Flags of a packet (thesis Fig. 3.2).

use std::fmt;
use std::ops::BitOr;

/// Flags of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// Sets up a connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgement number and the window are valid.
    pub const ACK: Flags = Flags(1 << 1);
    /// The end of the stream: no packets follow.
    pub const FIN: Flags = Flags(1 << 2);
    /// Gives the connection up.
    pub const RST: Flags = Flags(1 << 3);
    /// Requests packets again (re-request); the payload names them.
    pub const RRQ: Flags = Flags(1 << 4);
    /// The first packet of a transfer (transfer starts).
    pub const TXS: Flags = Flags(1 << 5);
    /// The last packet of a transfer (transfer finished): its sender knew of no more.
    pub const TXF: Flags = Flags(1 << 6);
    /// The last packet of a write: transfers merge, writes keep their ends (thesis 3.2).
    pub const TXR: Flags = Flags(1 << 7);

    /// Returns true if all of `flags` are set.
    #[inline]
    pub fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns true if at least one of `flags` is set.
    #[inline]
    pub fn has_any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// Returns the flags without `flags`.
    #[inline]
    pub fn without(self, flags: Flags) -> Flags {
        Flags(self.0 & !flags.0)
    }

    /// Returns true if the flags change the state of a connection, so that the frame needs a tag.
    #[inline]
    pub fn is_control(self) -> bool {
        self.has_any(Flags::SYN | Flags::ACK | Flags::FIN | Flags::RST | Flags::RRQ)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["SYN", "ACK", "FIN", "RST", "RRQ", "TXS", "TXF", "TXR"];
        let set: Vec<_> =
            (0..8).filter(|bit| self.0 & 1 << bit != 0).map(|bit| names[bit]).collect();
        f.write_str(if set.is_empty() { "-" } else { "" })?;
        f.write_str(&set.join("+"))
    }
}
