//! Forecasts which connection is read next.
//!
//! Reading one connection costs less than asking the system which connections can be read and then
//! reading one of them. If nothing has arrived, asking costs less. Programs repeat themselves: in a
//! ping-pong, a barrier or a stencil, the messages of two ranks follow each other as they did the
//! time before. So the forecast is the rank that was read after the current rank the last time.
//! After each read, the connection of the forecast is tried once without asking the system, and
//! more often while forecasts come true. After these looks the system is asked about all ranks, so
//! a wrong forecast delays a message by few looks.

use crate::limits::{FORECASTS_SURE, LOOKS_SURE};

/// The forecast of the connection that is read next.
#[derive(Debug)]
pub(super) struct Forecast {
    /// For each rank, the rank that was read after it the last time. At first, this is the rank
    /// itself.
    followers: Box<[u32]>,
    /// The rank that was read last.
    last: Option<u32>,
    /// The number of forecasts that came true in a row.
    hits: u32,
    /// The number of looks at the connection of the forecast since the last read.
    looks: u32,
}

impl Forecast {
    /// Creates the forecast of a rank in a job of `ranks` ranks. Nothing was read yet.
    pub(super) fn new(ranks: usize) -> Self {
        Self { followers: (0..ranks as u32).collect(), last: None, hits: 0, looks: 0 }
    }

    /// Returns the rank whose connection is to be tried now, or `None` if the system must be asked.
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
