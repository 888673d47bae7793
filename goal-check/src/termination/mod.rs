//! Decides if a program ends in every order of events that the language permits.
//!
//! # The orders that are permitted
//!
//! - An action may start when all that it requires has ended and all that it irequires has started.
//!   Of several that may start, any may be next, on the same rank too.
//! - A send that starts puts its message behind those from its rank to the same destination. A
//!   message arrives any time later, after those before it. Nothing orders messages of different
//!   ranks or to different ranks.
//! - A message that arrives is taken by the receive that was posted first among those that fit it,
//!   or else is kept. A receive that starts takes the message that arrived first among those that
//!   are kept and fit it, or else is posted.
//! - A receive ends when it has its message. A send of at most the eager limit ends when it starts;
//!   a larger one ends when its message is taken. A send to a rank that may lack room for messages
//!   without a receive ([`Room`](super::Room)) does either.
//! - A local action ends when it starts.
//!
//! A program ends in every order where no order leads to a state in which nothing can happen any
//! more though actions are left.
//!
//! # How that is decided
//!
//! Where every message has its receive whatever the order (`unique`), starts and ends follow from
//! each other alone, so that all orders lead to the same end and one run decides. Otherwise two
//! things are tried:
//!
//! 1. [`certain`] derives what happens in every run. It is a proof in about linear time where
//!    receives that compete take all messages that come for them, whichever takes which.
//! 2. [`search`] visits every state that some order leads to, but for orders that make no
//!    difference, with a bound on the work. It is exact: it either shows an order that gets stuck
//!    or says that there is none.

mod certain;
mod choices;
mod implied;
mod scene;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use scene::stores;

use crate::limits::SEARCH_STEPS_MAX;
use crate::order::SharedOrder;
use goal_opt::whole::{Room, Trace, Vertex, Whole};
use rustc_hash::FxHashMap;
use scene::Scene;

/// Most times that what follows from who receives something is looked for again with what was
/// found.
const ROUNDS_MAX: usize = 4;

/// The verdict on the end of a program.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It ends in every order.
    Ends,
    /// It gets stuck in this one.
    Hangs(Box<Trace>),
    /// In this order a receive takes a message of another size.
    SizesDiffer(Box<Trace>, Vertex),
    /// The bound on the work was too small to find out.
    Unknown,
}

/// Decides whether a program ends in every order. `trace` is a run of it that came to its end. What
/// the search finds out about who receives which message goes into `order`, where it is so with any
/// eager limit.
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
    let scene = Scene::new(whole, &partner, &is_fixed, eager_limit, room);
    for _ in 0..ROUNDS_MAX {
        let Ok(events) = order.order() else { return Verdict::Unknown };
        let implied = implied::starts(&scene, events);
        if !order.imply(implied) {
            break;
        }
    }
    let Ok(events) = order.order() else { return Verdict::Unknown };
    let is_certain = certain::always_ends(&scene, events);
    // Where a proof is there, the search only finds out more about who receives what.
    let steps_max = SEARCH_STEPS_MAX / if is_certain { 64 } else { 1 };
    let searched = search::search(&scene, trace, events, steps_max.saturating_mul(effort), false);
    match searched {
        search::Found::Ends(taken) => {
            // An order that a waiting send rules out may happen on another machine.
            if scene.is_eager() {
                order.learn(&taken.always());
            }
            Verdict::Ends
        }
        search::Found::Hangs(trace) => Verdict::Hangs(trace),
        search::Found::SizesDiffer(trace, recv) => Verdict::SizesDiffer(trace, recv),
        search::Found::Unknown if is_certain => Verdict::Ends,
        search::Found::Unknown => Verdict::Unknown,
    }
}

/// Finds the messages that each receive takes in some order, where a search finds all of them: by
/// receive, the sends. Of receives that keep no bytes it may be others that stand for these. `None`
/// where a bound is reached, or where not every order ends.
pub(crate) fn taken(
    whole: &Whole<'_>,
    trace: &Trace,
    order: &mut SharedOrder<'_, '_>,
    eager_limit: u64,
    effort: u64,
) -> Option<FxHashMap<Vertex, Vec<Vertex>>> {
    let (partner, is_fixed) = (order.partners(), order.fixed());
    let scene = Scene::new(whole, &partner, &is_fixed, eager_limit, None);
    let events = order.order().ok()?;
    match search::search(
        &scene,
        trace,
        events,
        (SEARCH_STEPS_MAX / 16).saturating_mul(effort),
        true,
    ) {
        search::Found::Ends(taken) => Some(taken.sends),
        _ => None,
    }
}
