//! The matching of messages and receives, for graphs.

use goal_lang::{ANY, Action};
use goal_opt::whole::{Run, Vertex, Whole};
use std::collections::{HashMap, VecDeque};

/// Returns the messages of a program, each as its send and its receive. Actions that an abstract
/// run does not reach, as in a deadlock, are paired in the order of the text.
pub(super) fn messages(whole: &Whole<'_>) -> Vec<(Vertex, Vertex)> {
    let trace = Run::new(whole).finish(u64::MAX);
    let partner = |vertex: Vertex| trace.partner[vertex.index()].some();
    let mut left: HashMap<(u32, u32, u32), VecDeque<Vertex>> = HashMap::new();
    for vertex in whole.vertices().filter(|&vertex| partner(vertex).is_none()) {
        if let &Action::Send { to, tag, .. } = whole.action(vertex) {
            left.entry((whole.rank(vertex), to, tag)).or_default().push_back(vertex);
        }
    }
    let mut messages = Vec::new();
    for vertex in whole.vertices() {
        let &Action::Recv { from, tag, .. } = whole.action(vertex) else { continue };
        let send = partner(vertex).or_else(|| match from == ANY || tag == ANY {
            true => None,
            false => left.get_mut(&(from, whole.rank(vertex), tag))?.pop_front(),
        });
        messages.extend(send.map(|send| (send, vertex)));
    }
    messages
}
