//! Events, the starts and ends of actions, and the graph of their order.

use super::vertices::{TooLarge, Vertex, Whole};
use crate::reach::{Graph, Reach};

/// The start or the end of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The action starts: a send hands its message over, a receive is posted.
    Start(Vertex),
    /// The action ends.
    End(Vertex),
}

impl Event {
    /// The node of the event in the graph of events.
    pub fn node(self) -> u32 {
        match self {
            Event::Start(vertex) => 2 * vertex.0,
            Event::End(vertex) => 2 * vertex.0 + 1,
        }
    }
}

/// The answer to the question if one event happens before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    /// In every run.
    Yes,
    /// Not in every run.
    No,
    /// The bound on the work was reached.
    Unknown,
}

impl From<Option<bool>> for Ordered {
    fn from(answer: Option<bool>) -> Self {
        match answer {
            Some(true) => Ordered::Yes,
            Some(false) => Ordered::No,
            None => Ordered::Unknown,
        }
    }
}

/// Makes the graph of all events. `partner` has, by vertex, the other end of each message that
/// orders events. In a pair of `implied`, the send starts before the receive ends.
pub fn event_graph(
    whole: &Whole<'_>,
    partner: &[Vertex],
    implied: &[[Vertex; 2]],
) -> Result<Reach, TooLarge> {
    let too_large = || TooLarge(whole.len() as u64);
    if whole.len() >= (u32::MAX / 2) as usize {
        return Err(too_large());
    }
    let graph = Graph::new(2 * whole.len(), |edge| {
        for vertex in whole.vertices() {
            let (start, end) = (Event::Start(vertex).node(), Event::End(vertex).node());
            edge(start, end);
            whole.requires(vertex).for_each(|waiter| edge(end, Event::Start(waiter).node()));
            whole.irequires(vertex).for_each(|waiter| edge(start, Event::Start(waiter).node()));
            if let Some(recv) = partner[vertex.index()].some()
                && !whole.is_recv(vertex)
            {
                edge(start, Event::End(recv).node());
            }
        }
        for &[send, recv] in implied {
            edge(Event::Start(send).node(), Event::End(recv).node());
        }
    });
    Ok(Reach::new(graph.ok_or_else(too_large)?))
}
