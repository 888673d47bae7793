//! Dummy-node windowing (paper III.D, Theorem 4): makes a schedule of any length executable in
//! constant space.

mod apply;
mod messages;
mod run;
#[cfg(test)]
mod tests;

use crate::limits::WINDOW_MAX;
use crate::pass::{Context, PassRefusal};
use crate::whole::{TooLarge, Whole};
use apply::apply;
use goal_lang::{ActionId, BodyId, Program};
use run::{Cause, Layout, Run, Stuck};
use rustc_hash::FxHashMap;

/// The result of windowing a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windowed {
    /// The number of dummies in all bodies.
    pub dummies: u64,
    /// The least eager limit in bytes with which the program ends, which is the same before and
    /// after. `None` if the program ends though every send waits for its receive.
    pub eager_limit: Option<u64>,
}

/// The reason why a program can't be put in windows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The size is 0, or larger than the number of dependencies that an action can have.
    #[error("a window has 1 to {WINDOW_MAX} actions, not {0}")]
    Size(u64),
    /// The ranks have too many actions together.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A window is too small for the actions that must be under way at once.
    #[error(
        "rank {rank}: windows of size {window} are too small: {place} has to be under way together with others, because \
         of start dependencies, messages to itself or receives from any source; take larger windows, or let it wait for \
         their end"
    )]
    TooSmall {
        /// The rank.
        rank: u32,
        /// An action that finds no room.
        action: ActionId,
        /// The action in words.
        place: String,
        /// The size of windows in actions.
        window: u32,
    },
    /// Receives from any source, with the sends to them, can't be separated from other actions.
    #[error(
        "rank {rank}: {place} may be taken by a receive from any source that other messages wait for, so windows might \
         keep it from starting for ever; name the sources of the receives, or give the messages tags of their own"
    )]
    OpenEnded {
        /// The rank.
        rank: u32,
        /// A send that competes for the receives.
        action: ActionId,
        /// The action in words.
        place: String,
    },
    /// The program never ends, in windows or without.
    #[error("rank {rank}: {place} can never start or end: the program has a deadlock")]
    Deadlock {
        /// The rank.
        rank: u32,
        /// An action that never ends.
        action: ActionId,
        /// The action in words.
        place: String,
    },
}

/// The pass `window(size)`.
///
/// # Errors
/// If no size is given, or for the reason of a [`WindowError`].
pub(crate) fn window_pass(
    program: &mut Program,
    context: &Context<'_>,
) -> Result<bool, PassRefusal> {
    let Some(size) = context.arguments.number("size") else {
        return Err(PassRefusal("how many actions has a window? write window(64)".to_owned()));
    };
    let size = u32::try_from(size).map_err(|_| PassRefusal(WindowError::Size(size).to_string()))?;
    let done = window(program, size).map_err(|error| PassRefusal(error.to_string()))?;
    if let Some(limit) = done.eager_limit {
        context.note(format!(
            "the program ends only where sends of up to {limit} bytes do not wait for their receive, as it did before"
        ));
    }
    Ok(true)
}

/// Divides the actions of every rank into windows of at most `window` actions, with a dummy between
/// two windows. The dummy waits for the sinks of the window before it, and the sources of the
/// window after it wait for the dummy. No other dependency crosses the border of a window.
///
/// All ranks are put in windows together. So a program that ends without windows, with eager sends
/// of up to some size or without eager sends, also ends in windows; `RULES.md` has the proof. Ranks
/// that share a body get copies if their windows differ. Near linear in actions, dependencies and
/// messages.
///
/// # Errors
/// [`WindowError`]; the program is left unchanged.
///
/// # Panics
/// If a graph has a cycle or names ranks that don't exist, which the verifier refuses.
pub fn window(program: &mut Program, window: u32) -> Result<Windowed, WindowError> {
    if window == 0 || window > WINDOW_MAX {
        return Err(WindowError::Size(window.into()));
    }
    let whole = Whole::new(program)?;
    let (layouts, eager_limit) =
        Run::new(&whole, window).finish().map_err(|stuck| error(&whole, window, stuck))?;
    let mut dummies = 0;
    let mut bodies = Vec::new();
    let mut known: FxHashMap<(BodyId, Layout), BodyId> = FxHashMap::default();
    for (rank, layout) in layouts.into_iter().enumerate() {
        let old = program.ranks[rank].body;
        let new = *known.entry((old, layout)).or_insert_with_key(|(_, layout)| {
            dummies += layout.cuts.len() as u64;
            bodies.push(apply(&program.bodies[old.index()], layout));
            BodyId::new(bodies.len() - 1)
        });
        program.ranks[rank].body = new;
    }
    program.bodies = bodies;
    Ok(Windowed { dummies, eager_limit })
}

/// The error for a run that gets stuck.
fn error(whole: &Whole<'_>, window: u32, Stuck { vertex, cause }: Stuck) -> WindowError {
    let (rank, action, body) = (whole.rank(vertex), whole.id(vertex), whole.body(vertex));
    let mut place = body.action(action).kind().name().to_owned();
    match body.debug.labels.get(action) {
        Some(label) => place.push_str(&format!(" `{}`", label.escape_debug())),
        None => place.push_str(&format!(" number {action}")),
    }
    if let Some(line) = body.debug.lines.get(action.index()).filter(|&&line| line > 0) {
        place.push_str(&format!(" (line {line})"));
    }
    match cause {
        Cause::TooSmall => WindowError::TooSmall { rank, action, place, window },
        Cause::OpenEnded => WindowError::OpenEnded { rank, action, place },
        Cause::Deadlock => WindowError::Deadlock { rank, action, place },
    }
}
