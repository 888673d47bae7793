//! The bytes of memory that count when a schedule has ended.

use crate::pass::{Context, Parameter, Values};
use goal_lang::{Program, Space};

/// The parameter of passes that sets which bytes count.
pub(crate) const OUTPUTS: Parameter = Parameter {
    name: "outputs",
    description: "the result that is kept: memory keeps all memory; expect keeps the bytes that a rank with the same actions expects",
    values: Values::Word(&["memory", "expect"]),
};

/// The bytes of memory that are outputs of the schedule.
pub(crate) enum Outputs {
    /// All bytes.
    Memory,
    /// The bytes of these ranges, which ascend and don't touch.
    Ranges(Vec<(u64, u64)>),
}

impl Outputs {
    /// Returns, by body, the outputs of the ranks that run it, as the parameter [`OUTPUTS`] states
    /// them.
    pub(crate) fn from_bodies(program: &Program, context: &Context<'_>) -> Vec<Self> {
        let expects = context.arguments.word(OUTPUTS.name) != "memory";
        let none = || if expects { Outputs::Ranges(Vec::new()) } else { Outputs::Memory };
        let mut outputs: Vec<Self> = program.bodies.iter().map(|_| none()).collect();
        for entry in &program.ranks {
            if let (Outputs::Ranges(ranges), Some(image)) =
                (&mut outputs[entry.body.index()], entry.image)
            {
                let expected = program.images[image.index()].expect.iter();
                ranges.extend(expected.map(|datum| {
                    (datum.addr, datum.addr.saturating_add(datum.bytes.len() as u64))
                }));
            }
        }
        outputs.iter_mut().for_each(Self::put_in_order);
        outputs
    }

    /// Sorts the ranges and joins those that touch.
    fn put_in_order(&mut self) {
        let Outputs::Ranges(ranges) = self else { return };
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
    }

    /// Returns true if some byte of a range is an output.
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
