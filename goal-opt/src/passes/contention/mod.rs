//! Contention scheduling: additional dependencies divide messages that could be under way together
//! into rounds (paper III.C: "a good scheduling could be achieved with multi-graph coloring", "by
//! adding more dependencies which limits the dynamic scheduler's flexibility").

mod colouring;
#[cfg(test)]
mod tests;

use super::levels::{LevelMessage, complete_run, free_messages, numbered_pairs};
use crate::edit::{Edges, Owners, place};
use crate::pass::{Context, PassRefusal};
use crate::whole::{Whole, unique_partners};
use goal_lang::{ActionId, Edge, Program};

/// A send or a receive of a rank, and its round.
#[derive(Debug, Clone, Copy)]
struct Placed {
    rank: u32,
    level: u32,
    /// The round within the level of the message.
    round: u32,
    is_recv: bool,
    /// True if the send waits for its receive.
    waits: bool,
    id: ActionId,
}

/// Adds the dependencies that divide the messages of each level into rounds.
///
/// The messages of a level have no order. They are the edges of a bipartite multigraph from sending
/// to receiving ranks. Its colours are rounds: in each, a rank sends at most one message and
/// receives at most one.
///
/// A send waits for the end of the k-th send before it in its level. It also waits for the last
/// receive of its level that is at least k rounds earlier. A receive of a message above the eager
/// limit waits for the end of the k-th such receive before it. So a rank has no more than k of them
/// open.
///
/// # Errors
/// None: messages whose order is not certain stay.
pub(crate) fn contention(
    program: &mut Program,
    context: &Context<'_>,
) -> Result<bool, PassRefusal> {
    let k = context.arguments.number("k").unwrap_or(1);
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    let placed = {
        let Some((whole, trace)) = complete_run(program, context) else { return Ok(false) };
        let partner = unique_partners(&whole, &trace);
        let mut messages = free_messages(&whole, &partner);
        let numbered = numbered_pairs(&whole, &partner);
        messages.retain(|message| {
            !numbered.contains(&(whole.rank(message.send), whole.rank(message.recv)))
        });
        rounds(&whole, messages, context)
    };
    let mut owners = Owners::new(program);
    let mut changed = false;
    for of_rank in placed.chunk_by(|a, b| a.rank == b.rank) {
        changed |= chain(program, &mut owners, of_rank, k);
    }
    Ok(changed)
}

/// Returns both ends of all messages with their rounds, sorted by rank, level and round.
fn rounds(
    whole: &Whole<'_>,
    mut messages: Vec<LevelMessage>,
    context: &Context<'_>,
) -> Vec<Placed> {
    messages.sort_by_key(|message| message.level);
    let mut placed = Vec::with_capacity(2 * messages.len());
    let mut is_cut_short = false;
    for of_level in messages.chunk_by(|a, b| a.level == b.level) {
        let edges: Vec<(u32, u32)> = of_level
            .iter()
            .map(|message| (whole.rank(message.send), whole.rank(message.recv)))
            .collect();
        let colours = colouring::colour(&edges);
        is_cut_short |= colours.is_cut_short;
        for (message, round) in of_level.iter().zip(colours.of) {
            let waits = whole.message_size(message.send) > context.eager_limit;
            for (vertex, is_recv) in [(message.send, false), (message.recv, true)] {
                let (rank, id) = (whole.rank(vertex), whole.id(vertex));
                placed.push(Placed { rank, level: message.level, round, is_recv, waits, id });
            }
        }
    }
    if is_cut_short {
        context.note(
            "the search for rounds was cut short: there may be up to twice as many as needed",
        );
    }
    placed.sort_unstable_by_key(|placed| (placed.rank, placed.level, placed.round, placed.is_recv));
    placed
}

/// Adds the dependencies of one rank. Returns false if all of them are there already.
fn chain(program: &mut Program, owners: &mut Owners, placed: &[Placed], k: usize) -> bool {
    let body = program.body_of(placed[0].rank);
    let (mut sends, mut recvs, mut awaited) =
        (Vec::<Placed>::new(), Vec::<Placed>::new(), Vec::<Placed>::new());
    let mut added = Vec::new();
    for &this in placed {
        let of_kind = if this.is_recv { &awaited } else { &sends };
        let before = of_kind.len().checked_sub(k).map(|at| of_kind[at]);
        let before = before
            .filter(|before| if this.is_recv { this.waits } else { before.level == this.level });
        match (this.is_recv, this.waits) {
            (false, _) => sends.push(this),
            (true, waits) => {
                recvs.push(this);
                awaited.extend(waits.then_some(this));
            }
        }
        let received = recvs.partition_point(|recv| {
            recv.level < this.level || u64::from(recv.round) + k as u64 <= u64::from(this.round)
        });
        let received = received.checked_sub(1).map(|at| recvs[at]);
        let received = received.filter(|recv| !this.is_recv && recv.level == this.level);
        for prerequisite in [before, received].into_iter().flatten() {
            let edge = Edge { waiter: this.id, prerequisite: prerequisite.id };
            if body.requires.position(edge).is_none() {
                added.push(edge);
            }
        }
    }
    if added.is_empty() {
        return false;
    }
    let body = owners.own(program, placed[0].rank);
    let mut requires = Edges::new(&body.requires, &body.debug.requires);
    for edge in added {
        requires.push(edge, place(body, edge.waiter));
    }
    (body.requires, body.debug.requires) = requires.finish(body.len());
    body.debug.order = None;
    true
}
