//! Forecasts which connection is read next.
//!
//! To read a connection costs less than to ask the system which ones can be read, and to read one
//! then. If nothing has arrived, the question costs less. Programs repeat themselves: after a
//! message of one rank comes one of the same rank as the time before, in a ping-pong, a barrier
//! or a stencil. So the forecast is the rank that was read after this one the last time. After each
//! read the connection of that rank is looked at once without a question, and for longer while
//! forecasts come true. All ranks are asked for after that, so a wrong forecast delays a message by
//! few looks.

use crate::limits::{FORECASTS_SURE, LOOKS_SURE};

/// The forecast of the connection that is read next.
#[derive(Debug)]
pub(super) struct Forecast {
    /// For each rank the one that was read after it the last time; itself at first.
    followers: Box<[u32]>,
    /// The rank that was read last.
    last: Option<u32>,
    /// The forecasts that came true in a row.
    hits: u32,
    /// The looks at the forecast since the last read.
    looks: u32,
}

impl Forecast {
    /// Returns the forecast of a rank that is connected with some of `ranks` ranks.
    pub(super) fn new(ranks: usize) -> Self {
        Self { followers: (0..ranks as u32).collect(), last: None, hits: 0, looks: 0 }
    }

    /// Returns the rank whose connection is to be looked at now, or `None` if the system must be
    /// asked.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        let most = if self.hits >= FORECASTS_SURE { LOOKS_SURE } else { 1 };
        if self.looks >= most {
            return None;
        }
        self.looks += 1;
        self.follower()
    }

    /// Notes that the connection with a rank was read.
    #[inline]
    pub(super) fn note_read(&mut self, rank: u32) {
        let is_hit = self.follower() == Some(rank);
        self.hits = if is_hit { self.hits.saturating_add(1) } else { 0 };
        if let Some(last) = self.last.replace(rank) {
            self.followers[last as usize] = rank;
        }
        self.looks = 0;
    }

    fn follower(&self) -> Option<u32> {
        self.last.map(|last| self.followers[last as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::Forecast;
    use crate::limits::{FORECASTS_SURE, LOOKS_SURE};

    /// Returns the looks at the forecast before the system is asked, and the rank they are at.
    fn looks(forecast: &mut Forecast) -> (Option<u32>, u32) {
        let (mut at, mut count) = (None, 0);
        while let Some(rank) = forecast.next() {
            assert!(at.is_none_or(|at| at == rank));
            (at, count) = (Some(rank), count + 1);
        }
        (at, count)
    }

    #[test]
    fn nothing_was_read() {
        assert_eq!(looks(&mut Forecast::new(4)), (None, 0));
    }

    #[test]
    fn a_single_peer_is_expected_again() {
        let mut forecast = Forecast::new(4);
        for _ in 0..=FORECASTS_SURE {
            forecast.note_read(2);
        }
        assert_eq!(looks(&mut forecast), (Some(2), LOOKS_SURE));
    }

    #[test]
    fn peers_in_turn_are_expected_in_turn() {
        let mut forecast = Forecast::new(4);
        let turns = [1, 2, 3].into_iter().cycle();
        for rank in turns.clone().take(6 + FORECASTS_SURE as usize) {
            forecast.note_read(rank);
        }
        for rank in turns.skip(6 + FORECASTS_SURE as usize).take(9) {
            assert_eq!(looks(&mut forecast), (Some(rank), LOOKS_SURE));
            forecast.note_read(rank);
        }
    }

    #[test]
    fn a_surprise_ends_long_looks() {
        let mut forecast = Forecast::new(4);
        for rank in [2; 99] {
            forecast.note_read(rank);
        }
        forecast.note_read(3);
        assert_eq!(looks(&mut forecast), (Some(3), 1));
        forecast.note_read(2);
        assert_eq!(looks(&mut forecast), (Some(3), 1));
    }
}
