//! Starts and ends of actions, and what orders them in every run.

use super::{TooLarge, Vertex, Whole};
use crate::reach::{Graph, Reach};

/// What can happen at an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// It starts: a send hands its message over, a receive is posted.
    Start(Vertex),
    /// It ends.
    End(Vertex),
}

impl Event {
    /// Its node in the graph of events.
    pub fn node(self) -> u32 {
        match self {
            Event::Start(vertex) => 2 * vertex.0,
            Event::End(vertex) => 2 * vertex.0 + 1,
        }
    }
}

/// Whether one thing happens before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    /// In every run.
    Yes,
    /// Nothing makes it so.
    No,
    /// The bound on the work was too small to find out.
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

/// The graph of all events, where messages are matched as `partner` says, and the sends of
/// `implied` start before the receives there end.
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
