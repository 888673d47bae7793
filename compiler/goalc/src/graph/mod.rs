//! Dependency graphs as pictures, of one rank or of all with their messages: text for graphviz, or
//! SVG laid out here.
//!
//! Arrows point from an action to the actions that wait for it. They are solid for `requires` and
//! dashed for `irequires`. The SVG is a layered drawing after Sugiyama, Tagawa and Toda (1981),
//! from left to right: `layers` makes columns, `order` the order within each, `place` the heights.

mod dot;
mod lanes;
#[cfg(test)]
mod lanes_tests;
mod layers;
mod messages;
mod order;
mod place;
mod svg;
#[cfg(test)]
mod tests;

pub use dot::{dot, dot_of_ranks};
pub use lanes::svg_of_ranks;
pub use svg::{SvgError, svg};

use goal_lang::{ActionId, ActionKind, Body, Style, statement};

/// Most characters of an action's text in a picture.
const TEXT_CHARS_MAX: usize = 48;

/// Returns the text in an action's box: its label and its statement, shortened if it is long.
fn text(body: &Body, id: ActionId) -> String {
    let statement = statement(body, body.action(id), Style::Paper2009);
    let text = match body.debug.labels.get(id) {
        Some(label) => format!("{label}: {statement}"),
        None => statement,
    };
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some(_) => text.chars().take(TEXT_CHARS_MAX - 3).chain("...".chars()).collect(),
        None => text,
    }
}

/// Escapes text between tags. A NISA file's labels may be any text, and XML has no control
/// characters.
pub fn escaped_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Returns the colour of the boxes of a kind of actions.
fn colour(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Send => "#fde0c5",
        ActionKind::Recv => "#d3e5f8",
        ActionKind::Calc => "#e8e8e8",
        ActionKind::Exec => "#d9efd3",
        ActionKind::User => "#e6daf3",
        ActionKind::Wtime => "#fbf3c0",
        ActionKind::Nop | ActionKind::Marker => "#ffffff",
    }
}
