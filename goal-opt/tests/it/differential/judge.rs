//! Compares programs before and after passes: the rules that every pass must keep.

use goal_interp::{Eager, Error, Options, Outcome, outcomes, run};
use goal_lang::{ANY, Action, ActionId, Program};
use std::collections::BTreeMap;

/// The number of orders in which a changed program is run.
const ORDERS: u64 = 4;
/// Bound on the states when the outcomes of a program are listed.
const STATES_MAX: usize = 4_000;

/// Runs `after` in several orders with every kind of send. Its memory must end as that of `before`,
/// and every receive must take the same message. `before` must have one outcome. Returns the number
/// of orders.
pub(crate) fn same_outcome(seed: u64, before: &Program, after: &Program) -> Result<u64, String> {
    let options =
        |order: u64, eager| Options { seed: order, eager, wtime: 17.25, ..Options::default() };
    let expected =
        run(before, &options(seed, Eager::All)).map_err(|error| format!("before: {error}"))?;
    let matching = matching(before, &expected);
    for order in 0..ORDERS {
        let eager =
            [Eager::None, Eager::All, Eager::Limit(16), Eager::Limit(65536)][order as usize % 4];
        let outcome = run(after, &options(seed + order, eager))
            .map_err(|error| format!("order {}, {eager:?}: {error}", seed + order))?;
        if let Some((rank, address)) = expected.first_difference(&padded(&expected, &outcome)) {
            return Err(format!(
                "order {}, {eager:?}: rank {rank} differs at {address}",
                seed + order
            ));
        }
        for (receive, message) in self::matching(after, &outcome) {
            if matching.get(&receive).is_some_and(|taken| *taken != message) {
                let (rank, label) = receive;
                return Err(format!(
                    "order {}, {eager:?}: rank {rank}, `{label}` takes {message:?}",
                    seed + order
                ));
            }
        }
    }
    Ok(ORDERS)
}

/// Runs two programs without wildcards with eager limits of `eager_limit` bytes and of 0. If
/// `before` ends, `after` must end, too, with the same memory. Returns the number of orders.
pub(crate) fn ends_as_before(
    seed: u64,
    before: &Program,
    after: &Program,
    eager_limit: u64,
) -> Result<u64, String> {
    let mut orders = 0;
    for eager in [Eager::None, Eager::Limit(eager_limit)] {
        let options = Options { seed, eager, ..Options::default() };
        let expected = match run(before, &options) {
            Ok(outcome) => outcome,
            Err(Error::Stuck(_)) => continue,
            Err(error) => return Err(format!("before: {error}")),
        };
        let outcome = run(after, &options).map_err(|error| format!("{eager:?}: {error}"))?;
        if let Some((rank, address)) = expected.first_difference(&padded(&expected, &outcome)) {
            return Err(format!("{eager:?}: rank {rank} differs at {address}"));
        }
        orders += 1;
    }
    Ok(orders)
}

/// Checks that every outcome of `after` is one of `before`. Returns the number of outcomes that
/// were compared; 0 if there are too many to list.
pub(crate) fn no_new_outcome(before: &Program, after: &Program) -> Result<u64, String> {
    let list = |program| {
        outcomes(program, &Options::default(), STATES_MAX).map_err(|error| error.to_string())
    };
    let (Some(mut allowed), Some(found)) = (list(before)?, list(after)?) else { return Ok(0) };
    // Memory that no action accesses any more counts as zero.
    let trimmed =
        |memory: Vec<Vec<u8>>| memory.into_iter().map(|bytes| trimmed(&bytes)).collect::<Vec<_>>();
    allowed = allowed.into_iter().map(trimmed).collect();
    let new = found.iter().filter(|memory| !allowed.contains(&trimmed((*memory).clone()))).count();
    match new {
        0 => Ok(found.len() as u64),
        new => Err(format!("{new} of {} outcomes are new", found.len())),
    }
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes[..end].to_vec()
}

/// The memory at the end of an outcome, at least as long as the expected one.
fn padded(expected: &Outcome, outcome: &Outcome) -> Vec<Vec<u8>> {
    let mut memory = outcome.memory.clone();
    for (mine, wanted) in memory.iter_mut().zip(&expected.memory) {
        mine.resize(mine.len().max(wanted.len()), 0);
    }
    memory
}

/// A rank and the label of one of its actions.
type Named = (u32, String);

/// The send whose message each receive took, by label, for receives that name their source.
fn matching(program: &Program, outcome: &Outcome) -> BTreeMap<Named, Named> {
    let named = |(rank, id): (u32, ActionId)| {
        let label = program.body_of(rank).debug.labels.get(id).unwrap_or_default();
        (rank, label.to_owned())
    };
    let destination = |(rank, id): (u32, ActionId)| match *program.body_of(rank).action(id) {
        Action::Send { to, .. } => to,
        ref other => panic!("{other:?} is no send"),
    };
    let sends: BTreeMap<_, _> = outcome
        .matches
        .sends
        .iter()
        .map(|(&send, &sequence)| ((send.0, destination(send), sequence), send))
        .collect();
    let mut matching = BTreeMap::new();
    for (&receive, taken) in &outcome.matches.receives {
        let (rank, id) = receive;
        if matches!(program.body_of(rank).action(id), Action::Recv { from: ANY, .. }) {
            continue;
        }
        let (receive, send) = (named(receive), named(sends[&(taken.source, rank, taken.sequence)]));
        // An action that a pass made has no label, or the label of an action that it replaces.
        if !receive.1.is_empty() && !send.1.is_empty() {
            matching.insert(receive, send);
        }
    }
    matching
}
