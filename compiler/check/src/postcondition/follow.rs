//! Goes back from wrong bytes to the actions that made them wrong.

use super::compare::{Difference, Violation, Wrong};
use super::contributions::Contributions;
use super::execute::Execution;
use super::layout::Layout;
use super::trail::{Source, Step, Stored};
use super::value::{Expression, Node, Values, canonical};
use goal_lang::{Action, Op};
use goal_opt::whole::{Trace, Vertex, Whole};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The most actions that an explanation goes back through.
const STEPS_MAX: usize = 512;

/// The most operands that an explanation counts on its way back.
const COUNTED_MAX: u64 = 1 << 20;

/// The most stored ranges that are searched for bytes that come from no input.
const SEARCHED_MAX: usize = 1 << 16;

/// Goes back through the actions that stored wrong bytes.
pub(super) struct Follower<'a, 'e> {
    pub(super) whole: &'a Whole<'a>,
    pub(super) trace: &'a Trace,
    pub(super) layout: &'a Layout,
    pub(super) execution: &'a Execution<'e>,
    pub(super) contributions: &'a mut Contributions,
}

impl Follower<'_, '_> {
    /// Returns the actions that led to wrong bytes, the last action first, each with a description.
    /// Follows both operands of a combination, unless only one contains the fault.
    pub(super) fn steps(&mut self, wrong: &Wrong) -> Vec<(Vertex, String)> {
        let counted = self.contributions.counted;
        let strange = self.strange(wrong.part.step);
        let mut steps = Vec::new();
        let (mut named, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut open = VecDeque::from([wrong.part.source()]);
        while let Some(at) = open.pop_front()
            && steps.len() < STEPS_MAX
            && self.contributions.counted - counted < COUNTED_MAX
        {
            let Some(Stored { vertex, from }) = self.execution.trail.stored(at.step) else {
                continue;
            };
            if !seen.insert(at.step) {
                continue;
            }
            let (text, follows) = match self.moves(vertex) {
                Some(text) => (text.to_owned(), [true, false]),
                None => self.combined(wrong, at, from, &strange),
            };
            if named.insert(vertex) {
                steps.push((vertex, text));
            }
            if follows[0] && self.whole.is_recv(vertex) {
                let send = self.trace.partner[vertex.index()];
                if named.insert(send) {
                    steps.push((send, "sends it here".to_owned()));
                }
            }
            open.extend(
                from.into_iter()
                    .zip(follows)
                    .filter_map(|(source, follow)| follow.then_some(source)),
            );
        }
        // The count is restored, so that an explanation does not use up the bound of the proof for
        // further ranks.
        self.contributions.counted = counted;
        steps
    }

    /// The description of an action that moved bytes unchanged.
    fn moves(&self, vertex: Vertex) -> Option<&'static str> {
        let action = self.whole.action(vertex);
        let text = match action {
            Action::Recv { .. } => "receives it here",
            Action::Exec { op: Op::Copy, .. } | Action::ExecVector { op: Op::Copy, .. } => {
                "copies it here"
            }
            Action::Wtime { .. } | Action::User { .. } => "stores it here",
            _ => return None,
        };
        self.whole.body(vertex).reduction(action).is_none().then_some(text)
    }

    /// The description of a combination, and the operands to follow.
    fn combined(
        &mut self,
        wrong: &Wrong,
        at: Source,
        from: [Source; 2],
        strange: &FxHashSet<Step>,
    ) -> (String, [bool; 2]) {
        let combines = "combines it here".to_owned();
        let Violation::Contributions(difference) = &wrong.how else { return (combines, [true; 2]) };
        if let Some(&(rank, _)) = difference.repeated.first() {
            let times = from.map(|operand| self.times(operand.node, Values::input(rank)));
            match times.map(|times| times > 1) {
                [false, false] if !times.contains(&0) => {
                    let text =
                        format!("combines two operands here that both have rank {rank}'s in them");
                    return (text, [true; 2]);
                }
                [false, false] if times == [0, 0] => {}
                [false, false] => return (combines, times.map(|times| times > 0)),
                inside => return (combines, inside),
            }
        }
        if !difference.foreign.is_empty() {
            return (combines, self.foreign(difference, at, from));
        }
        let inside = from.map(|operand| strange.contains(&operand.step));
        let leaf = self.is_strange_leaf(from[0]);
        let strange = [inside[0] || leaf, inside[1]];
        (combines, if strange == [false; 2] { [true; 2] } else { strange })
    }

    /// Returns, for each operand, true if it contains a foreign contribution. If neither operand
    /// does, both are followed. But the way ends at an operation with another function, which is
    /// itself foreign.
    fn foreign(&mut self, difference: &Difference, at: Source, from: [Source; 2]) -> [bool; 2] {
        let has = from.map(|operand| {
            difference.foreign.iter().any(|foreign| self.times(operand.node, foreign.node) > 0)
                || difference.foreign.iter().any(|foreign| operand.node == foreign.node)
        });
        if has != [false; 2] {
            return has;
        }
        let own = canonical(self.layout.collective.function);
        let is_other = matches!(
            self.execution.values.expression(at.node),
            Expression::Applied(application) if application.function != own
        );
        [!is_other; 2]
    }

    /// Returns how often the expression `wanted` contributes to `node`.
    fn times(&mut self, node: Node, wanted: Node) -> u32 {
        let runs = self.contributions.of(&self.execution.values, node);
        let of_wanted = runs.iter().filter(|run| (run.first..=run.last).contains(&wanted.0));
        of_wanted.fold(0, |times: u32, run| times.saturating_add(run.count))
    }

    /// Returns true for bytes that neither an earlier step stored nor a rank has as its input. An
    /// example is the content of memory at the start.
    fn is_strange_leaf(&self, source: Source) -> bool {
        source.step == Step::NONE
            && !matches!(self.execution.values.expression(source.node), Expression::Input(_))
    }

    /// Returns those of `last` and its earlier steps that have bytes without an input
    /// ([`is_strange_leaf`](Self::is_strange_leaf)).
    fn strange(&self, last: Step) -> FxHashSet<Step> {
        let mut seen = FxHashSet::default();
        let mut open = vec![last];
        let mut ranges = Vec::new();
        while let Some(step) = open.pop()
            && ranges.len() < SEARCHED_MAX
        {
            if let Some(Stored { from, .. }) = self.execution.trail.stored(step)
                && seen.insert(step)
            {
                ranges.push((step, from));
                open.extend(from.map(|operand| operand.step));
            }
        }
        // A range is made only of ranges that were stored earlier.
        ranges.sort_unstable_by_key(|&(step, _)| step);
        let mut strange = FxHashSet::default();
        for (step, from) in ranges {
            let is_inside = from.iter().any(|operand| strange.contains(&operand.step));
            if is_inside || self.is_strange_leaf(from[0]) {
                strange.insert(step);
            }
        }
        strange
    }
}
