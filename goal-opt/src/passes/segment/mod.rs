//! Segmentation: a large message on a path of dependent forwards becomes a pipeline of segments
//! (paper V: in a pipelined chain broadcast "every node sends ⌈n/s⌉ fragments").

mod bytes;
mod path;
mod rewrite;
mod slice;

use super::levels::complete_run;
use crate::limits::SEGMENTS_MAX;
use crate::machine::Machine;
use crate::pass::{Context, Refusal};
use bytes::Facts;
use goal_lang::{Action, ActionId, Body, BodyId, Program};
use path::Paths;
use std::collections::BTreeMap;

/// Splits what lies on a path of at least two messages, each sent from where the one before was
/// stored: the messages, both ends together, and the local operations in between (`RULES.md`,
/// segment).
///
/// # Errors
/// Where the size that was asked for makes too many segments.
pub(crate) fn segment(program: &mut Program, context: &Context<'_>) -> Result<bool, Refusal> {
    let asked = context.arguments.number("size").map(|size| size.max(1).next_multiple_of(BORDER));
    let rule = Rule::new(context.machine);
    let least = asked.unwrap_or(rule.least);
    let facts = facts(program, least, context);
    if facts.iter().all(Option::is_none) {
        return Ok(false);
    }
    let groups = {
        let Some((whole, trace)) = complete_run(program, context) else { return Ok(false) };
        let paths = Paths::new(&whole, &trace, &facts, asked.is_none());
        paths.splits(|bytes, hops| {
            Cut::new(bytes, asked.unwrap_or_else(|| rule.segment(bytes, hops)), context.eager_limit)
        })
    };
    let segments: u64 = groups.iter().map(|group| group.segments * group.ranks.len() as u64).sum();
    if segments > SEGMENTS_MAX {
        let message = format!(
            "{segments} segments, and at most {SEGMENTS_MAX} are made: ask for a larger size"
        );
        if asked.is_some() {
            return Err(Refusal(message));
        }
        context.note(message);
        return Ok(false);
    }
    let mut users: Vec<usize> = vec![0; program.bodies.len()];
    program.ranks.iter().for_each(|entry| users[entry.body.index()] += 1);
    for group in &groups {
        let facts = facts[group.body.index()].as_ref().expect("what is split was looked at");
        let body = rewrite::apply(&program.bodies[group.body.index()], facts, &group.splits);
        users[group.body.index()] -= group.ranks.len();
        if users[group.body.index()] == 0 {
            program.bodies[group.body.index()] = body;
            continue;
        }
        // Other ranks have the same body and are not split so.
        let own = BodyId::new(program.bodies.len());
        program.bodies.push(body);
        group.ranks.iter().for_each(|&rank| program.ranks[rank as usize].body = own);
    }
    Ok(!groups.is_empty())
}

/// By body, the facts; `None` where no message is large enough, or a bound cut the search short.
fn facts(program: &Program, least: u64, context: &Context<'_>) -> Vec<Option<Facts>> {
    let is_large = |body: &Body, action: &Action| {
        slice::is_message(action) && slice::size(body, action) > least
    };
    let facts = |body: &Body| {
        if !body.actions.iter().any(|action| is_large(body, action)) {
            return None;
        }
        let facts = Facts::new(body);
        if facts.is_none() {
            context.note("the search for who reads what was cut short: some messages stay whole");
        }
        facts
    };
    program.bodies.iter().map(facts).collect()
}

/// The ranks of a body of which the same is split.
struct Group {
    body: BodyId,
    ranks: Vec<u32>,
    /// What is split, in ascending order, and how.
    splits: Vec<(ActionId, Cut)>,
    /// Segments of a rank.
    segments: u64,
}

/// What is split of every rank, by body: ranks with the same splits share one.
type Splits = BTreeMap<(BodyId, Vec<(ActionId, Cut)>), Vec<u32>>;

/// How an action is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    /// Bytes of a segment; the last may have fewer, or takes in what would be too few.
    segment: u64,
    parts: u64,
}

impl Cut {
    /// Segments of the bytes that are asked for; of a message above the eager limit, each is above
    /// it too: its send goes on waiting for its receive.
    fn new(bytes: u64, asked: u64, eager_limit: u64) -> Self {
        if bytes <= eager_limit {
            return Self { segment: asked, parts: bytes.div_ceil(asked) };
        }
        let least =
            eager_limit.saturating_add(1).checked_next_multiple_of(BORDER).unwrap_or(u64::MAX);
        let segment = asked.max(least);
        let rest = bytes % segment;
        Self { segment, parts: (bytes / segment + u64::from(rest > eager_limit)).max(1) }
    }
}

/// Segments begin at multiples of this many bytes of a message, so that none ends within an element
/// of any datatype.
const BORDER: u64 = 8;

/// How large segments are where nobody says.
///
/// A rank that forwards is busy for c = max(g, 2o) with every segment and for b = O + max(O, G)
/// with each of its bytes. The last of n / s segments is there after (h - 1 + n / s) (c + s b) on a
/// path of h messages, which is least at s = sqrt(n c / ((h - 1) b)). Taken to the next power of
/// two, so that the segments of messages of which one is part of the other end together; and no
/// less than c / b, below which the processor has more to do with the message than with its bytes.
struct Rule {
    least: u64,
}

impl Rule {
    fn new(machine: &Machine) -> Self {
        let busy = machine.gap_ns.max(2.0 * machine.overhead_ns);
        let per_byte = machine.overhead_per_byte_ns
            + machine.overhead_per_byte_ns.max(machine.gap_per_byte_ns);
        // Where bytes cost nothing, there is nothing to win.
        let least = if per_byte > 0.0 { (busy / per_byte) as u64 } else { u64::MAX };
        Self { least: least.max(BORDER) }
    }

    fn segment(&self, bytes: u64, hops: u32) -> u64 {
        let best = (bytes as f64 * self.least as f64 / f64::from(hops.max(2) - 1)).sqrt();
        let rounded = best.log2().round().exp2() as u64;
        rounded.max(self.least).checked_next_multiple_of(BORDER).unwrap_or(u64::MAX)
    }
}
