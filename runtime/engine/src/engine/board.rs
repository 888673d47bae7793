//! The words by which readers outside the engine, such as a launcher, see a window of actions.

/// The layout of the words that describe a window. They hold, in this order: the number of the
/// oldest action, the number after the newest, one bit for each place, and one offset for each
/// place. The bit is set once the action there has ended. An action's place is its number modulo
/// the window's size.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowState {
    pub(super) size: u64,
}

impl WindowState {
    /// Returns the layout of the words for a window of `size` actions.
    pub(super) fn new(size: u32) -> Self {
        Self { size: size.into() }
    }

    /// Returns the number of words.
    pub(super) fn words(self) -> usize {
        self.offset_word(0) + self.size as usize
    }

    /// Returns the numbers of the actions in the window.
    pub(super) fn numbers(self, words: &[u64]) -> std::ops::Range<u64> {
        words[0]..words[1]
    }

    /// Returns the place of a numbered action, which is also the index of its counter.
    #[inline]
    pub(super) fn place(self, number: u64) -> usize {
        (number % self.size) as usize
    }

    /// Returns the offset of a numbered action in the section.
    #[inline]
    pub(super) fn offset(self, words: &[u64], number: u64) -> u32 {
        words[self.offset_word(self.place(number))] as u32
    }

    /// Returns true if a numbered action has ended.
    #[inline]
    pub(super) fn has_ended(self, words: &[u64], number: u64) -> bool {
        let place = self.place(number);
        words[2 + place / 64] >> (place % 64) & 1 != 0
    }

    #[inline]
    fn offset_word(self, place: usize) -> usize {
        2 + (self.size as usize).div_ceil(64) + place
    }

    pub(super) fn add(self, words: &mut [u64], offset: u32) -> usize {
        let place = self.place(words[1]);
        words[2 + place / 64] &= !(1 << (place % 64));
        words[self.offset_word(place)] = offset.into();
        words[1] += 1;
        place
    }

    /// Marks an action as ended, and moves the start of the window past ended actions.
    #[inline]
    pub(super) fn mark_ended(self, words: &mut [u64], number: u64) {
        let place = self.place(number);
        words[2 + place / 64] |= 1 << (place % 64);
        while words[0] < words[1] && self.has_ended(words, words[0]) {
            words[0] += 1;
        }
    }

    /// Returns the number of the action at an offset, if it is in the window. A binary search, as
    /// offsets ascend.
    #[inline]
    pub(super) fn find(self, words: &[u64], offset: u32) -> Option<u64> {
        let (mut low, mut high) = (words[0], words[1]);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offset(words, middle) < offset { low = middle + 1 } else { high = middle }
        }
        (low < words[1] && self.offset(words, low) == offset).then_some(low)
    }
}
