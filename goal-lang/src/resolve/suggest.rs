//! What was probably meant.

/// The candidate that differs least from `name`, if it is near enough: the first in alphabetical order among equals.
pub(crate) fn nearest(name: &[u8], candidates: impl IntoIterator<Item = Vec<u8>>) -> Option<Vec<u8>> {
    // A letter alone is like every other, and nobody mistypes names this long in one place only.
    const NAME_BYTES: std::ops::RangeInclusive<usize> = 2..=64;
    if !NAME_BYTES.contains(&name.len()) {
        return None;
    }
    let allowed = (name.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= allowed)
        .map(|candidate| (distance(name, &candidate), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance(b"", b"abc"), 3);
        assert_eq!(distance(b"send1", b"sendl"), 1);
        assert_eq!(distance(b"ab", b"ba"), 1);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let all = || ["recv1", "send1", "send2"].map(|name| name.as_bytes().to_vec());
        assert_eq!(nearest(b"sendl", all()).as_deref(), Some(&b"send1"[..]));
        assert_eq!(nearest(b"x", all()), None);
    }
}
