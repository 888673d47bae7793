//! What memory holds in the end against what it must hold.

use super::contributions::{Contributions, Run, merged};
use super::execute::Execution;
use super::layout::{Content, Layout, Wanted};
use super::memory::Part;
use super::value::{Node, Value, Values, canonical, commutes, is_idempotent, is_logical, width};
use goal_lang::{Function, Piece, Space};

/// The first bytes of a rank that are not what they must be.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) rank: u32,
    /// What they must be, from the first wrong byte on.
    pub(super) wanted: Wanted,
    /// What they are.
    pub(super) part: Part,
    pub(super) how: Violation,
}

/// In what way bytes are wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// They are something else.
    Other,
    /// They combine other inputs.
    Contributions(Difference),
    /// They combine the inputs, but in this order of ranks and with a function that may not
    /// commute.
    Order(Vec<Run>),
}

/// What is wrong with the contributions to a combination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Ranks whose element is not there, as first and last.
    pub(super) missing: Vec<(u32, u32)>,
    /// Ranks whose element is there too often.
    pub(super) repeated: Vec<(u32, u32)>,
    /// What does not belong there, each a byte of an expression.
    pub(super) foreign: Vec<Value>,
}

impl Difference {
    fn is_none(&self) -> bool {
        self.is_only_repeated() && self.repeated.is_empty()
    }

    /// Whether everything is there that should be, and nothing else.
    pub(super) fn is_only_repeated(&self) -> bool {
        self.missing.is_empty() && self.foreign.is_empty()
    }
}

/// Most entries of a list of what is wrong.
const LISTED_MAX: usize = 8;

/// Compares the outputs of ranks.
pub(super) struct Comparison<'a> {
    layout: &'a Layout,
    function: Function,
    pub(super) contributions: Contributions,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        let function = canonical(layout.collective.function);
        let contributions = Contributions::new(function, layout.collective.datatype.width());
        Self { layout, function, contributions }
    }

    /// The first wrong bytes of a rank.
    pub(super) fn rank(&mut self, execution: &mut Execution<'_>, rank: u32) -> Option<Wrong> {
        let mut wrong = None;
        let mut outputs = Vec::new();
        self.layout.visit_outputs(rank, |wanted| outputs.push(wanted));
        for wanted in outputs {
            let Wanted { addr, size, .. } = wanted;
            let mut done = 0;
            for part in execution.read(rank, Piece { addr, size, space: Space::Memory }) {
                let wanted = Wanted {
                    addr: addr + done,
                    size: size - done,
                    input_offset: wanted.input_offset + done,
                    ..wanted
                };
                if let Some(how) = self.violation(&execution.values, part.value, &wanted) {
                    wrong = Some(Wrong { rank, wanted, part, how });
                    break;
                }
                done += part.size;
            }
            if wrong.is_some() {
                break;
            }
        }
        wrong
    }

    fn violation(&mut self, values: &Values, value: Value, wanted: &Wanted) -> Option<Violation> {
        let is_input = |rank| value == Value::at(Values::input(rank), wanted.input_offset);
        let last = match wanted.content {
            Content::Of(rank) if is_input(rank) => return None,
            Content::Of(_) => return Some(Violation::Other),
            Content::Combined(0) if is_input(0) => return None,
            // What was made 0 or 1 is not the input any more.
            Content::Combined(0) if is_logical(self.function) => return Some(Violation::Other),
            Content::Combined(last) => last,
        };
        let shift = wanted.input_offset.wrapping_sub(value.offset);
        let element = width(self.function, self.layout.collective.datatype.width());
        let phase =
            self.contributions.application(values, value.node).map(|found| u64::from(found.phase));
        if phase.is_some_and(|phase| phase.wrapping_add(shift) % element != 0) {
            return Some(Violation::Other);
        }
        let start = phase.unwrap_or(0_u64.wrapping_sub(shift));
        let runs = self.contributions.of(values, value.node);
        let is_neutral = |run: &Run| {
            run.first == run.last
                && values.is_neutral(Node(run.first), start.wrapping_add(run.shift), self.function)
        };
        if commutes(self.function) {
            let difference = self.difference(&runs, last, shift, value, is_neutral);
            return (!difference.is_none()).then_some(Violation::Contributions(difference));
        }
        if runs[..] == [Run { first: 0, last, shift, count: 1 }] {
            return None;
        }
        let sorted =
            runs.iter().fold(Vec::new(), |all, run| merged(&all, &[*run], u32::saturating_add));
        let difference = self.difference(&sorted, last, shift, value, is_neutral);
        Some(if difference.is_none() {
            Violation::Order(runs.to_vec())
        } else {
            Violation::Contributions(difference)
        })
    }

    /// Sorted contributions against one of each rank up to `last`.
    fn difference(
        &self,
        runs: &[Run],
        last: u32,
        shift: u64,
        value: Value,
        is_neutral: impl Fn(&Run) -> bool,
    ) -> Difference {
        let mut difference = Difference::default();
        let mut next = 0;
        for run in runs {
            if run.shift != shift || run.last > last {
                if !is_neutral(run) && difference.foreign.len() < LISTED_MAX {
                    let outside =
                        if run.shift == shift { run.first.max(last + 1) } else { run.first };
                    let byte = Value::at(Node(outside), value.offset.wrapping_add(run.shift));
                    difference.foreign.push(byte);
                }
                if run.shift != shift || run.first > last {
                    continue;
                }
            }
            note(&mut difference.missing, next, run.first.checked_sub(1));
            let run_last = run.last.min(last);
            if run.count > 1 && !is_idempotent(self.function) {
                note(&mut difference.repeated, run.first, Some(run_last));
            }
            next = run_last + 1;
        }
        note(&mut difference.missing, next, Some(last));
        difference
    }
}

fn note(list: &mut Vec<(u32, u32)>, first: u32, last: Option<u32>) {
    if let Some(last) = last.filter(|&last| last >= first)
        && list.len() < LISTED_MAX
    {
        list.push((first, last));
    }
}
