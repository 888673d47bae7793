//! Compares the memory at the end with the definition of the collective.

use super::contributions::{Contributions, Run, merged};
use super::execute::Execution;
use super::layout::{Content, Layout, Wanted};
use super::memory::Part;
use super::value::{Node, Value, Values, canonical, commutes, is_idempotent, is_logical, width};
use goal_lang::{Function, Piece, Space};

/// The first wrong bytes of a rank.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) rank: u32,
    /// The required content, from the first wrong byte on.
    pub(super) wanted: Wanted,
    /// The actual content.
    pub(super) part: Part,
    pub(super) how: Violation,
}

/// The way in which the content of memory is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// The content is wrong in another way than the other variants.
    Other,
    /// The content combines other inputs than required.
    Contributions(Difference),
    /// The content combines the right inputs with a function that may not commute. The order of
    /// ranks, as in these runs, is not ascending.
    Order(Vec<Run>),
}

/// The differences between the contributions to a combination and the required ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Ranks whose element is missing, as first and last of each run.
    pub(super) missing: Vec<(u32, u32)>,
    /// Ranks whose element contributes more than once.
    pub(super) repeated: Vec<(u32, u32)>,
    /// Contributions that are no required input, each as a byte of an expression.
    pub(super) foreign: Vec<Value>,
}

impl Difference {
    fn is_none(&self) -> bool {
        self.is_only_repeated() && self.repeated.is_empty()
    }

    /// Returns true if no input is missing and nothing foreign contributes.
    pub(super) fn is_only_repeated(&self) -> bool {
        self.missing.is_empty() && self.foreign.is_empty()
    }
}

/// Bound on the entries of each list of differences.
const LISTED_MAX: usize = 8;

/// Compares the outputs of ranks with the layout of the collective.
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

    /// Returns the first wrong bytes in the outputs of a rank; `None` if all are right.
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

    /// Compares a value with the required content of `wanted.addr`. Returns `None` if the value is
    /// right.
    ///
    /// The value is `value.offset` bytes into its expression, and the content is
    /// `wanted.input_offset` bytes into the inputs. Every contribution must have the difference of
    /// the two as its `shift`.
    fn violation(&mut self, values: &Values, value: Value, wanted: &Wanted) -> Option<Violation> {
        let is_input = |rank| value == Value::at(Values::input(rank), wanted.input_offset);
        let last = match wanted.content {
            Content::Of(rank) if is_input(rank) => return None,
            Content::Of(_) => return Some(Violation::Other),
            Content::Combined(0) if is_input(0) => return None,
            // A logical operation makes 0 or 1 of its input, so the result is not the input.
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

    /// Compares sorted contributions with the required ones: exactly one of each rank from 0 to
    /// `last`.
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
            add_ranks(&mut difference.missing, next, run.first.checked_sub(1));
            let run_last = run.last.min(last);
            if run.count > 1 && !is_idempotent(self.function) {
                add_ranks(&mut difference.repeated, run.first, Some(run_last));
            }
            next = run_last + 1;
        }
        add_ranks(&mut difference.missing, next, Some(last));
        difference
    }
}

/// Adds the ranks from `first` to `last` to a list, if there are any.
fn add_ranks(list: &mut Vec<(u32, u32)>, first: u32, last: Option<u32>) {
    if let Some(last) = last.filter(|&last| last >= first)
        && list.len() < LISTED_MAX
    {
        list.push((first, last));
    }
}
