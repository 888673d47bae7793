//! Checks for bytes that are written as one datatype and, after a message, read as another.
//!
//! The datatypes of all ranks' bytes are followed through the abstract run. Copies and messages
//! move datatypes along with the bytes. Other operations read and write bytes as elements of their
//! datatype. Bytes that a pattern or a user function stores have no datatype.

mod report;
mod shadow;
#[cfg(test)]
mod tests;
mod trail;

use crate::analysis::Analysis;
use crate::order::SharedOrder;
use goal_lang::diag::Report;
use goal_lang::{Action, Datatype, Function, Op};
use goal_opt::whole::Whole;
use shadow::Shadow;
use std::collections::BTreeSet;

pub(super) fn check(analysis: &Analysis<'_>, order: &mut SharedOrder<'_, '_>, report: &mut Report) {
    let Analysis { whole, trace, .. } = *analysis;
    if datatypes(whole).len() < 2 {
        return;
    }
    let partners = order.partners();
    let mut shadow = Shadow::new(whole, &partners, analysis.options.effort);
    let is_whole = trace.order.iter().all(|&vertex| shadow.step(vertex));
    let (mismatches, trail) = shadow.found();
    report::add_findings(analysis, &mismatches, &trail, !is_whole, report);
}

/// Returns all datatypes as which `init` and the actions of a program write or read elements. If
/// there is only one, no two can differ.
fn datatypes(whole: &Whole<'_>) -> BTreeSet<Datatype> {
    let mut datatypes = BTreeSet::new();
    for body in &whole.program.bodies {
        for action in &body.actions {
            let local = body.local_operation(action).map(|local| local.function);
            datatypes.extend(match (action, local, body.reduction(action)) {
                (Action::Wtime { .. }, ..) => Some(Datatype::Float64),
                (_, Some(Function::Predefined(op, datatype)), _) if op != Op::Copy => {
                    Some(datatype)
                }
                (.., Some(reduction)) => Some(reduction.datatype),
                _ => None,
            });
        }
    }
    datatypes.extend(
        whole.program.images.iter().flat_map(|image| &image.init).map(|datum| datum.datatype),
    );
    datatypes
}
