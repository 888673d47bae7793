//! Finds all outcomes of a small program.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use goal_lang::{ANY, Action, ActionId, Payload, Program};

use crate::error::Error;
use crate::matching::Envelope;
use crate::options::{Eager, Options};
use crate::reach::Reach;
use crate::run::Run;
use crate::state::Vertex;

/// The most actions of a body that is explored.
const ACTIONS_MAX: usize = 4096;

/// Returns the memory of all ranks at the end of every possible run. Returns `None` if more than
/// `bound` states must be visited. Unspecified bytes are 0.
///
/// Tries different orders only where they can make a difference: for sends of a rank to one
/// destination, for receives of a rank that accept the same message, and for messages that a
/// receive from any source could take. The program must have no races: dependencies must order any
/// two accesses to the same bytes.
///
/// # Errors
/// The first failure, or the first run that gets stuck, even if other runs come to their end.
pub fn outcomes(
    program: &Program,
    options: &Options,
    bound: usize,
) -> Result<Option<HashSet<Vec<Vec<u8>>>>, Error> {
    // Whatever order is possible with waiting sends is also possible with sends that complete at
    // once.
    let options = Options { eager: Eager::All, ..options.clone() };
    let mut found = HashSet::new();
    let is_done = explore(program, &options, bound, true, |run| {
        found.insert(run.state.memory());
    })?;
    Ok(is_done.then_some(found))
}

/// Returns `Some` if a program comes to its end in every order of its steps. Sends complete as
/// `options` say. Returns `None` if more than `bound` states must be visited.
///
/// # Errors
/// The first failure, or the first run that gets stuck.
pub fn always_ends(
    program: &Program,
    options: &Options,
    bound: usize,
) -> Result<Option<()>, Error> {
    Ok(explore(program, options, bound, true, |_| {})?.then_some(()))
}

/// Visits every state and calls `end` with each final one. If `settled` is true, visits only states
/// in which the order of the next steps can make a difference. Returns false if there are more than
/// `bound` states.
pub(crate) fn explore(
    program: &Program,
    options: &Options,
    bound: usize,
    settled: bool,
    mut end: impl FnMut(&Run<'_>),
) -> Result<bool, Error> {
    if program.bodies.iter().any(|body| body.len() > ACTIONS_MAX) {
        return Ok(false);
    }
    let first = Run::new(program, options, false);
    let Some(choices) = Choices::new(program) else { return Err(first.state.stuck().into()) };

    let mut visited = HashSet::new();
    let mut open = vec![first];
    while let Some(mut run) = open.pop() {
        if settled {
            choices.settle(&mut run)?;
        }
        if !visited.insert(fingerprint(&run)) {
            continue;
        }
        if visited.len() > bound {
            return Ok(false);
        }
        for at in 0..run.state.ready.len() {
            let mut next = run.clone();
            let vertex = next.state.ready.swap_remove(at);
            next.start(vertex)?;
            open.push(next);
        }
        for at in 0..run.arriving.len() {
            let mut next = run.clone();
            let pair = next.arriving.swap_remove(at);
            next.arrive(pair)?;
            open.push(next);
        }
        if run.state.ready.is_empty() && run.arriving.is_empty() {
            if !run.state.is_finished() {
                return Err(run.state.stuck().into());
            }
            end(&run);
        }
    }
    Ok(true)
}

/// Returns a hash of the state with 128 bits. States with an equal hash count as equal.
fn fingerprint(run: &Run<'_>) -> (u64, u64) {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        run.state.hash(&mut hasher);
        run.queues.hash(&mut hasher);
        run.under_way.hash(&mut hasher);
        hasher.finish()
    };
    (half(0), half(1))
}

/// Knows the steps whose order may make a difference. They are tried in different orders.
struct Choices<'p> {
    program: &'p Program,
    /// The order of the actions of each body.
    reach: Vec<Reach>,
    /// The receives of each rank, with their sources and tags.
    recvs: Vec<Vec<(ActionId, Envelope)>>,
    /// The sends of each rank, with their destinations and tags.
    sends: Vec<Vec<(ActionId, u32, u32)>>,
}

