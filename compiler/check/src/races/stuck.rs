//! Checks the actions that a stuck program does not reach for races.
//!
//! It is not known which messages would order them. But messages can order two actions of a rank
//! only if the first leads to a send and the second follows a receive. If this holds in neither
//! direction, only dependencies can order the two.

use super::found::Found;
use super::sweep::{Done, Fault, Sweep};
use crate::analysis::Analysis;
use goal_lang::{ActionId, ActionKind, Body, BodyId};
use goal_opt::first_to_last;
use goal_opt::whole::{BodyOrder, Ordered};

/// Adds the races between two actions of a body that have not both ended. Suggests no dependency,
/// as it is not known with which dependency the program ends.
pub(super) fn find(analysis: &Analysis<'_>, id: BodyId, ranks: &[u32], found: &mut Found) {
    let Analysis { whole, trace, .. } = *analysis;
    let body = &whole.program.bodies[id.index()];
    let sequence = first_to_last(body);
    let ways = Ways::new(body, &sequence);
    let mut order = BodyOrder::new(body);
    let ordered = |first, second, done| {
        let local = match done {
            Done::AtStart => order.starts_before(first, second),
            Done::AtEnd => order.ends_before(first, second),
        };
        // A pair that messages may order must not lead to a finding.
        match local == Ordered::No
            && !ways.may_order(first, second)
            && !ways.may_order(second, first)
        {
            true => Ordered::No,
            false => Ordered::Yes,
        }
    };
    let mut faults = Sweep::new(body, ordered)
        .with_effort(analysis.options.effort)
        .run(sequence.iter().copied(), false);
    faults.in_order();
    if faults.cut {
        found.cut.extend(ranks);
        found.cut.sort_unstable();
        found.cut.dedup();
    }
    for (fault, bytes) in faults.faults {
        let Fault::Race(first, second) = fault else { continue };
        let has_ended = |rank: u32, action| trace.has_ended(whole.vertex(rank, action));
        let is_left = |rank: &u32| !has_ended(*rank, first) || !has_ended(*rank, second);
        let left: Vec<u32> = ranks.iter().copied().filter(is_left).collect();
        if !left.is_empty() {
            found.add_fault((id, fault), bytes, &left, false, |_| None);
        }
    }
}

/// For each action of a body, whether it leads to a send and whether it follows a receive.
struct Ways {
    /// By action, true for a send and for an action that starts before a send.
    leads_to_send: Vec<bool>,
    /// By action, true for a receive and for an action that starts after a receive.
    follows_recv: Vec<bool>,
}

impl Ways {
    /// Computes both tables. `sequence` must have all actions in an order that the dependencies
    /// allow.
    fn new(body: &Body, sequence: &[ActionId]) -> Self {
        let kinds =
            |kind: ActionKind| body.actions.iter().map(|action| action.kind() == kind).collect();
        let mut ways =
            Self { leads_to_send: kinds(ActionKind::Send), follows_recv: kinds(ActionKind::Recv) };
        let waiters = |id: ActionId| body.requires.row(id).iter().chain(body.irequires.row(id));
        for &id in sequence {
            if ways.follows_recv[id.index()] {
                waiters(id).for_each(|waiter| ways.follows_recv[waiter.index()] = true);
            }
        }
        for &id in sequence.iter().rev() {
            let leads = waiters(id).any(|waiter| ways.leads_to_send[waiter.index()]);
            ways.leads_to_send[id.index()] |= leads;
        }
        ways
    }

    /// Returns true if messages may order the first action before the second.
    fn may_order(&self, first: ActionId, second: ActionId) -> bool {
        self.leads_to_send[first.index()] && self.follows_recv[second.index()]
    }
}
