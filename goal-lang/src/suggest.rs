//! Suggestions for misspelt names.

/// The longest name that is compared with others, to bound the time.
const NAME_BYTES_MAX: usize = 64;

/// Returns the candidate that differs least from `name`, if it is similar enough. Of several such
/// candidates, returns the first in alphabetical order.
pub(crate) fn nearest(
    name: &[u8],
    candidates: impl IntoIterator<Item = Vec<u8>>,
) -> Option<Vec<u8>> {
    // Every single letter is similar to every other.
    if name.len() < 2 || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let allowed = (name.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(name, &candidate, allowed)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a`
/// into `b`. Returns `None` if it is above `allowed`.
fn distance(a: &[u8], b: &[u8], allowed: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > allowed || b.len() > NAME_BYTES_MAX + allowed {
        return None;
    }
    const COLUMNS: usize = NAME_BYTES_MAX + 4;
    let mut before = [0; COLUMNS];
    let mut last: [usize; COLUMNS] = std::array::from_fn(|j| j);
    for (i, &x) in a.iter().enumerate() {
        let mut row = [i + 1; COLUMNS];
        let mut least_of_row = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
            least_of_row = least_of_row.min(least);
        }
        if least_of_row > allowed + 1 {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|&distance| distance <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance(b"", b"abc", 3), Some(3));
        assert_eq!(distance(b"send1", b"sendl", 3), Some(1));
        assert_eq!(distance(b"ab", b"ba", 3), Some(1));
        assert_eq!(distance(b"kitten", b"sitting", 3), Some(3));
        assert_eq!(distance(b"kitten", b"sitting", 2), None);
        assert_eq!(distance(b"abcdef", b"uvwxyz", 3), None);
        assert_eq!(distance(&[b'a'; 64], &[b'a'; 67], 3), Some(3));
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let all = || ["recv1", "send1", "send2"].map(|name| name.as_bytes().to_vec());
        assert_eq!(nearest(b"sendl", all()).as_deref(), Some(&b"send1"[..]));
        assert_eq!(nearest(b"x", all()), None);
    }
}
