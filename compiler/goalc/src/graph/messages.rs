//! The matching of messages and receives, for pictures.

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

/// Returns the column of every action of all ranks: to the right of all actions that it waits for
/// and, for a receive, of its send. If a send waits for its own receive to start, the dependency
/// decides, and the message runs back.
pub(super) fn columns(whole: &Whole<'_>, messages: &[(Vertex, Vertex)]) -> Vec<usize> {
    let mut columns = vec![0; whole.len()];
    let mut missing = vec![0u32; whole.len()];
    let mut awaited: HashMap<Vertex, Vertex> = HashMap::new();
    let mut takers: HashMap<Vertex, Vertex> = HashMap::new();
    for &(send, receive) in messages {
        awaited.insert(receive, send);
        takers.insert(send, receive);
    }
    for vertex in whole.vertices() {
        for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
            missing[waiter.index()] += 1;
        }
    }
    let is_free = |missing: &[u32], vertex: Vertex| missing[vertex.index()] == 0;
    let mut ready = VecDeque::new();
    // Receives that wait only for their message.
    let mut waiting = VecDeque::new();
    let mut done = vec![false; whole.len()];
    for vertex in whole.vertices().filter(|&vertex| is_free(&missing, vertex)) {
        if awaited.contains_key(&vertex) {
            waiting.push_back(vertex)
        } else {
            ready.push_back(vertex)
        }
    }
    loop {
        let next = ready.pop_front().or_else(|| {
            // The message of this receive waits for the receive itself.
            waiting.pop_front()
        });
        let Some(vertex) = next else { break };
        if std::mem::replace(&mut done[vertex.index()], true) {
            continue;
        }
        let behind = columns[vertex.index()] + 1;
        for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
            columns[waiter.index()] = columns[waiter.index()].max(behind);
            missing[waiter.index()] -= 1;
            if is_free(&missing, waiter) {
                match awaited.get(&waiter) {
                    Some(send) if !done[send.index()] => waiting.push_back(waiter),
                    _ => ready.push_back(waiter),
                }
            }
        }
        if let Some(&receive) = takers.get(&vertex)
            && !done[receive.index()]
        {
            columns[receive.index()] = columns[receive.index()].max(behind);
            if is_free(&missing, receive) {
                ready.push_back(receive);
            }
        }
    }
    columns
}
