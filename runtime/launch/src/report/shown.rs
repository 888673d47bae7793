//! Makes texts of ranks and of other hosts safe to write to a terminal.
//!
//! Threat: a rank or another host sends a text with control sequences. A terminal would obey them:
//! move the cursor over other lines, set its title, or answer as if the user had typed. Characters
//! that change the direction of text would make a line read differently.

use serde::Serialize;
use std::borrow::Cow;

/// Returns a text in which control characters, except line feeds and tabs, are escaped. Characters
/// that change the direction of text are escaped too.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return text.into();
    }
    let mut all = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match is_obeyed(char) {
            true => all.extend(char.escape_default()),
            false => all.push(char),
        }
    }
    all.into()
}

/// Returns a report as JSON in one line. It escapes the characters that [`shown`] escapes, as JSON
/// does.
pub fn json(report: &impl Serialize) -> String {
    let text = serde_json::to_string(report).expect("numbers and texts");
    let mut all = String::with_capacity(text.len());
    for char in text.chars() {
        match is_obeyed(char) {
            // Each of these characters fits into one escape of JSON.
            true => all.push_str(&format!("\\u{:04x}", u32::from(char))),
            false => all.push(char),
        }
    }
    all
}

fn is_obeyed(char: char) -> bool {
    const EMBEDDINGS: std::ops::RangeInclusive<char> = '\u{202a}'..='\u{202e}';
    const ISOLATES: std::ops::RangeInclusive<char> = '\u{2066}'..='\u{2069}';
    let is_control = char.is_control() && char != '\n' && char != '\t';
    is_control || EMBEDDINGS.contains(&char) || ISOLATES.contains(&char)
}

#[cfg(test)]
mod tests {
    use super::{json, shown};

    #[test]
    fn a_terminal_obeys_nothing_in_a_text() {
        for plain in ["", "rank 1: größe\n\tof 3", "1 µs → 2"] {
            assert!(matches!(shown(plain), std::borrow::Cow::Borrowed(same) if same == plain));
        }
        assert_eq!(shown("a\u{1b}[2Jb\r\u{7}\0"), "a\\u{1b}[2Jb\\r\\u{7}\\u{0}");
        // The text has a control sequence introducer of one byte, and a part that would be read
        // backwards.
        assert_eq!(shown("\u{9b}2J\u{202e}x\u{2066}"), "\\u{9b}2J\\u{202e}x\\u{2066}");
    }

    #[test]
    fn json_stays_json() {
        let texts = ["a\u{7f}b\u{9b}\u{202e}\u{1b}\n"];
        let shown = json(&texts);
        assert!(!shown.chars().any(super::is_obeyed), "{shown}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), texts);
    }
}
