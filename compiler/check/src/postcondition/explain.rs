//! Explains wrong bytes: the required content, the actual one, and the actions that led to it.

use super::causes;
use super::compare::{Comparison, Difference, Violation, Wrong};
use super::contributions::{Contributions, Run};
use super::execute::Execution;
use super::follow::Follower;
use super::layout::{Content, Layout};
use super::near_misses::near_misses;
use super::value::{Expression, Value, Values, canonical};
use crate::options::{Blocks, Collective, OptionNames};
use crate::places::{Places, in_words};
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{Action, CollectiveKind, Function, Piece};
use goal_opt::whole::{Trace, Vertex, Whole};

/// Bound on the actions that a note names; labels show all of them.
const NAMED_MAX: usize = 12;

/// The inputs of an explanation of wrong bytes.
pub(super) struct Explainer<'a> {
    pub(super) whole: &'a Whole<'a>,
    pub(super) trace: &'a Trace,
    pub(super) places: &'a Places<'a>,
    pub(super) layout: &'a Layout,
    /// The names of options in helps.
    pub(super) names: OptionNames,
}

impl Explainer<'_> {
    /// Makes the finding about wrong bytes.
    pub(super) fn wrong(
        &self,
        wrong: &Wrong,
        execution: &Execution<'_>,
        comparison: &mut Comparison<'_>,
    ) -> Diagnostic {
        let values = &execution.values;
        let (kind, rank, addr) = (self.layout.collective.kind, wrong.rank, wrong.wanted.addr);
        let found = match &wrong.how {
            Violation::Other => self
                .displaced(values, wrong)
                .unwrap_or_else(|| format!("it is {}", self.describe(values, wrong.part.value))),
            Violation::Contributions(difference) => self.difference(values, difference),
            Violation::Order(runs) => format!(
                "the inputs are combined in the order of ranks {}, and {} need not commute",
                order(runs),
                function_name(self.layout.collective.function)
            ),
        };
        let message = format!(
            "rank {rank} does not end with the result of {kind}: byte {addr} should be {}, but {found}",
            self.wanted(wrong),
        );
        let Explainer { whole, trace, layout, .. } = *self;
        let contributions = &mut comparison.contributions;
        let steps = Follower { whole, trace, layout, execution, contributions }.steps(wrong);
        let mut diagnostic = Diagnostic::new(Code::Postcondition, message);
        for (vertex, text) in &steps {
            diagnostic = self.places.label(
                diagnostic,
                *vertex,
                format!("rank {} {text}", whole.rank(*vertex)),
            );
        }
        let mut names: Vec<String> =
            steps.iter().take(NAMED_MAX).map(|&(vertex, _)| self.places.name(vertex)).collect();
        if steps.len() > NAMED_MAX {
            names.push("and so on".to_owned());
        }
        if names.is_empty() {
            let written = causes::written_instead(whole, rank, addr);
            if written.is_empty()
                && let Some(last) = whole.vertices_of(rank).last()
            {
                let text = format!("rank {rank} does this last in its text, and writes no memory");
                diagnostic = self.places.label(diagnostic, last, text);
            }
            for (vertex, [first, last]) in written {
                let text = format!("rank {rank} writes bytes {first} to {last} here");
                diagnostic = self.places.label(diagnostic, vertex, text);
            }
        }
        let mut note = match names.is_empty() {
            true => "no action writes the byte: it is as it was at the start".to_owned(),
            false => {
                format!("how the byte came about, the last action first: {}", names.join("; "))
            }
        };
        if let Violation::Contributions(Difference { missing, .. }) = &wrong.how
            && let Some(&(missing, _)) = missing.first()
        {
            let mut ends = causes::ends_of(whole, trace, layout, execution, wrong, missing);
            ends.retain(|end| !steps.iter().any(|(vertex, _)| vertex == end));
            for &end in &ends {
                let text = format!(
                    "rank {} has what comes from rank {missing} here, and nothing is made of it",
                    whole.rank(end)
                );
                diagnostic = self.places.label(diagnostic, end, text);
            }
            if !ends.is_empty() {
                let names: Vec<String> =
                    ends.into_iter().map(|end| self.places.name(end)).collect();
                note += &format!("; what comes from rank {missing} ends in {}", names.join("; "));
            }
        }
        let way: Vec<Vertex> = steps.iter().map(|&(vertex, _)| vertex).collect();
        let near_misses = match &wrong.how {
            _ if way.is_empty() => Vec::new(),
            Violation::Contributions(difference) if difference.is_only_repeated() => Vec::new(),
            Violation::Order(_) => Vec::new(),
            _ => near_misses(whole, layout, wrong, &way),
        };
        for near_miss in near_misses {
            let text = format!(
                "rank {} writes {} here; the way of the wrong byte reads {}",
                whole.rank(near_miss.vertex),
                bytes(&near_miss.writes),
                bytes(&near_miss.reads)
            );
            diagnostic = self.places.label(diagnostic, near_miss.vertex, text);
        }
        let collective = &self.layout.collective;
        if collective.count.is_none() && collective.blocks == Blocks::Equal {
            let elements = self.layout.block_elements();
            note += &format!(
                "; a block was taken to have {elements} elements, as many as the memory that the program touches has room for"
            );
        }
        diagnostic = diagnostic.note(note);
        diagnostic.help(format!("change what these actions move or combine, or say with {} what the program is meant to compute", self.names.collective))
    }

    /// The required content in words.
    fn wanted(&self, wrong: &Wrong) -> String {
        let element = self.element(wrong.wanted.input_offset);
        match wrong.wanted.content {
            Content::Of(rank) => format!("{element} of rank {rank}'s input"),
            Content::Combined(last) => {
                let ranks = match last {
                    0 => "rank 0's input".to_owned(),
                    last if last + 1 == self.layout.ranks => "all ranks' inputs".to_owned(),
                    last => format!("the inputs of ranks 0 to {last}"),
                };
                format!(
                    "{element} of {ranks}, combined by {}",
                    function_name(self.layout.collective.function)
                )
            }
        }
    }

    /// A byte of an input or an output in words, counted in elements.
    fn element(&self, offset: u64) -> String {
        let width = self.layout.collective.datatype.width();
        match offset % width {
            0 => format!("element {}", offset / width),
            rest => format!("byte {rest} of element {}", offset / width),
        }
    }

    /// Returns a text if the bytes belong to the right combination, but to another place in it. The
    /// text does not repeat the combination, which is in the message already.
    fn displaced(&self, values: &Values, wrong: &Wrong) -> Option<String> {
        let Content::Combined(last) = wrong.wanted.content else { return None };
        let Collective { function, datatype, .. } = self.layout.collective;
        let (function, value) = (canonical(function), wrong.part.value);
        let mut own = Contributions::new(function, datatype.width());
        let phase = u64::from(own.application(values, value.node)?.phase);
        let &[Run { first: 0, last: to, shift, .. }] = &*own.of(values, value.node) else {
            return None;
        };
        let begin = phase.wrapping_add(shift) % datatype.width();
        (to == last).then(|| match begin {
            0 => format!("it is {} of that", self.element(value.offset.wrapping_add(shift))),
            begin => format!("its elements begin at byte {begin} of the inputs' elements"),
        })
    }

    /// The differences between contributions in words.
    fn difference(&self, values: &Values, difference: &Difference) -> String {
        let mut parts = Vec::new();
        let ranks = |list: &[(u32, u32)]| {
            let names: Vec<String> = list.iter().map(|&(first, last)| range(first, last)).collect();
            let many = list.len() > 1 || list[0].0 < list[0].1;
            (
                format!("rank{} {}", if many { "s" } else { "" }, names.join(", ")),
                if many { "are" } else { "is" },
            )
        };
        if !difference.missing.is_empty() {
            let (ranks, verb) = ranks(&difference.missing);
            parts.push(format!("{ranks} {verb} missing"));
        }
        if !difference.repeated.is_empty() {
            let (ranks, verb) = ranks(&difference.repeated);
            parts.push(format!("{ranks} {verb} in it more than once"));
        }
        if let Some(&foreign) = difference.foreign.first() {
            let verb = match difference.foreign.len() {
                1 => "is",
                _ => "and more are",
            };
            parts.push(format!("{} {verb} in it", self.describe(values, foreign)));
        }
        parts.join(", and ")
    }

    /// A byte of an expression in words.
    fn describe(&self, values: &Values, value: Value) -> String {
        match values.expression(value.node) {
            Expression::Input(rank) => {
                let offset = value.offset;
                let (_, size) = self.layout.input(rank);
                if offset < size {
                    format!("{} of rank {rank}'s input", self.element(offset))
                } else {
                    format!("something past rank {rank}'s input")
                }
            }
            Expression::Unwritten(rank) => {
                format!("scratch memory of rank {rank} that nothing wrote")
            }
            Expression::Constant { bits: 0, .. } => "a 0 that memory held at the start".to_owned(),
            Expression::Constant { bits, .. } => {
                format!("{bits:#x}, which memory held at the start")
            }
            Expression::Opaque { vertex, .. } => {
                let what = match self.whole.action(vertex) {
                    Action::Send { .. } => "the pattern of a message without an address",
                    Action::Wtime { .. } => "the time",
                    Action::User { .. } => "what a user function stored",
                    _ => "something made of parts of elements",
                };
                format!("{what} ({})", self.places.name(vertex))
            }
            Expression::Applied(application) => {
                let mut own = Contributions::new(
                    application.function,
                    self.layout.collective.datatype.width(),
                );
                let runs = own.of(values, value.node);
                let inputs: Vec<Run> =
                    runs.iter().copied().filter(|run| run.last < self.layout.ranks).collect();
                let name = function_name(application.function);
                match inputs.is_empty() {
                    true => format!("a {name} of no rank's input"),
                    false => {
                        let many = inputs.len() > 1 || inputs[0].first < inputs[0].last;
                        let ranks = if many { "ranks" } else { "rank" };
                        format!("a {name} of {ranks} {}", order(&inputs))
                    }
                }
            }
        }
    }
}

/// The bytes of a piece in words.
fn bytes(piece: &Piece) -> String {
    in_words(piece.space, &(piece.addr..piece.addr.saturating_add(piece.size)))
}

fn function_name(function: Function) -> String {
    match function {
        Function::Predefined(op, datatype) => format!("{}{}", op.name(), datatype.name()),
        Function::User(number) => format!("user function {number}"),
    }
}

fn range(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

/// Returns the first few ranks of `runs` in words, in their order.
fn order(runs: &[Run]) -> String {
    let names: Vec<String> = runs.iter().take(8).map(|run| range(run.first, run.last)).collect();
    let more = if runs.len() > names.len() { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// The finding that the comparison was given up.
pub(super) fn unknown(kind: CollectiveKind, reason: &str) -> Diagnostic {
    Diagnostic::new(
        Code::Postcondition,
        format!("the program was not held against {kind} to the end: {reason}"),
    )
}
