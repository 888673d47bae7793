//! The order within a rank, which all ranks with the same body share.

use super::Ordered;
use crate::reach::{Graph, Reach};
use goal_lang::{ActionId, Body};

/// The order of the starts and ends of a body's actions by its dependencies alone.
pub struct BodyOrder<'b> {
    body: &'b Body,
    /// Made for the first question that needs it; `None` inside where the body is too large.
    reach: Option<Option<Reach>>,
}

impl<'b> BodyOrder<'b> {
    /// The order of a body, with nothing computed yet.
    pub fn new(body: &'b Body) -> Self {
        Self { body, reach: None }
    }

    /// Whether `first` ends before `second` starts.
    pub fn ends_before(&mut self, first: ActionId, second: ActionId) -> Ordered {
        if self.body.requires.row(first).binary_search(&second).is_ok() {
            return Ordered::Yes;
        }
        self.reaches(2 * first.0 + 1, 2 * second.0)
    }

    /// Whether `first` starts before `second` starts, or is the same.
    pub fn starts_before(&mut self, first: ActionId, second: ActionId) -> Ordered {
        self.reaches(2 * first.0, 2 * second.0)
    }

    /// Ascends from each action to those that start after it.
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

/// Start and end of each action, one behind the other.
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
