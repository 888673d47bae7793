//! Quantiles of runs, and the interval of a median.

/// The probability that an interval does not have the median.
const ALPHA: f64 = 0.05;

/// The least number of runs whose median has an interval.
pub(crate) const RUNS_MIN: u32 = 6;

/// Returns the value below which a part of the values lies, between two values in proportion.
/// `sorted` has at least one value.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let position = part * (sorted.len() - 1) as f64;
    let (below, rest) = (position.floor() as usize, position.fract());
    match sorted.get(below + 1) {
        Some(above) if rest > 0.0 => sorted[below] + rest * (above - sorted[below]),
        _ => sorted[below],
    }
}

/// Returns the mean of at least one value.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns values that have the median of what the values were drawn from between them, with a
/// probability of at least 95 %. It supposes nothing about the distribution (sign test). `None` for
/// fewer than [`RUNS_MIN`] values.
pub(crate) fn interval_of_median(sorted: &[f64]) -> Option<(f64, f64)> {
    let outside = values_outside(sorted.len())?;
    Some((sorted[outside], sorted[sorted.len() - 1 - outside]))
}

/// Returns how many of `count` values lie below the interval of the median, and also above it.
///
/// The number of values below the true median has a binomial distribution with p = 1/2.
fn values_outside(count: usize) -> Option<usize> {
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for number in 0..=count {
        below += log_term.exp();
        if below > ALPHA / 2.0 {
            return number.checked_sub(1);
        }
        log_term += ((count - number) as f64 / (number + 1) as f64).ln();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let found = [0.0, 0.25, 0.5, 0.75, 0.95, 1.0].map(|part| quantile(&values, part));
        let wanted = [1.0, 1.75, 3.0, 5.0, 7.4, 8.0];
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(quantile(&[3.0], 0.95), 3.0);
    }

    /// The numbers are those of tables of the sign test.
    #[test]
    fn intervals_are_those_of_the_sign_test() {
        for (count, outside) in
            [(6, 0), (8, 0), (9, 1), (10, 1), (15, 3), (20, 5), (25, 7), (30, 9)]
        {
            assert_eq!(values_outside(count), Some(outside), "{count}");
        }
        assert!((0..RUNS_MIN as usize).all(|count| values_outside(count).is_none()));
        let many = values_outside(1_000_000).unwrap() as f64;
        assert!((many - (500_000.0 - 1.96 * 500.0)).abs() < 3.0, "{many}");
    }
}
