//! Reads the state of an instance from outside its engine, from a copy of its words. The rank of
//! the instance may still run, may have died, or may be on another host.

use super::board::WindowState;
use super::ids::Action;
use goal_asm::nisa::{Offsets, Section};
use std::ops::Range;

/// The counters and the bitmap of an instance that runs from a whole section, not through a window.
#[derive(Debug, Clone)]
pub struct InstanceView {
    counters: Vec<u16>,
    finished: Vec<u64>,
}

impl InstanceView {
    /// Creates a view from copies of [`Areas::counters`](super::Areas::counters) and
    /// [`Areas::finished`](super::Areas::finished).
    pub fn new(counters: Vec<u16>, finished: Vec<u64>) -> Self {
        Self { counters, finished }
    }

    /// Returns true if the action at `offset` has ended.
    pub fn has_ended(&self, offset: u32) -> bool {
        let slot = Action(offset).slot();
        self.finished[slot / 64] >> (slot % 64) & 1 != 0
    }

    /// Returns the number of dependencies that the action at `offset` still waits for. An action
    /// starts when it is 0.
    pub fn counter(&self, offset: u32) -> u16 {
        self.counters[Action(offset).slot()]
    }
}

/// The counters and the bitmap of an instance that is run through a window. Its actions are known
/// by their numbers in the section.
#[derive(Debug, Clone)]
pub struct WindowView {
    board: WindowState,
    counters: Vec<u16>,
    words: Vec<u64>,
    size: u32,
}

impl WindowView {
    /// Creates a view of a window of `size` actions from copies of
    /// [`Areas::counters`](super::Areas::counters) and [`Areas::finished`](super::Areas::finished).
    pub fn new(size: u32, counters: Vec<u16>, finished: Vec<u64>) -> Self {
        Self { board: WindowState::new(size), counters, words: finished, size }
    }

    /// Returns the number of actions that have entered the window, including those that have left
    /// it.
    pub fn entered(&self) -> u64 {
        self.board.numbers(&self.words).end
    }

    /// Returns the numbers of the actions in the window that have not ended. Returns at most as
    /// many as the window has places, even if the words are wrong.
    pub fn unfinished(&self) -> impl Iterator<Item = u64> {
        let numbers: Range<u64> = self.board.numbers(&self.words);
        let numbers = numbers.take(self.size as usize);
        numbers.filter(|&number| !self.board.has_ended(&self.words, number))
    }

    /// Returns the offset in the section of an action in the window.
    pub fn offset(&self, number: u64) -> u32 {
        self.board.offset(&self.words, number)
    }

    /// Returns the number of dependencies that an action in the window still waits for.
    pub fn counter(&self, number: u64) -> u16 {
        self.counters[self.board.place(number)]
    }
}

/// The record of matches: for each receive, the message that it took.
#[derive(Debug, Clone)]
pub struct MatchesView(Vec<u64>);

/// The message of a send or receive, as recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// The rank that a receive took the message from; 0 for a send.
    pub source: u32,
    /// The number of the message among those from its sender to its receiver.
    pub sequence: u32,
}

impl MatchesView {
    /// Creates a view from a copy of [`Areas::matches`](super::Areas::matches), which may be empty.
    pub fn new(matches: Vec<u64>) -> Self {
        Self(matches)
    }

    /// Returns the message of the send or receive at `offset`, if it is recorded.
    pub fn met(&self, offset: u32) -> Option<Met> {
        let word = self.0.get(Action(offset).slot())?.checked_sub(1)?;
        Some(Met { source: (word >> 32) as u32, sequence: word as u32 })
    }
}

/// The unmet dependencies of each action of a section, counted as an engine counts them. A replay
/// of trace events uses it.
#[derive(Debug, Clone)]
pub struct Countdown(Vec<u16>);

impl Countdown {
    /// Returns the counters at the start of an instance.
    pub fn new(section: Section<'_>) -> Self {
        let mut counters = Vec::new();
        for (offset, record) in section.records() {
            counters.resize(Action(offset).slot(), 0);
            counters.push(record.sources);
        }
        Self(counters)
    }

    /// Counts one met dependency of each of `dependents`. Returns the offsets of those whose
    /// counter is 0 then. A counter that is 0 already stays 0: only events that no run can have
    /// lead to this.
    pub fn release<'a>(
        &mut self,
        dependents: Offsets<'a>,
    ) -> impl Iterator<Item = u32> + use<'_, 'a> {
        dependents.iter().filter(|&offset| {
            let counter = &mut self.0[Action(offset).slot()];
            *counter = counter.saturating_sub(1);
            *counter == 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::home::match_word;

    #[test]
    fn every_message_is_told_from_every_other_and_from_none() {
        let recorded = |word| MatchesView::new(vec![word]).met(0);
        assert_eq!(recorded(0), None);
        for (source, sequence) in
            [(0, 0), (0, u32::MAX), (1, u32::MAX), (2, 0), (u32::MAX - 1, u32::MAX)]
        {
            assert_eq!(
                recorded(match_word(crate::engine::ids::Rank(source), sequence)),
                Some(Met { source, sequence })
            );
        }
        assert_eq!(MatchesView::new(vec![]).met(8), None);
    }

    #[test]
    fn an_action_has_ended_if_its_bit_is_set() {
        // Offsets are in bytes, and an action takes at least 8 of them.
        let view = InstanceView::new(vec![0, 2, 1], vec![0b100]);
        assert_eq!([0, 8, 16].map(|offset| view.has_ended(offset)), [false, false, true]);
        assert_eq!([0, 8, 16].map(|offset| view.counter(offset)), [0, 2, 1]);
    }

    #[test]
    fn a_window_bounds_what_its_words_say() {
        let mut words = vec![0; WindowState::new(4).words()];
        (words[0], words[1]) = (3, u64::MAX);
        words[2] = 1 << (5 % 4);
        let view = WindowView::new(4, vec![0; 4], words);
        assert_eq!(view.unfinished().collect::<Vec<_>>(), [3, 4, 6]);
    }
}
