//! Finds messages of a rank that must keep their order although no dependency orders them.
//!
//! A runtime starts ready actions in the order of the layout. If dependencies do not order two
//! messages that could be taken for each other, the layout decides between them in practice, and
//! must go on to decide in the same way.

use super::ends::{End, Ends};
use goal_lang::{ANY, Action, Body, Payload, Program};

/// Calls `visit(body, before, after)` for pairs of messages of a body: `before` must stay before
/// `after`. The bodies must be in topological order. Linear but for sorting.
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

/// The properties of a rank's receives that make the order of messages observable.
pub(super) struct View {
    /// True if the rank receives from any source: then its receives depend on the order of all
    /// messages.
    any_source: bool,
    /// True if the rank receives with any tag: then its receives depend on the order of a source's
    /// messages with different tags.
    any_tag: bool,
    /// True if the rank stores messages: the bytes of a pattern depend on its number among all
    /// messages from its source.
    stores: bool,
    sends_patterns: bool,
}

impl View {
    /// Examines every action of a body.
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

    /// Returns true if the rank receives with wildcards, so that its layout alone does not decide
    /// which messages it takes.
    pub(super) fn is_wild(&self) -> bool {
        self.any_source || self.any_tag
    }
}
