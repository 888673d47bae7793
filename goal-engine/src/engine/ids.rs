//! Numbers of things that an engine keeps, each of a type of its own.

use crate::heap::{Key, flat};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
        pub(super) struct $name(pub(super) u32);

        flat!(struct $name(number));

        impl From<$name> for u32 {
            #[inline(always)]
            fn from($name(number): $name) -> u32 {
                number
            }
        }
    };
}

id! {
    /// An instance among those of the engine.
    InstanceKey
}
id! {
    /// A message that is not delivered yet, among those that came.
    MessageKey
}
id! {
    /// A send that waits for its receiver, among those of the rank. Its receiver names it by this
    /// number in all that it answers.
    Cookie
}
id! {
    /// A source and a tag that a receive of a schedule names, among those of the schedule.
    ChannelId
}

impl MessageKey {
    /// No message.
    pub(super) const NONE: Self = Self(u32::MAX);
}

impl ChannelId {
    /// Its place among the queues of an instance.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl InstanceKey {
    /// No instance.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Its place in arrays of the process.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An action of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ActionRef {
    pub(super) instance: InstanceKey,
    /// Its offset in the section.
    pub(super) action: u32,
}

flat!(struct ActionRef { instance, action });

impl Key for ActionRef {
    #[inline]
    fn words(self) -> (u64, u64) {
        (self.instance.0.into(), self.action.into())
    }
}
