//! Fixes that remove a race: insertions into the source text that add a dependency.

use super::found::Wait;
use crate::places::Places;
use goal_lang::Position;
use goal_lang::diag::{Fix, Insertion, dependency, line_after, spelling};
use goal_opt::whole::{Vertex, Whole};
use rustc_hash::FxHashMap;

/// Makes fixes that add a dependency. An action without a label gets a new label, which is the same
/// in all fixes.
pub(super) struct Fixes<'a> {
    whole: &'a Whole<'a>,
    places: &'a Places<'a>,
    /// By place of a statement, its new label.
    labels: FxHashMap<Position, String>,
    /// The number of the next new label: `l1`, `l2`, ... Computed when a label is first needed.
    next: Option<u64>,
}

impl<'a> Fixes<'a> {
    pub(super) fn new(whole: &'a Whole<'a>, places: &'a Places<'a>) -> Self {
        Self { whole, places, labels: FxHashMap::default(), next: None }
    }

    /// Returns the fix that adds the dependency `wait` between two actions of a rank; `None`
    /// without the source text.
    pub(super) fn fix(&mut self, rank: u32, wait: Wait) -> Option<Fix> {
        let [waiter, prerequisite] =
            [wait.waiter, wait.prerequisite].map(|id| self.whole.vertex(rank, id));
        let mut insertions = Vec::new();
        let waiter_name = self.label(waiter, &mut insertions)?;
        let prerequisite_name = self.label(prerequisite, &mut insertions)?;
        let start = self.places.position(waiter)?;
        let source = self.places.source(start)?;
        let dependency = dependency(spelling(source), &waiter_name, &prerequisite_name);
        insertions.extend(line_after(source, start, &dependency));
        let title = format!("let `{waiter_name}` wait for the end of `{prerequisite_name}`");
        Some(Fix { title, insertions })
    }

    /// Returns the label of an action. If the action has no label, adds the insertion of a new one.
    /// Returns `None` if the place of the action is not known.
    fn label(&mut self, vertex: Vertex, insertions: &mut Vec<Insertion>) -> Option<String> {
        if let Some(label) = self.whole.body(vertex).debug.labels.get(self.whole.id(vertex)) {
            return Some(label.to_owned());
        }
        let at = self.places.position(vertex)?;
        let label = match self.labels.get(&at) {
            Some(label) => label.clone(),
            None => {
                let number = self.next.unwrap_or_else(|| first_free(self.whole));
                self.next = Some(number + 1);
                self.labels.entry(at).or_insert(format!("l{number}")).clone()
            }
        };
        insertions.push(Insertion { at, text: format!("{label}: ") });
        Some(label)
    }
}

/// Returns the first free n for a label `ln`: one more than the highest n of such a label in the
/// program.
fn first_free(whole: &Whole<'_>) -> u64 {
    let labels =
        whole.program.bodies.iter().flat_map(|body| body.ids().map(|id| body.debug.labels.get(id)));
    let numbers = labels.filter_map(|label| label?.strip_prefix('l')?.parse::<u64>().ok());
    numbers.max().map_or(1, |highest| highest.saturating_add(1))
}