impl<'p> Choices<'p> {
    /// Returns `None` if the dependencies of a rank form a cycle.
    fn new(program: &'p Program) -> Option<Self> {
        let reach = program.bodies.iter().map(Reach::new).collect::<Option<_>>()?;
        let actions = |rank| {
            let body = program.body_of(rank);
            body.ids().map(|id| (id, body.action(id)))
        };
        let recvs = |rank| {
            actions(rank).filter_map(|(id, action)| match *action {
                Action::Recv { from, tag, .. } => Some((id, Envelope { from, tag })),
                _ => None,
            })
        };
        let sends = |rank| {
            actions(rank).filter_map(|(id, action)| match *action {
                Action::Send { to, tag, .. } => Some((id, to, tag)),
                _ => None,
            })
        };
        let ranks = 0..program.num_ranks();
        Some(Self {
            program,
            reach,
            recvs: ranks.clone().map(|rank| recvs(rank).collect()).collect(),
            sends: ranks.map(|rank| sends(rank).collect()).collect(),
        })
    }

    /// Executes all steps whose order makes no difference, until none of them is left.
    fn settle(&self, run: &mut Run<'_>) -> Result<(), Error> {
        loop {
            if let Some(at) =
                run.state.ready.iter().position(|&vertex| self.start_is_free(run, vertex))
            {
                let vertex = run.state.ready.swap_remove(at);
                run.start(vertex)?;
            } else if let Some(at) =
                run.arriving.iter().position(|&pair| self.arrival_is_free(run, pair))
            {
                let pair = run.arriving.swap_remove(at);
                run.arrive(pair)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Returns true if the start of an action can be executed at once, because no other action that
    /// could start first would make a difference.
    fn start_is_free(&self, run: &Run<'_>, (rank, id): Vertex) -> bool {
        let body = self.program.ranks[rank as usize].body;
        let rival = |other: ActionId| {
            other != id
                && !run.state.has_started((rank, other))
                && !self.reach[body.index()].orders(id, other)
        };
        match *self.program.body_of(rank).action(id) {
            Action::Send { to, tag, .. } => {
                !self.sends[rank as usize].iter().any(|&(other, to_2, tag_2)| {
                    to == to_2
                        && rival(other)
                        && (tag == tag_2 || self.tags_mix(rank, to) || self.sources_mix(to))
                })
            }
            Action::Recv { from, tag, .. } => {
                let overlap = |a: u32, b: u32| a == b || a == ANY || b == ANY;
                !self.recvs[rank as usize].iter().any(|&(other, envelope)| {
                    overlap(from, envelope.from) && overlap(tag, envelope.tag) && rival(other)
                })
            }
            _ => true,
        }
    }

    /// Returns true if the next message of a pair of ranks can arrive at once, because no open
    /// receive could take a message of another source instead.
    fn arrival_is_free(&self, run: &Run<'_>, pair: (u32, u32)) -> bool {
        let message = &run.under_way[&pair][0];
        !self.recvs[pair.1 as usize].iter().any(|&(recv, envelope)| {
            envelope.from == ANY
                && envelope.fits(message.source, message.tag)
                && !run.state.is_complete((pair.1, recv))
        })
    }

    /// Returns true if the order in which messages of different sources arrive at a rank can make a
    /// difference. This is so if one of its receives accepts any source.
    fn sources_mix(&self, to: u32) -> bool {
        self.recvs[to as usize].iter().any(|(_, envelope)| envelope.from == ANY)
    }

    /// Returns true if the order of messages with different tags between two ranks can make a
    /// difference. This is so if a receive accepts any tag. It is also so if a receive stores a
    /// pattern, whose bytes depend on the number of the message.
    fn tags_mix(&self, from: u32, to: u32) -> bool {
        let pattern = |payload: Payload| matches!(payload, Payload::Pattern { .. });
        let sends_pattern = self.sends[from as usize].iter().any(|&(id, destination, _)| {
            let Action::Send { payload, .. } = *self.program.body_of(from).action(id) else {
                return false;
            };
            destination == to && pattern(payload)
        });
        self.recvs[to as usize].iter().any(|&(id, envelope)| {
            let Action::Recv { payload, .. } = *self.program.body_of(to).action(id) else {
                return false;
            };
            let from_there = envelope.from == ANY || envelope.from == from;
            from_there && (envelope.tag == ANY || sends_pattern && !pattern(payload))
        })
    }
}
