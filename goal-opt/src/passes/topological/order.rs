//! Which messages of a rank have to keep their order, although no dependency says so.
//!
//! A runtime starts what is ready in the layout's order. Where dependencies leave the order of two messages open that could
//! be taken for each other, the layout decides between them in practice, and must go on to decide the same.

use goal_lang::{ANY, Action, Body, Payload, Program};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// By body and action, the message before it that must not come after it; `u32::MAX` for none.
pub(super) struct Channels {
    bodies: Vec<Vec<u32>>,
    /// By body, whether it receives with wildcards.
    wild: Vec<bool>,
}

impl Channels {
    /// Looks at every action once. The bodies must be in topological order.
    pub(super) fn new(program: &Program) -> Self {
        let views: Vec<View> = program.bodies.par_iter().map(View::new).collect();
        let bodies = program.bodies.par_iter().zip(&views).map(|(body, view)| {
            let mut last = FxHashMap::default();
            let before = |(index, action): (usize, &Action)| {
                let key = match *action {
                    Action::Send { to, tag, .. } => {
                        let theirs = &views[program.ranks[to as usize].body.index()];
                        let mixed = theirs.any_tag || view.sends_patterns && theirs.stores;
                        Key { is_send: true, peer: to, tag: if mixed { ANY } else { tag } }
                    }
                    Action::Recv { from, tag, .. } => Key {
                        is_send: false,
                        peer: if view.any_source { ANY } else { from },
                        tag: if view.any_source || view.any_tag { ANY } else { tag },
                    },
                    _ => return u32::MAX,
                };
                last.insert(key, index as u32).unwrap_or(u32::MAX)
            };
            body.actions.iter().enumerate().map(before).collect()
        });
        let wild = views.iter().map(|view| view.any_source || view.any_tag).collect();
        Self { bodies: bodies.collect(), wild }
    }

    /// For each action of a body the message that has to stay before it.
    pub(super) fn of_body(&self, body: usize) -> &[u32] {
        &self.bodies[body]
    }

    /// Whether a body receives with wildcards, so that its layout alone does not tell what it takes.
    pub(super) fn is_wild(&self, body: usize) -> bool {
        self.wild[body]
    }
}

/// Messages of a rank with the same key keep their order.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    is_send: bool,
    peer: u32,
    tag: u32,
}

/// What a rank sees of the order of messages.
struct View {
    /// It receives from any source: what its receives take depends on the order of all of them.
    any_source: bool,
    /// It receives with any tag: the order of a source's messages with different tags shows.
    any_tag: bool,
    /// It stores messages: where these are patterns, their bytes depend on their number among all from their source.
    stores: bool,
    sends_patterns: bool,
}

impl View {
    fn new(body: &Body) -> Self {
        let mut view = Self { any_source: false, any_tag: false, stores: false, sends_patterns: false };
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
}
