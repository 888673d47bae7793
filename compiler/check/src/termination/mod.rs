//! Decides if a program ends in every order of events that the language permits.
//!
//! # The orders that are permitted
//!
//! - An action may start when all that it requires has ended and all that it irequires has started.
//!   Of several that may start, any may be next, on the same rank too.
//! - A send that starts puts its message behind those from its rank to the same destination. A
//!   message arrives any time later, but after those before it. Messages between different pairs of
//!   ranks have no order.
//! - The first of the posted receives that fit an arriving message takes it. Without such a receive
//!   the message is kept. A starting receive takes the first of the kept messages that fit it.
//!   Without such a message the receive is posted.
//! - A receive ends when it has its message. A send of at most the eager limit ends when it starts;
//!   a larger one ends when its message is taken. A send to a rank that may lack room for messages
//!   without a receive ([`Room`]) may do either.
//! - A local action ends when it starts.
//!
//! A program ends in every order if no order leads to a state in which no step is possible although
//! actions are left.
//!
//! # The decision
//!
//! If every message goes to the same receive in every order
//! ([`UniqueMatches`](goal_opt::whole::UniqueMatches)), all orders lead to the same end, and one
//! run decides. Otherwise two methods are tried:
//!
//! 1. [`certain`] derives the events that happen in every run, in about linear time. This is a
//!    proof if competing receives take all messages that come for them, in any matching.
//! 2. [`search`] visits every state that some order leads to, except for orders that make no
//!    difference, with a bound on the work. It is exact: it either finds an order that gets stuck
//!    or shows that there is none.

mod certain;
mod choices;
mod facts;
mod implied;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use facts::stores;

use crate::limits::SEARCH_STEPS_MAX;
use crate::order::SharedOrder;
use facts::Facts;
use goal_opt::whole::{Room, Trace, Vertex, Whole};
use rustc_hash::FxHashMap;

/// The most rounds of the search for implied starts. Each round uses the results of the round
/// before.
const ROUNDS_MAX: usize = 4;

/// The verdict on the end of a program.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The program ends in every order.
    Ends,
    /// The program gets stuck in this order.
    Hangs(Box<Trace>),
    /// In this order the given receive takes a message of another size.
    SizesDiffer(Box<Trace>, Vertex),
    /// The bound on the work was reached.
    Unknown,
}

/// Decides if a program ends in every order. `trace` is a run of the program that came to its end.
/// Matches that hold in every order, with any eager limit, are added to `order`.
pub(crate) fn decide(
    whole: &Whole<'_>,
    trace: &Trace,
    order: &mut SharedOrder<'_, '_>,
    eager_limit: u64,
    room: Option<&Room>,
    effort: u64,
) -> Verdict {
    let (partner, is_fixed) = (order.partners(), order.fixed());
    let is_recv = |&vertex: &Vertex| whole.is_recv(vertex);
    if whole.vertices().filter(is_recv).all(|recv| is_fixed[recv.index()]) {
        return Verdict::Ends;
    }
    let facts = Facts::new(whole, &partner, &is_fixed, eager_limit, room);
    for _ in 0..ROUNDS_MAX {
        let Ok(events) = order.order() else { return Verdict::Unknown };
        let implied = implied::starts(&facts, events);
        if !order.add_implied(implied) {
            break;
        }
    }
    let Ok(events) = order.order() else { return Verdict::Unknown };
    let is_certain = certain::always_ends(&facts, events);
    // If there is a proof already, the search can only find more matches, so it gets a smaller
    // bound.
    let steps_max = SEARCH_STEPS_MAX / if is_certain { 64 } else { 1 };
    let searched = search::search(&facts, trace, events, steps_max.saturating_mul(effort), false);
    match searched {
        search::Found::Ends(taken) => {
            // If a send waits for its receive, some orders are impossible that are possible with a
            // higher limit. So what always holds here need not hold with every limit.
            if facts.is_eager() {
                order.add_matches(&taken.always());
            }
            Verdict::Ends
        }
        search::Found::Hangs(trace) => Verdict::Hangs(trace),
        search::Found::SizesDiffer(trace, recv) => Verdict::SizesDiffer(trace, recv),
        search::Found::Unknown if is_certain => Verdict::Ends,
        search::Found::Unknown => Verdict::Unknown,
    }
}

/// Finds, for each receive, all sends whose messages it takes in some order. For a receive that
/// does not store its message, an interchangeable send may be listed instead. Returns `None` if a
/// bound is reached or if not every order ends.
pub(crate) fn taken(
    whole: &Whole<'_>,
    trace: &Trace,
    order: &mut SharedOrder<'_, '_>,
    eager_limit: u64,
    effort: u64,
) -> Option<FxHashMap<Vertex, Vec<Vertex>>> {
    let (partner, is_fixed) = (order.partners(), order.fixed());
    let facts = Facts::new(whole, &partner, &is_fixed, eager_limit, None);
    let events = order.order().ok()?;
    match search::search(
        &facts,
        trace,
        events,
        (SEARCH_STEPS_MAX / 16).saturating_mul(effort),
        true,
    ) {
        search::Found::Ends(taken) => Some(taken.sends),
        _ => None,
    }
}
