//! Checks the accesses of a rank to its memories: races, reads of scratch memory that nothing
//! wrote, and received bytes that are overwritten unread.
//!
//! Only accesses to the same bytes need an order (paper II, Theorem 2), so only these are compared.
//! Most bodies are decided by the dependencies within a rank. If these leave a pair unordered, each
//! rank with that body is checked again, with the order that messages add between ranks.

mod fix;
mod found;
mod report;
mod stuck;
mod sweep;
#[cfg(test)]
mod tests;

use crate::analysis::Analysis;
use crate::order::{Order, SharedOrder};
use found::{Found, Wait};
use goal_lang::diag::Report;
use goal_lang::{ActionId, Body, BodyId, Space};
use goal_opt::first_to_last;
use goal_opt::whole::{BodyOrder, Event, Ordered, Vertex, Whole};
use sweep::{Bytes, Done, Fault, Faults, Sweep};

/// Reports races, reads of undefined scratch memory, and lost data.
pub(super) fn check(analysis: &Analysis<'_>, order: &mut SharedOrder<'_, '_>, report: &mut Report) {
    let found = find(analysis, order);
    report::add_findings(analysis, &found, report);
}

/// Finds the faults of all bodies.
fn find(analysis: &Analysis<'_>, order: &mut SharedOrder<'_, '_>) -> Found {
    let program = analysis.whole.program;
    let mut ranks_of: Vec<Vec<u32>> = vec![Vec::new(); program.bodies.len()];
    for rank in 0..program.num_ranks() {
        ranks_of[program.ranks[rank as usize].body.index()].push(rank);
    }
    let mut found = Found::default();
    let mut open = Vec::new();
    for (index, (body, ranks)) in program.bodies.iter().zip(&ranks_of).enumerate() {
        if ranks.is_empty() || !is_concerned(body) {
            continue;
        }
        let mut order = BodyOrder::new(body);
        let ordered = |first, second, done| match done {
            Done::AtStart => order.starts_before(first, second),
            Done::AtEnd => order.ends_before(first, second),
        };
        let faults = Sweep::new(body, ordered)
            .with_effort(analysis.options.effort)
            .run(first_to_last(body), true);
        if faults.is_open() {
            open.push(index);
        } else {
            found.add(BodyId::new(index), faults, ranks, |_, _, _| None, &[]);
        }
    }
    if !open.is_empty() {
        find_across_ranks(analysis, order, &open, &ranks_of, &mut found);
    }
    if !analysis.trace.is_complete() {
        for index in open {
            stuck::find(analysis, BodyId::new(index), &ranks_of[index], &mut found);
        }
    }
    found
}

/// Returns true if an action of a body writes memory or reads scratch memory. Other bodies have no
/// faults.
fn is_concerned(body: &Body) -> bool {
    body.actions.iter().any(|action| {
        let mut concerned = false;
        body.visit_accesses(action, |piece, access| {
            concerned |= access.writes() || piece.space == Space::Scratch;
        });
        concerned
    })
}

