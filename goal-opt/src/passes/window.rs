//! Dummy-node windowing (paper III.D, Theorem 4): a schedule of any length that an executor runs in
//! constant space.

mod apply;
mod messages;
mod run;
#[cfg(test)]
mod tests;

use crate::limits::WINDOW_MAX;
use crate::whole::{TooLarge, Vertex, Whole};
use crate::{Context, Refusal as PassRefusal};
use apply::apply;
use goal_lang::{ActionId, BodyId, Program};
use run::{Layout, Run};
use rustc_hash::FxHashMap;

/// What windowing made of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windowed {
    /// Dummies in all bodies.
    pub dummies: u64,
    /// The program, before and after, ends where sends of at most this many bytes need no receive;
    /// `None` where it ends even if all do.
    pub eager_limit: Option<u64>,
}

/// Why a program can't be put in windows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// No window, or one that is larger than an action can have dependencies.
    #[error("a window has 1 to {WINDOW_MAX} actions, not {0}")]
    Size(u64),
    /// The ranks have too many actions together.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// What has to be under way at once has no room.
    #[error(
        "rank {rank}: windows of size {window} are too small: {place} has to be under way together with others, because \
         of start dependencies, messages to itself or receives from any source; take larger windows, or let it wait for \
         their end"
    )]
    TooSmall {
        /// The rank.
        rank: u32,
        /// An action that has no room.
        action: ActionId,
        /// The action in words.
        place: String,
        /// Actions in a window.
        window: u32,
    },
    /// Receives from any source and the sends to them can't be kept apart from other actions.
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
    /// The program has no end, in windows or without.
    #[error(
        "rank {rank}: {place} can never start or end: the program has a deadlock, which `goalc check` shows"
    )]
    Deadlock {
        /// The rank.
        rank: u32,
        /// An action that is not complete.
        action: ActionId,
        /// The action in words.
        place: String,
    },
}

/// Why a run has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    TooSmall,
    OpenEnded,
    Deadlock,
}

/// An action that keeps a run from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    vertex: Vertex,
    why: Why,
}

/// The pass `window(size)`.
///
/// # Errors
/// [`WindowError`], or that no size is given.
pub(crate) fn window_pass(
    program: &mut Program,
    context: &Context<'_>,
) -> Result<bool, PassRefusal> {
    let refusal = |text: String| PassRefusal(text);
    let Some(size) = context.arguments.number("size") else {
        return Err(refusal("how many actions has a window? write window(64)".to_owned()));
    };
    let size = u32::try_from(size).map_err(|_| refusal(WindowError::Size(size).to_string()))?;
    let done = window(program, size).map_err(|error| refusal(error.to_string()))?;
    if let Some(limit) = done.eager_limit {
        context.note(format!(
            "the program ends only where sends of up to {limit} bytes do not wait for their receive, as it did before"
        ));
    }
    Ok(true)
}

/// Puts the actions of every rank in windows of at most `window`, with a dummy between two: it
/// waits for the sinks of the window before it, and the sources of the window behind it wait for
/// it. No other dependency leaves a window.
///
/// All ranks are put in windows together, so that a program that ends without windows, be it with
/// eager sends of at most some size or with none, ends in them too: RULES.md says why. Ranks that
/// shared a body get bodies of their own where their windows differ. Near linear in actions,
/// dependencies and messages.
///
/// # Errors
/// [`WindowError`]; the program is as it was.
///
/// # Panics
/// If a graph has a cycle, or names ranks that don't exist: the verifier refuses these.
pub fn window(program: &mut Program, window: u32) -> Result<Windowed, WindowError> {
    if window == 0 || window > WINDOW_MAX {
        return Err(WindowError::Size(window.into()));
    }
    let whole = Whole::new(program)?;
    let (layouts, eager_limit) =
        Run::new(&whole, window).finish().map_err(|refusal| error(&whole, window, refusal))?;
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

fn error(whole: &Whole<'_>, window: u32, Refusal { vertex, why }: Refusal) -> WindowError {
    let (rank, action, body) = (whole.rank(vertex), whole.id(vertex), whole.body(vertex));
    let mut place = body.action(action).kind().name().to_owned();
    match body.debug.labels.get(action) {
        Some(label) => place.push_str(&format!(" `{label}`")),
        None => place.push_str(&format!(" number {action}")),
    }
    if let Some(line) = body.debug.lines.get(action.index()).filter(|&&line| line > 0) {
        place.push_str(&format!(" (line {line})"));
    }
    match why {
        Why::TooSmall => WindowError::TooSmall { rank, action, place, window },
        Why::OpenEnded => WindowError::OpenEnded { rank, action, place },
        Why::Deadlock => WindowError::Deadlock { rank, action, place },
    }
}
