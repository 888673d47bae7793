//! Makes texts of ranks and of other hosts safe for a terminal.
//!
//! Threat: a rank or another host sends a text that a terminal obeys. The terminal moves the cursor
//! over other lines, sets its title, or answers as if the user had typed. Characters that control
//! the direction of text make a line read as another one.

use serde::Serialize;
use std::borrow::Cow;

/// Returns a text with escapes for control characters except line feeds and tabs, and for
/// characters that change the direction of text.
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

/// Returns a report as JSON in one line. JSON's own escapes stand for those characters.
pub fn json(report: &impl Serialize) -> String {
    let text = serde_json::to_string(report).expect("numbers and texts");
    let mut all = String::with_capacity(text.len());
    for char in text.chars() {
        match is_obeyed(char) {
            // Each of these characters is one code unit of JSON's escapes.
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
