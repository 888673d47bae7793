//! Diagrams of programs without times.
//!
//! A run without data decides which receive takes which message. A program may get stuck. Then the
//! actions that wait for ever are drawn too, and so are those that never start.

mod levels;

use crate::density::{Density, Work};
use crate::diagram::{
    Axis, Body, Dependency, Detail, Diagram, Finding, Kind, Lane, Message, Outlier, Shape, State,
    findings, most_important,
};
use crate::error::DrawError;
use crate::label::{Names, Subject, kind, of_state};
use crate::limits::{COLUMNS_MAX, ROWS_MAX, SHAPES_MAX};
use crate::options::{Options, RankSet};
use crate::slots;
use crate::unit::shortened;
use goal_lang::diag::{Code, Report};
use goal_lang::{ANY, Action};
use goal_opt::whole::{Vertex, Whole};
use levels::Levels;
use rustc_hash::{FxHashMap, FxHashSet};

/// The parts of a step in a summary. A rank that does several things in a step spends an equal part
/// on each.
const PARTS: u64 = 5040;

/// Draws a program by steps: an action stands one step behind the last action that it waits for,
/// and a receive at least one step behind its send. `report` has the findings that are drawn.
///
/// # Errors
/// If a rank is not there, or the actions are too many to be numbered.
pub fn by_steps(
    subject: &Subject<'_>,
    report: &Report,
    options: &Options,
) -> Result<Diagram, DrawError> {
    let program = subject.program;
    let ranks = RankSet::select(options.ranks.as_ref(), program.num_ranks())?;
    let whole = Whole::new(program)?;
    let levels = Levels::new(&whole, options.eager_limit);
    let mut steps = Steps { whole: &whole, levels, ranks, place_of: FxHashMap::default() };
    let (body, end) = steps.body(*subject, options);
    Ok(Diagram {
        title: steps.title(subject.name),
        subtitle: steps.subtitle(),
        axis: Axis::Steps,
        end,
        finish: None,
        ranks: program.num_ranks(),
        findings: steps.findings(report),
        notes: steps.notes(&body),
        body,
    })
}

struct Steps<'w, 'p> {
    whole: &'w Whole<'p>,
    levels: Levels,
    /// The ranks that are drawn, ascending.
    ranks: Vec<u32>,
    /// The shapes of actions that are drawn.
    place_of: FxHashMap<Vertex, u32>,
}

