//! The inputs that an expression combines, as runs of consecutive ranks. The usual algorithms have
//! few runs.

use super::value::{Application, Expression, Node, Values, commutes, width};
use crate::limits::{COUNTED_OPERANDS_MAX, KEPT_RUNS_MAX};
use goal_lang::Function;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Consecutive expressions that contribute in the same way. The inputs of the ranks are the first
/// expressions, so a run of inputs is a run of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Byte `o + shift` of the contribution is combined into byte `o` of the combination.
    pub(super) shift: u64,
    /// The number of times that each expression of the run contributes.
    pub(super) count: u32,
}

impl Run {
    pub(super) fn one(node: Node) -> Self {
        Self { first: node.0, last: node.0, shift: 0, count: 1 }
    }

    fn key(&self) -> (u64, u32) {
        (self.shift, self.first)
    }
}

/// Computes the contributions to expressions of one associative function. They are sorted by shift
/// and expression if the function commutes. Otherwise they are in the order of application.
#[derive(Debug)]
pub(super) struct Contributions {
    function: Function,
    element: u64,
    known: FxHashMap<Node, Rc<[Run]>>,
    /// The number of runs in `known`.
    kept: usize,
    /// The number of operands that were counted without keeping the results.
    pub(super) counted: u64,
}

impl Contributions {
    /// Makes an empty table for a canonical function. `element` is the size in bytes of the
    /// elements of a user function.
    pub(super) fn new(function: Function, element: u64) -> Self {
        Self {
            function,
            element: width(function, element),
            known: FxHashMap::default(),
            kept: 0,
            counted: 0,
        }
    }

    /// Returns the expression `node` if it applies the function of this table; otherwise `None`.
    pub(super) fn application(&self, values: &Values, node: Node) -> Option<Application> {
        match values.expression(node) {
            Expression::Applied(application) if application.function == self.function => {
                Some(application)
            }
            _ => None,
        }
    }

    /// The contributions to an expression. An expression that does not apply the function
    /// contributes itself.
    pub(super) fn of(&mut self, values: &Values, node: Node) -> Rc<[Run]> {
        let Some(whole) = self.application(values, node) else {
            return Rc::new([Run::one(node)]);
        };
        let mut open = vec![node];
        while let Some(&top) = open.last() {
            if self.kept > KEPT_RUNS_MAX {
                self.known = FxHashMap::default();
                return self.of_large(values, node, u64::from(whole.phase)).into();
            }
            let Some(application) =
                self.application(values, top).filter(|_| !self.known.contains_key(&top))
            else {
                open.pop();
                continue;
            };
            let missing = [application.a, application.b].into_iter().filter(|operand| {
                self.application(values, *operand).is_some() && !self.known.contains_key(operand)
            });
            let before = open.len();
            open.extend(missing);
            if open.len() == before {
                let runs = self.combined(values, application);
                self.kept += runs.len();
                self.known.insert(top, runs);
                open.pop();
            }
        }
        Rc::clone(&self.known[&node])
    }

    /// Returns true if the bound on counted operands is reached: further results are not valid.
    pub(super) fn is_exhausted(&self) -> bool {
        self.counted > COUNTED_OPERANDS_MAX
    }

    /// Returns the contributions to an application with elements at `phase`. Keeps no intermediate
    /// results, for expressions whose lists would together take too much memory.
    pub(super) fn of_large(&mut self, values: &Values, node: Node, phase: u64) -> Vec<Run> {
        if commutes(self.function) {
            self.counted(values, node, phase)
        } else {
            self.listed(values, node, phase)
        }
    }

    /// Counts the contributions: adds the count of each expression to its operands. Goes from the
    /// newest expression to the oldest, as operands are older than their expression.
    fn counted(&mut self, values: &Values, node: Node, phase: u64) -> Vec<Run> {
        let mut open = BTreeMap::from([((node, 0), 1)]);
        let mut runs = Vec::new();
        while let Some(((node, shift), count)) = open.pop_last() {
            self.counted += 1;
            if self.is_exhausted() {
                break;
            }
            match self.operands(values, node, shift, phase) {
                Some(operands) => {
                    for operand in operands {
                        let times: &mut u32 = open.entry(operand).or_default();
                        *times = times.saturating_add(count);
                    }
                }
                None => runs.push(Run { shift, count, ..Run::one(node) }),
            }
        }
        runs.sort_unstable_by_key(Run::key);
        joined(&[], &runs)
    }

