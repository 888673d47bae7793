//! Moments and sizes in units of people.

use std::fmt;

/// Units of time, with their picoseconds.
const UNITS: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Returns the largest unit that is not longer than a time, with its picoseconds.
pub(crate) fn unit_of(ps: u64) -> (&'static str, u64) {
    match ps {
        0 => UNITS[1],
        _ => *UNITS.iter().rev().find(|(_, unit)| *unit <= ps).unwrap_or(&UNITS[0]),
    }
}

/// A time in picoseconds as a decimal with at most 4 digits, and its unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duration(pub(crate) u64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = unit_of(self.0);
        write!(f, "{} {name}", decimal(self.0 as f64 / unit as f64))
    }
}

/// A number of bytes: exact below 1 KiB, then a decimal with at most 4 digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let power = (self.0.checked_ilog2().unwrap_or(0) / 10) as usize;
        let unit = 1_u64 << (10 * power);
        write!(f, "{} {}", decimal(self.0 as f64 / unit as f64), names[power])
    }
}

/// Returns a number with at most 4 digits, without zeros at its end.
pub(crate) fn decimal(value: f64) -> String {
    let places = match value {
        ..10.0 => 3,
        10.0..100.0 => 2,
        100.0..1000.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Returns a text of at most `max` characters.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some(_) => text.chars().take(max - 1).chain(['\u{2026}']).collect(),
        None => text.to_owned(),
    }
}

/// Returns true for characters that no picture has. XML lacks them, a terminal obeys them, or they
/// turn the direction of text around.
pub(crate) fn is_unfit(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}')
}

/// Returns round numbers from 0 to `end`, at most `max` of them.
pub(crate) fn ticks(end: u64, max: u64) -> Vec<u64> {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let step = steps.into_iter().find(|step| end / step < max.max(2)).unwrap_or(end.max(1));
    (0..=end / step).map(|tick| tick * step).collect()
}
