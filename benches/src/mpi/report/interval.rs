//! The confidence interval of the ratio of two medians, by the bootstrap.

use crate::measure::median;

const RESAMPLES: usize = 1000;
/// Parts of the resamples that lie outside of the interval at each end: 2.5 % of them.
const OUTSIDE: usize = RESAMPLES / 40;
/// Fewer runs tell nothing.
const RUNS_MIN: usize = 5;

/// Returns the interval in which 95 % of the ratios of medians lie, if as many runs are drawn from
/// each side's with repetition. Returns `None` for few runs.
pub(super) fn interval(ours: &[f64], others: &[f64]) -> Option<[f64; 2]> {
    if ours.len() < RUNS_MIN || others.len() < RUNS_MIN {
        return None;
    }
    let mut state = 1u64;
    let mut drawn = |from: &[f64]| {
        let one = |_| {
            // The constants of Knuth's MMIX; the high bits are the random ones.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            from[(state >> 33) as usize % from.len()]
        };
        median((0..from.len()).map(one).collect::<Vec<_>>())
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| drawn(ours) / drawn(others)).collect();
    ratios.sort_by(f64::total_cmp);
    Some([ratios[OUTSIDE], ratios[RESAMPLES - 1 - OUTSIDE]])
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn it_is_as_wide_as_the_runs_differ() {
        let steady = interval(&[2.0; 7], &[1.0; 7]).expect("enough runs");
        assert_eq!(steady, [2.0, 2.0]);
        let [low, high] =
            interval(&[1.8, 1.9, 2.0, 2.0, 2.1, 2.2, 9.0], &[1.0; 7]).expect("enough runs");
        assert!((1.8..2.0).contains(&low) && (2.0..=9.0).contains(&high), "{low} {high}");
        assert_eq!(interval(&[2.0; 4], &[1.0; 7]), None);
    }
}