    /// Lists the contributions from left to right.
    fn listed(&mut self, values: &Values, node: Node, phase: u64) -> Vec<Run> {
        let mut open = vec![(node, 0)];
        let mut runs = Vec::new();
        while let Some((node, shift)) = open.pop() {
            self.counted += if runs.len() > KEPT_RUNS_MAX { COUNTED_OPERANDS_MAX } else { 1 };
            if self.is_exhausted() {
                break;
            }
            match self.operands(values, node, shift, phase) {
                Some([a, b]) => open.extend([b, a]),
                None => push(&mut runs, Run { shift, ..Run::one(node) }),
            }
        }
        runs
    }

    /// Returns the operands of `node` with their shifts. `node` is `shift` bytes ahead of an
    /// expression with elements at `phase`. Returns `None` if `node` does not apply the function to
    /// the same elements.
    fn operands(
        &self,
        values: &Values,
        node: Node,
        shift: u64,
        phase: u64,
    ) -> Option<[(Node, u64); 2]> {
        let Application { phase: own, a, b, delta, .. } = self.application(values, node)?;
        let is_aligned = phase.wrapping_add(shift).wrapping_sub(u64::from(own)) % self.element == 0;
        is_aligned.then(|| [(a, shift), (b, shift.wrapping_add(delta))])
    }

    /// Returns the contributions to an application. The contributions to its operands must be in
    /// `known`.
    fn combined(&self, values: &Values, application: Application) -> Rc<[Run]> {
        let Application { phase, a, b, delta, .. } = application;
        let a = self.operand(values, a, u64::from(phase), 0);
        let b = self.operand(values, b, u64::from(phase), delta);
        if commutes(self.function) { merged(&a, &b, u32::saturating_add) } else { joined(&a, &b) }
            .into()
    }

    /// Returns the contributions of an operand that is `shift` bytes ahead. If its elements begin
    /// at other positions, the operand contributes itself, as it does not apply the function to the
    /// same elements.
    fn operand(&self, values: &Values, node: Node, phase: u64, shift: u64) -> Vec<Run> {
        let is_aligned = |application: &Application| {
            phase.wrapping_add(shift).wrapping_sub(u64::from(application.phase)) % self.element == 0
        };
        let own = [Run::one(node)];
        let runs = match self.application(values, node).filter(is_aligned) {
            Some(_) => &self.known[&node][..],
            None => &own,
        };
        let mut runs: Vec<Run> =
            runs.iter().map(|run| Run { shift: run.shift.wrapping_add(shift), ..*run }).collect();
        if shift != 0 && commutes(self.function) {
            runs.sort_unstable_by_key(Run::key);
        }
        runs
    }
}

/// Merges two sorted lists of runs. `combine` computes the count of expressions that are in both
/// lists.
pub(super) fn merged(a: &[Run], b: &[Run], combine: impl Fn(u32, u32) -> u32) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied(), b.iter().copied());
    let (mut x, mut y) = (a.next(), b.next());
    loop {
        match (&mut x, &mut y) {
            (None, None) => return out,
            (Some(p), None) => {
                push(&mut out, *p);
                x = a.next();
            }
            (None, Some(q)) => {
                push(&mut out, *q);
                y = b.next();
            }
            (Some(p), Some(q)) if (p.shift, p.last) < q.key() => {
                push(&mut out, *p);
                x = a.next();
            }
            (Some(p), Some(q)) if (q.shift, q.last) < p.key() => {
                push(&mut out, *q);
                y = b.next();
            }
            (Some(p), Some(q)) if p.first < q.first => {
                push(&mut out, Run { last: q.first - 1, ..*p });
                p.first = q.first;
            }
            (Some(p), Some(q)) if q.first < p.first => {
                push(&mut out, Run { last: p.first - 1, ..*q });
                q.first = p.first;
            }
            (Some(p), Some(q)) => {
                let last = p.last.min(q.last);
                push(&mut out, Run { last, count: combine(p.count, q.count), ..*p });
                let (p_ends, q_ends) = (p.last == last, q.last == last);
                (p.first, q.first) = (last.saturating_add(1), last.saturating_add(1));
                if p_ends {
                    x = a.next();
                }
                if q_ends {
                    y = b.next();
                }
            }
        }
    }
}

/// Returns the runs of `a`, followed by the runs of `b`.
fn joined(a: &[Run], b: &[Run]) -> Vec<Run> {
    let mut out = a.to_vec();
    b.iter().for_each(|&run| push(&mut out, run));
    out
}

/// Appends a run. A run that continues the last one extends it.
fn push(out: &mut Vec<Run>, run: Run) {
    match out.last_mut() {
        Some(last)
            if last.shift == run.shift
                && last.count == run.count
                && last.last.checked_add(1) == Some(run.first) =>
        {
            last.last = run.last;
        }
        _ => out.push(run),
    }
}
