//! Messages between the shares of a simulation.

/// The effect of a rank on another one: a message, or the end of a send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    pub(super) time: u64,
    /// The bytes of a message.
    pub(super) size: u64,
    pub(super) rank: u32,
    /// The send of a message, or a send that ends.
    pub(super) send: u32,
    /// The source of a message.
    pub(super) from: u32,
    pub(super) tag: u32,
    /// The answer of the sender's store about the receive.
    pub(super) partner: u32,
    pub(super) is_message: bool,
}

/// A send, for the share of its receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) action: u32,
}

/// A send and its partner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partner {
    pub(super) send: u32,
    pub(super) partner: u32,
}
