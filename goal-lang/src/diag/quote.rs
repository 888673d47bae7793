//! Quotes parts of inputs.

/// Quotes a part of an input for a message: in backquotes, at most 40 bytes, without control
/// characters.
pub fn quote(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&text[..text.len().min(40)]);
    let clean: String =
        shown.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("`{clean}{}`", if text.len() > 40 { "..." } else { "" })
}
