//! The global communication graph of a program in levels: messages of one level may be under way at
//! the same time.

use crate::pass::Context;
use crate::whole::{Run, Trace, Vertex, Whole};
use goal_lang::{ANY, Action, Payload, Program};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

/// A message between two ranks that can be ordered relative to others of its level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelMessage {
    pub(crate) send: Vertex,
    pub(crate) recv: Vertex,
    /// One more than the largest level of the messages that must come before it. Messages of one
    /// level have no order.
    pub(crate) level: u32,
}

/// Returns the actions of all ranks, and the trace of a run that sends messages of any size
/// eagerly. Returns `None` and adds a note if there are too many actions or the run does not end.
/// Then the caller must leave the program as it is.
pub(crate) fn complete_run<'p>(
    program: &'p Program,
    context: &Context<'_>,
) -> Option<(Whole<'p>, Trace)> {
    let whole = Whole::new(program)
        .inspect_err(|error| context.note(format!("{error}: the program stays as it is")))
        .ok()?;
    let trace = Run::new(&whole).finish(u64::MAX);
    if !trace.is_complete() {
        context.note(
            "the program does not end, however large the messages sent at once: it stays as it is",
        );
        return None;
    }
    Some((whole, trace))
}

/// Returns the messages that may be ordered, with their levels, in the order of their sends.
/// `partner` has, by vertex, the other end of each message that every run matches alike.
///
/// The levels come from a graph in which both ends of a message are one node. Messages whose
/// matches are uncertain share a node: those to a rank with wildcards, or those of a channel. Such
/// messages are left out. So are messages of a rank to itself, and nodes on a cycle, such as
/// messages that must be under way together. Linear in actions, dependencies and messages.
pub(crate) fn free_messages(whole: &Whole<'_>, partner: &[Vertex]) -> Vec<LevelMessage> {
    let mut graph: DiGraph<bool, (), u32> = DiGraph::with_capacity(whole.len(), 0);
    let node_of = nodes(whole, partner, &mut graph);
    for vertex in whole.vertices() {
        let from = node_of[vertex.index()];
        for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
            let to = node_of[waiter.index()];
            if from != to {
                graph.add_edge(from, to, ());
            }
        }
    }
    let components = kosaraju_scc(&graph);
    let mut component_of = vec![0; graph.node_count()];
    for (at, component) in components.iter().enumerate() {
        component.iter().for_each(|node| component_of[node.index()] = at);
    }
    // The components come in reverse topological order. `levels` has, by component, the number of
    // messages on the longest path to it.
    let mut levels = vec![0u32; components.len()];
    for (at, component) in components.iter().enumerate().rev() {
        levels[at] += u32::from(component.iter().any(|&node| graph[node]));
        for next in component.iter().flat_map(|&node| graph.neighbors(node)) {
            let next = component_of[next.index()];
            if next != at {
                levels[next] = levels[next].max(levels[at]);
            }
        }
    }
    let sends =
        whole.vertices().filter(|&vertex| matches!(whole.action(vertex), Action::Send { .. }));
    let free = sends.filter_map(|send| {
        let recv = partner[send.index()].some()?;
        let component = component_of[node_of[send.index()].index()];
        let is_free = components[component].len() == 1 && whole.rank(send) != whole.rank(recv);
        is_free.then(|| LevelMessage { send, recv, level: levels[component] })
    });
    free.collect()
}

/// Returns the pairs of a source and a destination between which receives may store patterns. The
/// bytes of a pattern depend on the number of messages before it.
pub(crate) fn numbered_pairs(whole: &Whole<'_>, partner: &[Vertex]) -> FxHashSet<(u32, u32)> {
    let mut pairs = FxHashSet::default();
    for vertex in whole.vertices() {
        if let Action::Send { payload: Payload::Pattern { .. }, to, .. } = *whole.action(vertex) {
            let recv = partner[vertex.index()].some().map(|recv| whole.action(recv));
            if !matches!(recv, Some(Action::Recv { payload: Payload::Pattern { .. }, .. })) {
                pairs.insert((whole.rank(vertex), to));
            }
        }
    }
    pairs
}

/// Adds the nodes to `graph`. Returns, by vertex, its node. The weight of a node is true if the
/// node stands for messages.
fn nodes(
    whole: &Whole<'_>,
    partner: &[Vertex],
    graph: &mut DiGraph<bool, (), u32>,
) -> Vec<NodeIndex> {
    let mut is_wild = vec![false; whole.program.ranks.len()];
    for vertex in whole.vertices() {
        if let Action::Recv { from, tag, .. } = *whole.action(vertex) {
            is_wild[whole.rank(vertex) as usize] |= from == ANY || tag == ANY;
        }
    }
    let mut node_of = vec![NodeIndex::end(); whole.len()];
    let mut open: FxHashMap<(u32, u32, u32), NodeIndex> = FxHashMap::default();
    for vertex in whole.vertices() {
        let (destination, source, tag) = match *whole.action(vertex) {
            Action::Send { to, tag, .. } => (to, whole.rank(vertex), tag),
            Action::Recv { from, tag, .. } => (whole.rank(vertex), from, tag),
            _ => {
                node_of[vertex.index()] = graph.add_node(false);
                continue;
            }
        };
        node_of[vertex.index()] = match partner[vertex.index()].some() {
            Some(partner) if partner < vertex => node_of[partner.index()],
            Some(_) => graph.add_node(true),
            None if is_wild[destination as usize] => {
                *open.entry((destination, ANY, ANY)).or_insert_with(|| graph.add_node(true))
            }
            None => *open.entry((destination, source, tag)).or_insert_with(|| graph.add_node(true)),
        };
    }
    node_of
}
