//! Which messages of a rank have to keep their order, although no dependency says so.
//!
//! A runtime starts what is ready in the layout's order. Where dependencies leave the order of two
//! messages open that could be taken for each other, the layout decides between them in practice,
//! and must go on to decide the same.

use super::ends::{End, Ends};
use goal_lang::{ANY, Action, Body, Payload, Program};

/// Calls `visit` with each message and the one before it that must not come after it: the body and
/// both actions. The bodies must be in topological order. Linear but for sorting.
pub(super) fn visit_ordered(
    program: &Program,
    views: &[View],
    [sends, receives]: [&Ends; 2],
    mut visit: impl FnMut(usize, u32, u32),
) {
    let mut keyed: Vec<End> = Vec::new();
    for (body, view) in views.iter().enumerate() {
        let mut visit_equal = |keyed: &mut Vec<End>| {
            keyed.sort_unstable();
            for pair in keyed.windows(2).filter(|pair| pair[0].channel() == pair[1].channel()) {
                visit(body, pair[0].action, pair[1].action);
            }
            keyed.clear();
        };
        keyed.extend(sends.of_body(body).iter().map(|&end| {
            let theirs = &views[program.ranks[end.peer as usize].body.index()];
            let is_mixed = theirs.any_tag || view.sends_patterns && theirs.stores;
            End { tag: if is_mixed { ANY } else { end.tag }, ..end }
        }));
        visit_equal(&mut keyed);
        keyed.extend(receives.of_body(body).iter().map(|&end| End {
            peer: if view.any_source { ANY } else { end.peer },
            tag: if view.any_source || view.any_tag { ANY } else { end.tag },
            ..end
        }));
        visit_equal(&mut keyed);
    }
}

/// What a rank sees of the order of messages.
pub(super) struct View {
    /// It receives from any source: what its receives take depends on the order of all of them.
    any_source: bool,
    /// It receives with any tag: the order of a source's messages with different tags shows.
    any_tag: bool,
    /// It stores messages: where these are patterns, their bytes depend on their number among all
    /// from their source.
    stores: bool,
    sends_patterns: bool,
}

impl View {
    /// Looks at every action.
    pub(super) fn new(body: &Body) -> Self {
        let mut view =
            Self { any_source: false, any_tag: false, stores: false, sends_patterns: false };
        for action in &body.actions {
            match *action {
                Action::Send { payload, .. } => {
                    view.sends_patterns |= matches!(payload, Payload::Pattern { .. });
                }
                Action::Recv { payload, from, tag, .. } => {
                    view.any_source |= from == ANY;
                    view.any_tag |= tag == ANY;
                    view.stores |= !matches!(payload, Payload::Pattern { .. });
                }
                _ => {}
            }
        }
        view
    }

    /// Whether the rank receives with wildcards, so that its layout alone does not tell what it
    /// takes.
    pub(super) fn is_wild(&self) -> bool {
        self.any_source || self.any_tag
    }
}
