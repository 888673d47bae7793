//! The instances of a communicator: their numbers, and the matching spaces of those that run and of those for which messages
//! came early.

use crate::matching::SpaceId;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Instances are numbered in the order of their starts. Numbers wrap around: ahead is what is nearer in that direction.
#[derive(Debug, Default)]
pub(super) struct Communicator {
    /// Number of the first entry of `running`.
    base: u32,
    /// The spaces of the instances that were started, from the first on that has not ended; `None` of one that has.
    running: VecDeque<Option<SpaceId>>,
    early: FxHashMap<u32, SpaceId>,
}

impl Communicator {
    /// Number of the next instance.
    fn next(&self) -> u32 {
        self.base.wrapping_add(self.running.len() as u32)
    }

    /// The next instance starts: its number and its space, which `add` makes unless messages came early.
    #[inline]
    pub(super) fn open(&mut self, add: impl FnOnce() -> SpaceId) -> (u32, SpaceId) {
        let number = self.next();
        let early = if self.early.is_empty() { None } else { self.early.remove(&number) };
        let space = early.unwrap_or_else(add);
        self.running.push_back(Some(space));
        (number, space)
    }

    /// An instance has ended.
    #[inline]
    pub(super) fn close(&mut self, number: u32) {
        self.running[number.wrapping_sub(self.base) as usize] = None;
        while let Some(None) = self.running.front() {
            self.running.pop_front();
            self.base = self.base.wrapping_add(1);
        }
    }

    /// The space of an instance, which `add` makes for the first message of one to come; `None` if the instance is over.
    #[inline]
    pub(super) fn space(&mut self, number: u32, add: impl FnOnce() -> SpaceId) -> Option<SpaceId> {
        if let Some(&space) = self.running.get(number.wrapping_sub(self.base) as usize) {
            return space;
        }
        let is_early = number.wrapping_sub(self.next()) as i32 >= 0;
        is_early.then(|| *self.early.entry(number).or_insert_with(add))
    }
}

#[cfg(test)]
mod tests {
    use super::Communicator;
    use crate::matching::Matching;

    #[test]
    fn numbers_wrap_around() {
        let mut matching = Matching::<u32, u32>::default();
        let mut communicator = Communicator { base: u32::MAX, ..Communicator::default() };
        let (number, last) = communicator.open(|| matching.add_space());
        assert_eq!(number, u32::MAX);
        assert_eq!(communicator.space(u32::MAX, || panic!("it runs")), Some(last));
        let early = communicator.space(0, || matching.add_space());
        communicator.close(u32::MAX);
        assert_eq!(communicator.space(u32::MAX, || panic!("it is over")), None);
        assert_eq!(Some(communicator.open(|| panic!("messages came"))), early.map(|space| (0, space)));
        assert_eq!(communicator.space(u32::MAX, || panic!("it is over")), None);
    }

    #[test]
    fn instances_end_in_any_order() {
        let mut matching = Matching::<u32, u32>::default();
        let mut communicator = Communicator::default();
        let spaces: Vec<_> = (0..3).map(|_| communicator.open(|| matching.add_space()).1).collect();
        communicator.close(1);
        let mut of = |number| communicator.space(number, || panic!("none is new"));
        assert_eq!([of(0), of(1), of(2)], [Some(spaces[0]), None, Some(spaces[2])]);
        communicator.close(0);
        communicator.close(2);
        assert_eq!(communicator.open(|| matching.add_space()).0, 3);
    }
}