impl<'p> Steps<'_, 'p> {
    fn vertices(&self) -> impl Iterator<Item = (u32, Vertex)> {
        let of_lane = |(lane, &rank): (u32, &u32)| {
            self.whole.vertices_of(rank).map(move |vertex| (lane, vertex))
        };
        (0..).zip(&self.ranks).flat_map(of_lane)
    }

    fn level(&self, vertex: Vertex) -> u64 {
        self.levels.level[vertex.index()].into()
    }

    fn body(&mut self, subject: Subject<'p>, options: &Options) -> (Body, u64) {
        let end = self.vertices().map(|(_, vertex)| self.level(vertex) + 1).max().unwrap_or(1);
        let count = self.vertices().count();
        if count <= SHAPES_MAX && self.ranks.len() <= ROWS_MAX && end <= COLUMNS_MAX as u64 {
            return (Body::Detail(self.detail(subject, options)), end);
        }
        let mut summary = self.summary().finish(end.saturating_mul(PARTS));
        summary.bin /= PARTS;
        // The work of a step has no time.
        summary.outliers.retain(|outlier| !matches!(outlier, Outlier::Busiest { .. }));
        for outlier in &mut summary.outliers {
            if let Outlier::Latest { end, .. } = outlier {
                *end = (*end / PARTS).saturating_sub(1);
            }
        }
        (Body::Summary(summary), end)
    }

    fn summary(&self) -> Density {
        let mut density = Density::new(self.ranks.clone(), PARTS);
        let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
        for (lane, &rank) in self.ranks.iter().enumerate() {
            counts.clear();
            for vertex in self.whole.vertices_of(rank) {
                *counts.entry(self.level(vertex)).or_default() += 1;
            }
            for vertex in self.whole.vertices_of(rank) {
                let level = self.level(vertex);
                let from = level * PARTS;
                density.last(lane, from + PARTS);
                let work = match kind(self.whole.action(vertex)) {
                    _ if !self.levels.trace.has_ended(vertex) => continue,
                    Kind::Send => Work::Sending,
                    Kind::Receive => Work::Receiving,
                    Kind::Operation | Kind::Calculation => Work::Computing,
                    Kind::Nop | Kind::Waiting => continue,
                };
                density.add(lane, work, from, from + (PARTS / counts[&level]).max(1));
            }
        }
        density
    }

    fn state(&self, vertex: Vertex) -> State {
        let trace = &self.levels.trace;
        let is_message =
            matches!(self.whole.action(vertex), Action::Send { .. } | Action::Recv { .. });
        let is_wild = matches!(self.whole.action(vertex), &Action::Recv { from, tag, .. }
            if from == ANY || tag == ANY);
        // A receive with a wildcard may have had any sender.
        let is_alone = self.levels.partner[vertex.index()].some().is_none() && !is_wild;
        match () {
            () if is_message && is_alone => State::Unmatched,
            () if trace.has_ended(vertex) => State::Done,
            () if trace.has_started(vertex) => State::Blocked,
            () => State::Unstarted,
        }
    }

    fn detail(&mut self, subject: Subject<'p>, options: &Options) -> Detail {
        let mut names = Names::new(subject);
        let lanes = self.ranks.iter().map(|&rank| Lane { rank, slots: 1 }).collect();
        let mut detail = Detail { lanes, ..Detail::default() };
        let mut place_of = FxHashMap::default();
        for (lane, vertex) in self.vertices() {
            let texts = names.of(self.whole.rank(vertex), self.whole.id(vertex));
            let state = self.state(vertex);
            let begin = self.level(vertex);
            place_of.insert(vertex, detail.shapes.len() as u32);
            detail.shapes.push(Shape {
                lane,
                slot: 0,
                kind: texts.kind,
                begin,
                end: begin + 1,
                busy: begin + 1,
                label: texts.label,
                short: texts.short,
                tip: texts.tip + of_state(state),
                line: texts.line,
                state,
                critical: false,
            });
        }
        self.place_of = place_of;
        self.connect(&mut detail, options);
        slots::place(&mut detail.lanes, &mut detail.shapes);
        detail
    }

    /// Adds messages and dependencies, and marks the longest chain.
    fn connect(&self, detail: &mut Detail, options: &Options) {
        let chain = match options.critical_path {
            true => self.levels.longest_chain(self.whole),
            false => Vec::new(),
        };
        let chain = if chain.len() > 1 { chain } else { Vec::new() };
        for vertex in &chain {
            if let Some(&place) = self.place_of.get(vertex) {
                detail.shapes[place as usize].critical = true;
            }
        }
        let links: FxHashSet<[Vertex; 2]> =
            chain.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        let place = |vertex: &Vertex| self.place_of.get(vertex).copied();
        for (_, send) in self.vertices() {
            if self.whole.is_recv(send) {
                continue;
            }
            if let Some(receive) = self.levels.partner[send.index()].some()
                && let (Some(from), Some(to)) = (place(&send), place(&receive))
            {
                detail.messages.push(Message {
                    from,
                    to,
                    received: self.levels.trace.partner[send.index()].some().is_some(),
                    critical: links.contains(&[send, receive]),
                });
            }
            for (waiter, start) in self.waiters(send) {
                self.depend(detail, [send, waiter], start, &links, options);
            }
        }
        for (_, receive) in self.vertices().filter(|(_, vertex)| self.whole.is_recv(*vertex)) {
            for (waiter, start) in self.waiters(receive) {
                self.depend(detail, [receive, waiter], start, &links, options);
            }
        }
    }

    /// Returns the actions that wait for an action, and if they wait for its start only.
    fn waiters(&self, vertex: Vertex) -> impl Iterator<Item = (Vertex, bool)> {
        let ends = self.whole.requires(vertex).map(|waiter| (waiter, false));
        ends.chain(self.whole.irequires(vertex).map(|waiter| (waiter, true)))
    }

    fn depend(
        &self,
        detail: &mut Detail,
        link: [Vertex; 2],
        start: bool,
        links: &FxHashSet<[Vertex; 2]>,
        options: &Options,
    ) {
        let critical = links.contains(&link);
        if critical || options.dependencies {
            let [from, to] = link.map(|vertex| self.place_of[&vertex]);
            detail.dependencies.push(Dependency { from, to, start, critical });
        }
    }

    fn title(&self, name: &str) -> String {
        let count = self.whole.program.num_ranks();
        let plural = if count == 1 { "" } else { "s" };
        format!("{}: {count} rank{plural}", shortened(name, 60))
    }

    fn subtitle(&self) -> String {
        let actions = self.whole.len();
        let messages =
            self.levels.trace.partner.iter().filter(|end| end.some().is_some()).count() / 2;
        let steps = self.levels.level.iter().max().map_or(0, |last| last + 1);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        format!(
            "{actions} action{}, {messages} message{}, {steps} step{}",
            plural(actions),
            plural(messages),
            plural(steps as usize)
        )
    }

    fn notes(&self, body: &Body) -> Vec<String> {
        let mut notes = Vec::new();
        let all = self.whole.program.num_ranks() as usize;
        if self.ranks.len() < all {
            let lanes: FxHashSet<u32> = self.ranks.iter().copied().collect();
            let outside = |(_, vertex): &(u32, Vertex)| {
                let partner = self.levels.partner[vertex.index()].some();
                partner.is_some_and(|partner| !lanes.contains(&self.whole.rank(partner)))
            };
            let messages = self.vertices().filter(outside).count();
            let others = match messages {
                0 => String::new(),
                1 => ", without 1 message to or from others".to_owned(),
                count => format!(", without {count} messages to or from others"),
            };
            notes.push(format!("{} of {all} ranks are drawn{others}.", self.ranks.len()));
        }
        let trace = &self.levels.trace;
        let left = self.whole.vertices().filter(|&vertex| !trace.has_ended(vertex)).count();
        if left > 0 {
            notes.push(format!("{left} of {} actions never end.", self.whole.len()));
        }
        if let Body::Summary(summary) = body {
            notes.extend(summary.outliers(Axis::Steps));
            let (actions, messages) =
                (self.vertices().count(), trace.partner.iter().filter(|end| end.some().is_some()));
            notes.push(format!(
                "{actions} actions and {} messages are summed up: too many to draw one by one. \
                 --ranks 0-7 draws some ranks.",
                messages.count() / 2
            ));
        }
        if trace.has_wildcards {
            notes.push(
                "Receives with wildcards may take other messages: one possible run is drawn."
                    .to_owned(),
            );
        }
        notes
    }

    /// Returns the findings with their shapes.
    fn findings(&self, report: &Report) -> Vec<Finding> {
        let place = |vertex: &Vertex| self.place_of.get(vertex).copied();
        let mut findings = findings(report);
        for (finding, found) in findings.iter_mut().zip(most_important(report)) {
            let vertices: Vec<Vertex> =
                found.actions.iter().map(|&(rank, id)| self.whole.vertex(rank, id)).collect();
            finding.shapes = vertices.iter().filter_map(place).collect();
            if found.code == Code::Deadlock {
                let waits = self.waits(&vertices).into_iter();
                finding.waits =
                    waits.filter_map(|[one, other]| Some([place(&one)?, place(&other)?])).collect();
            }
        }
        findings
    }

    /// Returns the waits among actions that have not ended: pairs of waiter and awaited action.
    fn waits(&self, vertices: &[Vertex]) -> Vec<[Vertex; 2]> {
        let trace = &self.levels.trace;
        let all: FxHashSet<Vertex> = vertices.iter().copied().collect();
        let mut waits = Vec::new();
        for (at, &vertex) in vertices.iter().enumerate() {
            if trace.has_started(vertex) && !trace.has_ended(vertex) {
                // A receive from any rank waits for the action that the finding names next.
                let next = vertices.get(at + 1).or(vertices.first()).copied();
                let partner = self.levels.partner[vertex.index()].some().or(next);
                waits.extend(
                    partner.filter(|other| all.contains(other)).map(|other| [vertex, other]),
                );
            }
            for (waiter, start) in self.waiters(vertex) {
                let is_met =
                    if start { trace.has_started(vertex) } else { trace.has_ended(vertex) };
                if !is_met && all.contains(&waiter) && !trace.has_started(waiter) {
                    waits.push([waiter, vertex]);
                }
            }
        }
        waits
    }
}
