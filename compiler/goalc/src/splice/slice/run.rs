//! The messages of a program with wildcards, as a run without data matches them.

use super::channels::order;
use crate::driver::Error;
use goal_lang::{Action, ActionId, Program};
use goal_opt::whole::{Run, Whole};
use std::ops::Range;

/// For each send and receive, the other end of its message.
pub(super) struct Partners {
    /// By action of all ranks, the other rank and the tag of a message whose both ends are in the
    /// window.
    of: Vec<Option<(u32, u32)>>,
    /// By rank, its first action.
    first: Vec<usize>,
}

impl Partners {
    /// Runs a program, which is held in memory.
    ///
    /// # Errors
    /// Returns an error if the program does not end or has too many actions.
    pub(super) fn new(
        name: &str,
        program: &Program,
        window: Option<&Range<u64>>,
    ) -> Result<Self, Error> {
        let whole = Whole::new(program)
            .map_err(|error| Error::Usage(format!("{name} has wildcards, and {error}")))?;
        let trace = Run::new(&whole).finish(u64::MAX);
        if !trace.is_complete() {
            return Err(Error::Usage(format!(
                "{name} has wildcards and does not end, so its messages are not known: `goalc check` says why"
            )));
        }
        let mut is_in_window = Vec::with_capacity(whole.len());
        let mut first = Vec::with_capacity(program.ranks.len());
        for rank in 0..program.num_ranks() {
            let body = program.body_of(rank);
            first.push(is_in_window.len());
            is_in_window.resize(is_in_window.len() + body.len(), window.is_none());
            let Some(window) = window else { continue };
            let own = &mut is_in_window[first[rank as usize]..];
            for (at, id) in (0..).zip(order(body)) {
                own[id.index()] = window.contains(&at);
            }
        }
        let of = whole.vertices().map(|vertex| {
            let partner = trace.partner[vertex.index()].some()?;
            let send = match whole.is_recv(vertex) {
                true => partner,
                false => vertex,
            };
            let Action::Send { tag, .. } = *whole.action(send) else { return None };
            is_in_window[partner.index()].then_some((whole.rank(partner), tag))
        });
        Ok(Self { of: of.collect(), first })
    }

    /// Returns the other rank and the tag of a message that stays in the window.
    pub(super) fn of(&self, rank: u32, id: ActionId) -> Option<(u32, u32)> {
        self.of[self.first[rank as usize] + id.index()]
    }
}
