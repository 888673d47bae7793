//! Classes of actions of a body with the same prerequisites.

use crate::whole::{Vertex, Whole};
use goal_lang::{ActionId, Body, Program};
use rustc_hash::FxHashMap;

/// By body and action, a number. Actions with the same number wait for the ends and the starts of
/// the same actions.
pub(super) struct Readiness(Vec<Option<Vec<u32>>>);

impl Readiness {
    pub(super) fn new(program: &Program) -> Self {
        Self(vec![None; program.bodies.len()])
    }

    /// The number of an action's class.
    pub(super) fn of(&mut self, whole: &Whole<'_>, vertex: Vertex) -> u32 {
        let body = whole.program.ranks[whole.rank(vertex) as usize].body;
        let numbers = self.0[body.index()].get_or_insert_with(|| numbers(whole.body(vertex)));
        numbers[whole.id(vertex).index()]
    }
}

fn numbers(body: &Body) -> Vec<u32> {
    let (ends, starts) =
        (body.requires.transposed(body.len()), body.irequires.transposed(body.len()));
    let mut known: FxHashMap<(&[ActionId], &[ActionId]), u32> = FxHashMap::default();
    let number = |id: ActionId| {
        let next = known.len() as u32;
        *known.entry((ends.row(id), starts.row(id))).or_insert(next)
    };
    body.ids().map(number).collect()
}
