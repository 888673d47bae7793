//! Dependency graphs of one rank, or of all with their messages, as text for graphviz.
//!
//! Arrows point from an action to the actions that wait for it. They are solid for `requires` and
//! dashed for `irequires`.

mod dot;
mod messages;
#[cfg(test)]
mod tests;

pub use dot::{dot, dot_of_ranks};

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
