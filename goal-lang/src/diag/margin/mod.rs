//! The margin of a drawn report. Ariadne counts the lines of an excerpt from 1; this module puts
//! the file's line numbers there.

#[cfg(test)]
mod tests;

use std::fmt::Write;

/// Returns `name` with the number of its source as a mark. From the mark, [`renumber`] knows which
/// source the lines below the name belong to.
pub(super) fn mark(source: usize, name: &str) -> String {
    format!("\u{1}{source}\u{1}{name}")
}

/// Returns the drawn report with the file's line numbers in the margin. `lines_before` holds the
/// number of lines before each source's excerpt. The margin becomes wide enough for the numbers,
/// and names lose their marks.
pub(super) fn renumber(drawn: &str, lines_before: &[usize]) -> String {
    let mut offset = 0;
    let (mut highest, mut width) = (0, 0);
    for line in drawn.lines() {
        offset = marked(line)
            .and_then(|(_, source, _)| lines_before.get(source).copied())
            .unwrap_or(offset);
        if let Some((before, number, _)) = numbered(line) {
            highest = highest.max(number + offset);
            width = width.max(before.chars().filter(|&c| c == ' ').count() - 1 + digits(number));
        }
    }
    let wider = digits(highest).saturating_sub(width);
    let mut renumbered = String::with_capacity(drawn.len() + 16);
    for (i, line) in drawn.lines().enumerate() {
        if i == 0 {
            renumbered.push_str(line);
        } else if let Some((before, number, after)) = numbered(line) {
            let pad = digits(number) + wider;
            // The first blank always stays, because the colour code of the margin follows it.
            let number = number + offset;
            let blanks =
                (before.chars().filter(|&c| c == ' ').count() + pad).saturating_sub(digits(number));
            let colour = before.trim_start_matches(' ').trim_end_matches(' ');
            let _ = write!(renumbered, " {colour}{:1$}{number}{after}", "", blanks - 1);
        } else {
            let fill =
                if line.trim_start_matches(escape(line)).starts_with('─') { "─" } else { " " };
            let (start, rest) = line.split_at(escape(line).len());
            renumbered.push_str(start);
            renumbered.push_str(&fill.repeat(wider));
            match marked(rest) {
                Some((before, source, after)) => {
                    offset = lines_before.get(source).copied().unwrap_or(offset);
                    renumbered.push_str(before);
                    renumbered.push_str(after);
                }
                None => renumbered.push_str(rest),
            }
        }
        renumbered.push('\n');
    }
    renumbered
}

/// Splits a line into the text before a mark, the mark's number, and the text behind it.
fn marked(line: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = line.split_once('\u{1}')?;
    let (source, after) = rest.split_once('\u{1}')?;
    Some((before, source.parse().ok()?, after))
}

/// Splits a drawn line into the margin before its number, the number, and the text behind it.
fn numbered(line: &str) -> Option<(&str, usize, &str)> {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let margin = blanks + escape(&line[blanks..]).len();
    let margin = line.len() - line[margin..].trim_start_matches(' ').len();
    let rest = &line[margin..];
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let number = rest[..end].parse().ok()?;
    (blanks > 0 && rest[end..].starts_with(" │")).then(|| (&line[..margin], number, &rest[end..]))
}

/// Returns the escape sequence for a colour that a text begins with, or an empty text.
fn escape(text: &str) -> &str {
    match text.strip_prefix("\u{1b}[").and_then(|rest| rest.find('m')) {
        Some(end) => &text[..end + 3],
        None => "",
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}
