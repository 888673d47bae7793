//! Actions that can never end.

use super::Analysis;
use goal_lang::diag::{Code, Diagnostic, Report};

pub(super) fn check(analysis: &Analysis<'_>, report: &mut Report) {
    let Analysis { whole, trace, places, options } = analysis;
    if trace.is_complete() {
        return;
    }
    let waiting: Vec<_> =
        whole.vertices().filter(|&vertex| trace.has_started(vertex) && !trace.has_ended(vertex)).collect();
    let message = format!(
        "no rank can go on, with messages above {} bytes waiting for their receives and at most {} bytes kept",
        options.eager_limit, options.unexpected_limit
    );
    let mut diagnostic = Diagnostic::new(Code::Deadlock, message);
    for &vertex in waiting.iter().take(8) {
        let text = format!("{} waits for {}", places.name(vertex), places.message(vertex));
        diagnostic = places.label(diagnostic, vertex, text);
    }
    report.push(diagnostic);
}
