//! Which bytes of memory count when a schedule has ended.

use crate::pass::{Context, Parameter, Values};
use goal_lang::{BodyId, Program, Space};

/// The parameter of the passes that ask.
pub(crate) const OUTPUTS: Parameter = Parameter {
    name: "outputs",
    description: "what counts at the end: memory, all of it; or expect, what some rank with the same actions expects",
    values: Values::Word(&["memory", "expect"]),
};

/// The bytes of memory at the end that somebody may look at.
pub(crate) enum Outputs {
    /// All.
    Memory,
    /// Those of these ranges, which ascend and don't touch.
    Ranges(Vec<(u64, u64)>),
}

impl Outputs {
    /// Those of the ranks that run a body, by the parameter [`OUTPUTS`].
    pub(crate) fn of(program: &Program, body: BodyId, context: &Context<'_>) -> Self {
        if context.arguments.word(OUTPUTS.name) == "memory" {
            return Outputs::Memory;
        }
        let images = program.ranks.iter().filter(|entry| entry.body == body).filter_map(|entry| entry.image);
        let data = images.flat_map(|image| &program.images[image.index()].expect);
        let mut ranges: Vec<(u64, u64)> =
            data.map(|datum| (datum.addr, datum.addr.saturating_add(datum.bytes.len() as u64))).collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        Outputs::Ranges(ranges)
    }

    /// Whether what lies there at the end counts.
    pub(crate) fn count(&self, space: Space, start: u64, end: u64) -> bool {
        match (space, self) {
            (Space::Scratch, _) => false,
            (Space::Memory, Outputs::Memory) => true,
            (Space::Memory, Outputs::Ranges(ranges)) => {
                let at = ranges.partition_point(|range| range.1 <= start);
                ranges.get(at).is_some_and(|range| range.0 < end)
            }
        }
    }
}