/// Checks every rank that runs one of the bodies `open`, with the order between all ranks.
fn find_across_ranks(
    analysis: &Analysis<'_>,
    order: &mut SharedOrder<'_, '_>,
    open: &[usize],
    ranks_of: &[Vec<u32>],
    found: &mut Found,
) {
    let Analysis { whole, trace, .. } = *analysis;
    let partners = order.partners();
    let is_all_unique = *partners == trace.partner;
    let Ok(order) = order.order() else {
        found.cut.extend(open.iter().flat_map(|&body| &ranks_of[body]));
        return;
    };
    let mut from_run: Option<Order<'_, '_>> = None;
    let mut is_open = vec![false; ranks_of.len()];
    open.iter().for_each(|&body| is_open[body] = true);
    let body_of = |vertex| whole.program.ranks[whole.rank(vertex) as usize].body.index();
    // Actions that never end in the abstract run have no known order, so they are left out.
    let is_concerned = |vertex: Vertex| is_open[body_of(vertex)] && trace.has_ended(vertex);
    let mut sequence: Vec<Vertex> = order.sequence();
    sequence.retain(|&vertex| is_concerned(vertex));
    sequence.sort_by_key(|&vertex| whole.rank(vertex));
    for actions in sequence.chunk_by(|&a, &b| whole.rank(a) == whole.rank(b)) {
        let (rank, body) = (whole.rank(actions[0]), whole.body(actions[0]));
        let ordered = |first: ActionId, second: ActionId, done| -> Ordered {
            let [first, second] = [first, second].map(|id| whole.vertex(rank, id));
            match done {
                Done::AtStart => order.starts_before(first, second),
                Done::AtEnd => order.accesses_before(first, second),
            }
        };
        let mut faults = Sweep::new(body, ordered)
            .with_effort(analysis.options.effort)
            .run(actions.iter().map(|&vertex| whole.id(vertex)), false);
        faults.in_order();
        let wait = |first, second, bytes: &Bytes| {
            let eager_limit = analysis.options.eager_limit;
            missing(whole, order, rank, [first, second], bytes, eager_limit)
        };
        let doubtful = doubtful(analysis, rank, &faults, is_all_unique, &mut from_run);
        found.add(whole.program.ranks[rank as usize].body, faults, &[rank], wait, &doubtful);
    }
}

/// Returns the races of a rank whose two actions are ordered in one run, if other runs may match
/// messages differently. If every run orders the two in some way, they do not race. This is not
/// known.
fn doubtful<'a>(
    analysis: &Analysis<'a>,
    rank: u32,
    faults: &Faults,
    is_all_unique: bool,
    from_run: &mut Option<Order<'a, 'a>>,
) -> Vec<Fault> {
    let Analysis { whole, trace, .. } = *analysis;
    if is_all_unique || faults.faults.is_empty() {
        return Vec::new();
    }
    if from_run.is_none() {
        *from_run = Order::from_run(whole, trace).ok();
    }
    let Some(order) = from_run else { return Vec::new() };
    let mut is_ordered = |fault: &&Fault| {
        let &&Fault::Race(first, second) = fault else { return false };
        let [first, second] = [first, second].map(|id| whole.vertex(rank, id));
        [[first, second], [second, first]]
            .into_iter()
            .any(|[first, second]| order.accesses_before(first, second) != Ordered::No)
    };
    faults.faults.keys().filter(&mut is_ordered).copied().collect()
}

/// Finds a dependency that orders two actions of a rank without a deadlock. `pair` has the actions
/// in the order of their text. Prefers a dependency with which the program ends under every eager
/// limit. Of the two directions, prefers that the later action of the text waits, unless only it
/// fills the bytes.
fn missing(
    whole: &Whole<'_>,
    order: &mut Order<'_, '_>,
    rank: u32,
    pair: [ActionId; 2],
    bytes: &Bytes,
    eager_limit: u64,
) -> Option<Wait> {
    let [first, second] = pair;
    let body = whole.program.body_of(rank);
    // True if the bytes are scratch memory that only the second action writes. Then the first
    // action must wait for the second.
    let is_filled =
        bytes.space == Space::Scratch && bytes.is_fresh && !bytes.are_written_by(body, first);
    let waits = [(second, first), (first, second)]
        .map(|(waiter, prerequisite)| Wait { waiter, prerequisite });
    let candidates = if is_filled { [waits[1], waits[0]] } else { waits };
    let events = |wait: &Wait| {
        (
            Event::Start(whole.vertex(rank, wait.waiter)),
            Event::End(whole.vertex(rank, wait.prerequisite)),
        )
    };
    // Prefer a dependency with which the program ends under every eager limit.
    let mut limits = [0, eager_limit].into_iter();
    limits.find_map(|limit| {
        candidates.into_iter().find(|wait| {
            let (start, end) = events(wait);
            order.happens_before(start, end) == Ordered::No && !order.may_hold_up(start, end, limit)
        })
    })
}
