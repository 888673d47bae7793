//! The order of actions within a rank, the same for all ranks with the same body.

use super::events::Ordered;
use crate::reach::{Graph, Reach};
use goal_lang::{ActionId, Body};

/// The order of the starts and ends of a body's actions that follows from its dependencies alone.
pub struct BodyOrder<'b> {
    body: &'b Body,
    /// Computed when first needed; the inner `None` means that the body is too large.
    reach: Option<Option<Reach>>,
}

impl<'b> BodyOrder<'b> {
    /// The order of a body, with nothing computed yet.
    pub fn new(body: &'b Body) -> Self {
        Self { body, reach: None }
    }

    /// Decides if `first` ends before `second` starts.
    pub fn ends_before(&mut self, first: ActionId, second: ActionId) -> Ordered {
        if self.body.requires.row(first).binary_search(&second).is_ok() {
            return Ordered::Yes;
        }
        self.reaches(2 * first.0 + 1, 2 * second.0)
    }

    /// Decides if `first` starts before `second` starts. An action starts before itself.
    pub fn starts_before(&mut self, first: ActionId, second: ActionId) -> Ordered {
        self.reaches(2 * first.0, 2 * second.0)
    }

    /// Returns a number that is smaller than the number of every action that starts after this one.
    /// Returns 0 if the body is too large.
    pub fn position(&mut self, id: ActionId) -> u32 {
        self.reach().map_or(0, |reach| reach.position(2 * id.0))
    }

    fn reaches(&mut self, from: u32, to: u32) -> Ordered {
        self.reach().and_then(|reach| reach.reaches(from, to)).into()
    }

    fn reach(&mut self) -> Option<&mut Reach> {
        let body = self.body;
        self.reach.get_or_insert_with(|| Some(Reach::new(graph(body)?))).as_mut()
    }
}

/// The graph of events: the start and the end of each action, with numbers 2i and 2i + 1.
fn graph(body: &Body) -> Option<Graph> {
    if body.len() >= (u32::MAX / 2) as usize {
        return None;
    }
    Graph::new(2 * body.len(), |edge| {
        for id in body.ids() {
            edge(2 * id.0, 2 * id.0 + 1);
            body.requires.row(id).iter().for_each(|waiter| edge(2 * id.0 + 1, 2 * waiter.0));
            body.irequires.row(id).iter().for_each(|waiter| edge(2 * id.0, 2 * waiter.0));
        }
    })
}
