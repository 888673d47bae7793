//! The instances of a communicator: their numbers, the running ones, and messages that arrived
//! early.

use super::ids::InstanceKey;
use super::incoming::Chain;
use crate::heap::{Heap, Line, Table, flat};

/// The instances of a communicator, numbered in the order of their starts. Numbers wrap around: a
/// number is ahead of another if the distance to it is less than half of all numbers.
#[derive(Debug, Default)]
pub(super) struct Communicator {
    /// The number of the first entry of `running`.
    base: u32,
    /// The keys of started instances, from the first instance on that is not removed. A later
    /// instance that is removed has [`InstanceKey::NONE`].
    running: Line<InstanceKey>,
    /// Messages for instances that have not started.
    pub(super) early: Table<u32, Chain>,
}

/// The instance that a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The instance with this key, which was started and not removed.
    Running(InstanceKey),
    /// An instance that has not started.
    Early,
    /// An instance that was removed.
    Over,
}

flat!(struct Communicator { base, running, early });

impl Communicator {
    /// Returns the number of the next instance.
    fn next(&self) -> u32 {
        self.base.wrapping_add(self.running.len() as u32)
    }

    /// Adds the next instance and returns its number.
    #[inline]
    pub(super) fn open(&mut self, heap: &Heap, key: InstanceKey) -> u32 {
        let number = self.next();
        self.running.push(heap, key);
        number
    }

    /// Returns the first instance that is not removed.
    #[inline]
    pub(super) fn first(&self, heap: &Heap) -> Option<InstanceKey> {
        self.running.at(heap, 0).copied()
    }

    /// Gives a finished instance the next number. Returns false, with no effect, if the
    /// communicator has other instances.
    #[inline]
    pub(super) fn advance(&mut self, number: u32) -> bool {
        let is_only = self.running.len() == 1 && self.base == number;
        self.base = self.base.wrapping_add(is_only.into());
        is_only
    }

    /// Removes a finished instance.
    #[inline]
    pub(super) fn close(&mut self, heap: &Heap, number: u32) {
        let ahead = number.wrapping_sub(self.base) as usize;
        if ahead > 0 {
            if let Some(key) = self.running.at_mut(heap, ahead) {
                *key = InstanceKey::NONE;
            }
            return;
        }
        self.running.pop(heap);
        self.base = self.base.wrapping_add(1);
        while self.running.at(heap, 0) == Some(&InstanceKey::NONE) {
            self.running.pop(heap);
            self.base = self.base.wrapping_add(1);
        }
    }

    /// Returns true if every instance that was started is removed.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Frees the memory of a communicator without instances, whose early messages were taken out.
    pub(super) fn release(&mut self, heap: &Heap) {
        self.running.release(heap);
        self.early.release(heap);
    }

    /// Returns the instance with a number.
    #[inline]
    pub(super) fn target(&self, heap: &Heap, number: u32) -> Target {
        match self.running.at(heap, number.wrapping_sub(self.base) as usize) {
            Some(&InstanceKey::NONE) => Target::Over,
            Some(&key) => Target::Running(key),
            None if number.wrapping_sub(self.next()) as i32 >= 0 => Target::Early,
            None => Target::Over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Communicator, InstanceKey, Target};
    use crate::heap::Private;

    #[test]
    fn numbers_wrap_around() {
        let private = Private::new();
        let heap = private.heap();
        let mut communicator = Communicator { base: u32::MAX, ..Communicator::default() };
        assert_eq!(communicator.open(heap, InstanceKey(7)), u32::MAX);
        assert_eq!(communicator.target(heap, u32::MAX), Target::Running(InstanceKey(7)));
        assert_eq!(communicator.target(heap, 0), Target::Early);
        communicator.close(heap, u32::MAX);
        assert_eq!(communicator.target(heap, u32::MAX), Target::Over);
        assert_eq!(communicator.open(heap, InstanceKey(8)), 0);
        assert_eq!(communicator.target(heap, 0), Target::Running(InstanceKey(8)));
    }

    #[test]
    fn instances_end_in_any_order() {
        let private = Private::new();
        let heap = private.heap();
        let mut communicator = Communicator::default();
        for key in 10..13 {
            communicator.open(heap, InstanceKey(key));
        }
        communicator.close(heap, 1);
        let of = |number| communicator.target(heap, number);
        assert_eq!(
            [of(0), of(1), of(2)],
            [Target::Running(InstanceKey(10)), Target::Over, Target::Running(InstanceKey(12))]
        );
        communicator.close(heap, 0);
        communicator.close(heap, 2);
        assert_eq!(communicator.open(heap, InstanceKey(13)), 3);
    }
}
