//! Cycles of dependencies.

use rustc_hash::FxHashMap;

use super::check::statement_span;
use super::labels::{RankLabels, label_at, visit_dependencies};
use super::resolver::Resolver;
use crate::diag::{Code, Diagnostic};
use crate::ids::ActionId;
use crate::parse::{Block, quote};
use crate::program::{Body, topological_order};
use crate::source::Span;

/// The number of dependencies of a cycle that a finding shows at most.
const SHOWN_MAX: usize = 16;

impl Resolver<'_> {
    /// Reports a cycle in a body that was made of `blocks`.
    pub(super) fn check_cycle(&mut self, blocks: &[&Block], body: &Body) {
        let Err(cycle) = topological_order(body) else { return };
        let path = cycle.0;
        let sources = self.sources;
        let place = body.debug.actions[path[0].index()];
        self.report_once(Code::Cycle, place, || {
            let spans = dependency_spans(sources, blocks, body, &path);
            let name = |id: ActionId| {
                label_at(sources, body.debug.actions[id.index()])
                    .map_or_else(|| format!("action {id}"), quote)
            };
            let mut round: Vec<String> = path.iter().take(SHOWN_MAX).map(|&id| name(id)).collect();
            if path.len() > SHOWN_MAX {
                round.push("...".to_owned());
            }
            round.push(name(path[0]));
            let message = match path.len() {
                1 => format!("{} waits for itself", name(path[0])),
                n => format!("{n} actions wait for each other: none can ever start"),
            };
            let mut diagnostic = Diagnostic::new(Code::Cycle, message);
            for (i, &id) in path.iter().enumerate().take(SHOWN_MAX) {
                let next = path[(i + 1) % path.len()];
                if let Some(&span) = spans.get(&(id, next)) {
                    diagnostic =
                        diagnostic.label(span, format!("{} waits for {}", name(id), name(next)));
                }
            }
            for &id in path.iter().take(SHOWN_MAX) {
                let span = statement_span(sources, body.debug.actions[id.index()]);
                diagnostic = diagnostic.label(span, format!("{} is here", name(id)));
            }
            if path.len() > 1 {
                diagnostic = diagnostic.note(format!("the path is {}", round.join(" -> ")));
            }
            diagnostic.help("remove one of these dependencies")
        });
    }
}

/// Returns the spans of the statements of each dependency on the path.
fn dependency_spans(
    sources: &crate::source::SourceMap,
    blocks: &[&Block],
    body: &Body,
    path: &[ActionId],
) -> FxHashMap<(ActionId, ActionId), Span> {
    let labels = RankLabels::new(sources, &body.debug.actions);
    let next_of: FxHashMap<ActionId, ActionId> =
        path.iter().enumerate().map(|(i, &id)| (id, path[(i + 1) % path.len()])).collect();
    let mut spans = FxHashMap::default();
    for block in blocks {
        visit_dependencies(sources, block, |waiter, prerequisite, span| {
            if let (Some(waiter), Some(prerequisite)) =
                (labels.find(waiter), labels.find(prerequisite))
                && next_of.get(&waiter) == Some(&prerequisite)
            {
                spans.entry((waiter, prerequisite)).or_insert(span);
            }
        });
    }
    spans
}
