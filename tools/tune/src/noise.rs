//! Compares settings whose measurements vary.
//!
//! A parameter may have no influence. Then chance decides which of several measurements is the
//! least, and a search would wander. In the thesis (6.2) neighbours "differ only within the error
//! margin". So each round measures the current setting twice, before and after the other settings.
//! The difference between these two measurements is noise.

/// The scores of the current setting and of another setting in the same rounds. A score is the mean
/// of the logarithms of times, so a lower score is better.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rounds {
    /// The scores of the current setting at the beginning and at the end of each round.
    pub(crate) current: Vec<[f64; 2]>,
    /// The score of the other setting in each round.
    pub(crate) other: Vec<f64>,
}

impl Rounds {
    /// Returns the largest difference between two measurements of the current setting in a round.
    pub(crate) fn noise(&self) -> f64 {
        self.current.iter().map(|[begin, end]| (begin - end).abs()).fold(0.0, f64::max)
    }

    /// Returns the gain of the other setting in each round, ascending: how much lower its score is.
    fn gains(&self) -> Vec<f64> {
        let rounds = self.current.iter().zip(&self.other);
        let mut gains: Vec<f64> =
            rounds.map(|([begin, end], other)| (begin + end) / 2.0 - other).collect();
        gains.sort_by(f64::total_cmp);
        gains
    }

    /// Returns the median gain of the other setting. Returns 0 without rounds.
    pub(crate) fn gain(&self) -> f64 {
        let gains = self.gains();
        gains.get(gains.len() / 2).copied().unwrap_or(0.0)
    }

    /// Returns true if the other setting was better in every round, and its median gain exceeds the
    /// noise.
    pub(crate) fn is_better(&self) -> bool {
        self.gains().first().is_some_and(|&least| least > 0.0) && self.gain() > self.noise()
    }

    /// Returns true if the other setting was better in three rounds of four, and its median gain
    /// exceeds the median noise. A machine that others use has single rounds of any time.
    pub(crate) fn is_mostly_better(&self) -> bool {
        let gains = self.gains();
        let better = gains.iter().filter(|&&gain| gain > 0.0).count();
        let mut noises: Vec<f64> =
            self.current.iter().map(|[begin, end]| (begin - end).abs()).collect();
        noises.sort_by(f64::total_cmp);
        let noise = noises.get(noises.len() / 2).copied().unwrap_or(0.0);
        4 * better >= 3 * gains.len() && self.gain() > noise
    }
}

/// Returns a difference of scores as a percentage of time.
pub(crate) fn percent(difference: f64) -> f64 {
    100.0 * (1.0 - (-difference).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(current: &[[f64; 2]], other: &[f64]) -> Rounds {
        Rounds { current: current.to_vec(), other: other.to_vec() }
    }

    #[test]
    fn a_difference_within_the_noise_is_none() {
        let current = [[5.0, 5.1], [5.2, 5.1], [5.0, 5.0]];
        assert!(rounds(&current, &[4.5, 4.6, 4.5]).is_better());
        assert!(!rounds(&current, &[5.0, 5.1, 4.95]).is_better(), "less than the noise");
        assert!(!rounds(&current, &[4.5, 5.2, 4.5]).is_better(), "not in every round");
        assert!(!rounds(&current, &[5.5, 5.6, 5.5]).is_better(), "worse");
        assert!(!Rounds::default().is_better());
        assert!((rounds(&current, &[]).noise() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn one_round_of_four_may_be_worse_or_noisy() {
        let current = [[5.0, 5.1], [5.2, 5.1], [5.0, 9.0], [5.0, 5.0]];
        assert!(rounds(&current, &[4.5, 4.6, 8.0, 4.5]).is_mostly_better());
        assert!(!rounds(&current, &[4.5, 5.6, 8.0, 4.5]).is_mostly_better(), "two of four");
        assert!(!rounds(&current, &[5.04, 5.14, 4.9, 4.99]).is_mostly_better(), "the noise");
        assert!(!Rounds::default().is_mostly_better());
    }

    #[test]
    fn gains_are_told_in_per_cent_of_time() {
        assert!((percent(2f64.ln()) - 50.0).abs() < 1e-9);
        assert!(percent(-0.1) < 0.0);
    }
}
