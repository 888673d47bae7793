//! The typed numbers of instances, messages and other objects of an engine.

use crate::heap::{Key, flat};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
        pub(crate) struct $name(pub(crate) u32);

        flat!(struct $name(number));

        impl Key for $name {
            #[inline(always)]
            fn words(self) -> (u64, u64) {
                (0, self.0.into())
            }
        }

        impl From<$name> for u32 {
            #[inline(always)]
            fn from($name(number): $name) -> u32 {
                number
            }
        }
    };
}

id! {
    /// An instance of the engine.
    InstanceKey
}
id! {
    /// A message that has arrived and is not delivered yet.
    MessageKey
}
id! {
    /// A send that waits for its receiver. The receiver's answers name the send by this number.
    Cookie
}
id! {
    /// A pair of source and tag that a receive of the schedule names.
    ChannelId
}

id! {
    /// A rank of the job.
    Rank
}
id! {
    /// An action of a schedule, by its offset in the section.
    Action
}
id! {
    /// A rank that the schedule sends to, by its place among all such ranks.
    DestinationId
}

impl MessageKey {
    /// No message.
    pub(super) const NONE: Self = Self(u32::MAX);
}

impl DestinationId {
    /// Returns the index of the destination in the sequence numbers of an instance.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl ChannelId {
    /// Returns the index of the channel in the queues of an instance.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bytes of a section for which there is one slot. The smallest action, a `nop` without
/// dependents, takes 8 bytes, so no two actions share a slot.
pub(super) const SLOT_BYTES: u32 = 8;

impl Action {
    /// No action. No section reaches this offset.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Returns the slot of the action: its index in the counters, in the bitmap and in the record
    /// of matches.
    #[inline(always)]
    pub(crate) const fn slot(self) -> usize {
        (self.0 / SLOT_BYTES) as usize
    }
}

impl InstanceKey {
    /// No instance.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Returns the index of the instance in the arrays of this process.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An action of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ActionRef {
    pub(super) instance: InstanceKey,
    pub(super) action: Action,
}

flat!(struct ActionRef { instance, action });

impl Key for ActionRef {
    #[inline]
    fn words(self) -> (u64, u64) {
        (self.instance.0.into(), self.action.0.into())
    }
}
