//! Diagrams of simulations, made while they run.
//!
//! A small program is kept with each job and each message. A larger one is summed up, so the memory
//! does not grow with it.

use crate::density::{Density, Work};
use crate::diagram::{Axis, Body, Detail, Diagram, Kind, Lane, Mark, Message, Shape, State};
use crate::error::DrawError;
use crate::label::{Names, Subject, receive, send};
use crate::limits::{LINE_CHARS_MAX, ROWS_MAX, SHAPES_MAX};
use crate::options::{Options, RankSet};
use crate::unit::{Duration, shortened};
use goal_lang::ActionId;
use goal_loggops::model::{Job, Observer, Part, Track, tracks};
use goal_loggops::path::{Path, Work as PathWork};
use goal_loggops::{Kind as Act, Record, Workload};
use rustc_hash::{FxHashMap, FxHashSet};

/// Watches a simulation, and makes its diagram.
pub struct Recorder<'a> {
    workload: &'a Workload,
    names: Option<Names<'a>>,
    name: String,
    ranks: Vec<u32>,
    /// By rank, its lane.
    lane_of: Vec<Option<u32>>,
    /// By lane, the actions that have ended.
    ended: Vec<u32>,
    body: Kept,
    latest: u64,
}

enum Kept {
    Detail(Jobs),
    Summary(Density),
}

/// The jobs of a small program.
#[derive(Default)]
struct Jobs {
    detail: Detail,
    /// By action, and if it is the taking in of its message, its shape.
    shape_of: FxHashMap<(u32, bool), u32>,
    /// By [`Held::place`] of a processor, its row in its lane, and its number.
    ///
    /// [`Held::place`]: goal_loggops::model::Held::place
    row_of: Vec<(u32, u16)>,
}

/// Returns the rows of processors in the order of their numbers.
fn rows_of(tracks: &[Track]) -> Vec<(u32, u16)> {
    let mut order: Vec<usize> =
        (0..tracks.len()).filter(|&at| tracks[at].part == Part::Processor).collect();
    order.sort_by_key(|&at| (tracks[at].rank, tracks[at].number));
    let mut rows = vec![(0, 0); tracks.len()];
    let mut last = (u32::MAX, 0);
    for at in order {
        let Track { rank, number, .. } = tracks[at];
        last = if rank == last.0 { (rank, last.1 + 1) } else { (rank, 0) };
        rows[at] = (last.1, number);
    }
    rows
}

impl<'a> Recorder<'a> {
    /// Begins a diagram. `name` is that of the input. A LogGOPSim binary has a workload alone.
    ///
    /// # Errors
    /// If a rank is not there.
    pub fn new(
        name: &str,
        workload: &'a Workload,
        subject: Option<Subject<'a>>,
        options: &Options,
    ) -> Result<Self, DrawError> {
        let count = workload.num_ranks() as u32;
        let ranks = RankSet::select(options.ranks.as_ref(), count)?;
        let mut lane_of = vec![None; workload.num_ranks()];
        for (lane, &rank) in (0..).zip(&ranks) {
            lane_of[rank as usize] = Some(lane);
        }
        let tracks = tracks(workload);
        let mut rows = vec![0; ranks.len()];
        for track in tracks.iter().filter(|track| track.part == Part::Processor) {
            if let Some(lane) = lane_of[track.rank as usize] {
                rows[lane as usize] += 1;
            }
        }
        // A send and the taking in of its message are two jobs.
        let is_job = |&action: &u32| {
            workload.record(action).kind != Act::Dummy || is_marker(workload, action)
        };
        let jobs: usize =
            ranks.iter().map(|&rank| workload.actions(rank).filter(is_job).count()).sum();
        let all_rows: u64 = rows.iter().map(|rows| (*rows).max(1)).sum();
        let body = if jobs <= SHAPES_MAX && all_rows <= ROWS_MAX as u64 {
            let lanes = ranks.iter().zip(&rows);
            let lanes = lanes.map(|(&rank, &rows)| Lane { rank, slots: (rows as u32).max(1) });
            let detail = Detail { lanes: lanes.collect(), ..Detail::default() };
            Kept::Detail(Jobs { detail, shape_of: FxHashMap::default(), row_of: rows_of(&tracks) })
        } else {
            let mut density = Density::new(ranks.clone(), 1);
            rows.iter().enumerate().for_each(|(lane, &rows)| density.set_rows(lane, rows));
            Kept::Summary(density)
        };
        let ended = vec![0; ranks.len()];
        Ok(Self {
            workload,
            names: subject.map(Names::new),
            name: shortened(name, 60),
            ranks,
            lane_of,
            ended,
            body,
            latest: 0,
        })
    }

    /// Returns the diagram of a simulation that ended at `finish`, in picoseconds. `machine` tells
    /// the parameters, `path` is the critical path if it is known, and `left` the number of actions
    /// that never end.
    pub fn finish(self, machine: &str, finish: u64, path: Option<&Path>, left: u64) -> Diagram {
        let count = self.workload.num_ranks();
        let finish = self.latest.max(finish);
        let mut end = finish.max(1);
        let mut notes = Vec::new();
        if self.ranks.len() < count {
            notes.push(format!(
                "{} of {count} ranks are drawn, without their messages to or from others.",
                self.ranks.len()
            ));
        }
        if left > 0 {
            notes.push(format!(
                "The simulation gets stuck: {left} action{} never end{}. What comes before is \
                 drawn.",
                if left == 1 { "" } else { "s" },
                if left == 1 { "s" } else { "" },
            ));
        }
        let body = match self.body {
            Kept::Detail(mut jobs) => {
                path.into_iter().for_each(|path| jobs.mark_path(path));
                add_waits(&mut jobs.detail);
                if left > 0 {
                    end = end.saturating_add(end / 4).max(4);
                    let is_stuck = |&(lane, &rank): &(usize, &u32)| {
                        (self.ended[lane] as usize) < self.workload.actions(rank).len()
                    };
                    let stuck = self.ranks.iter().enumerate().filter(is_stuck);
                    stuck.for_each(|(lane, _)| jobs.stop(lane as u32, end));
                }
                Body::Detail(jobs.detail)
            }
            Kept::Summary(density) => {
                let summary = density.finish(end);
                notes.extend(summary.outliers(Axis::Simulated));
                notes.push(
                    "Actions and messages are summed up: too many to draw one by one.".to_owned(),
                );
                Body::Summary(summary)
            }
        };
        let plural = if count == 1 { "" } else { "s" };
        let ends = if left > 0 { "stuck after" } else { "ends at" };
        Diagram {
            title: format!("{}: {count} rank{plural}, {ends} {}", self.name, Duration(finish)),
            subtitle: shortened(&format!("simulated: {machine}"), LINE_CHARS_MAX),
            axis: Axis::Simulated,
            end,
            finish: (left == 0).then_some(finish),
            ranks: count as u32,
            body,
            findings: Vec::new(),
            notes,
        }
    }
}

fn is_marker(workload: &Workload, action: u32) -> bool {
    workload.record(action).is_marker()
}

impl Jobs {
    /// Lets a lane wait for ever, from its last end to the end of the axis.
    fn stop(&mut self, lane: u32, end: u64) {
        let of_lane = self.detail.shapes.iter().filter(|shape| shape.lane == lane);
        let begin = of_lane.map(|shape| shape.end).max().unwrap_or(0);
        self.detail.shapes.push(Shape {
            lane,
            slot: 0,
            kind: Kind::Calculation,
            begin,
            end,
            busy: end,
            label: "waits for ever".to_owned(),
            short: "waits".to_owned(),
            tip: String::new(),
            line: None,
            state: State::Blocked,
            critical: false,
        });
    }

    /// Marks the jobs and messages of the critical path.
    fn mark_path(&mut self, path: &Path) {
        let mut travels = FxHashSet::default();
        for step in &path.steps {
            let key = match step.work {
                PathWork::Compute | PathWork::Send | PathWork::Release => (step.action, false),
                PathWork::Receive => match step.partner {
                    Some(send) => (send, true),
                    None => continue,
                },
                PathWork::Travel => {
                    travels.insert(step.action);
                    continue;
                }
            };
            if let Some(&shape) = self.shape_of.get(&key) {
                self.detail.shapes[shape as usize].critical = true;
            }
        }
        for send in travels {
            if let Some(&shape) = self.shape_of.get(&(send, false)) {
                let messages = self.detail.messages.iter_mut();
                messages
                    .filter(|message| message.from == shape)
                    .for_each(|message| message.critical = true);
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn start(&mut self, job: Job) {
        let Some(cpu) = job.cpu else { return };
        self.latest = self.latest.max(cpu.end);
        let Some(lane) = self.lane_of[job.rank as usize] else { return };
        let record = *self.workload.record(job.action);
        let kind = match record.kind {
            _ if job.is_message => Kind::Receive,
            Act::Send => Kind::Send,
            Act::Local => Kind::Operation,
            Act::Recv | Act::Calc | Act::Dummy => Kind::Calculation,
        };
        let jobs = match &mut self.body {
            Kept::Detail(jobs) => jobs,
            Kept::Summary(density) => {
                let work = match kind {
                    Kind::Receive => Work::Receiving,
                    Kind::Send => Work::Sending,
                    _ => Work::Computing,
                };
                return density.add(lane as usize, work, job.start, cpu.end);
            }
        };
        if cpu.end == job.start {
            return;
        }
        let from = self.workload.rank_of(job.action);
        let (mut label, mut short, mut tip, mut line) =
            (String::new(), String::new(), String::new(), None);
        if let Some(names) = &mut self.names {
            let texts = names.of(from, ActionId(job.action - self.workload.actions(from).start));
            (label, short, tip, line) = (texts.label, texts.short, texts.tip, texts.line);
        }
        if job.is_message {
            (label, short) = receive(record.size, from);
            (tip, line) = (format!("rank {}", job.rank), None);
        } else if self.names.is_none() {
            (label, short) = of_record(&record);
            tip = format!("rank {}", job.rank);
        }
        let [start, end] = [job.start, cpu.end].map(Duration);
        let place = jobs.detail.shapes.len() as u32;
        let (slot, number) = jobs.row_of.get(cpu.place as usize).copied().unwrap_or_default();
        let of = match jobs.detail.lanes[lane as usize].slots {
            1 => String::new(),
            _ => format!("cpu {number}, "),
        };
        jobs.detail.shapes.push(Shape {
            lane,
            slot,
            kind,
            begin: job.start,
            end: cpu.end,
            busy: job.side.map_or(cpu.end, |side| side.end.max(cpu.end)),
            label,
            short,
            tip: format!("{tip}\n{of}{start} to {end}"),
            line,
            state: State::Done,
            critical: false,
        });
        jobs.shape_of.insert((job.action, job.is_message), place);
        if job.is_message
            && let Some(&from) = jobs.shape_of.get(&(job.action, false))
        {
            let message = Message { from, to: place, received: true, critical: false };
            jobs.detail.messages.push(message);
        }
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        self.latest = self.latest.max(end);
        let rank = self.workload.rank_of(receive);
        let (Kept::Detail(jobs), Some(names)) = (&mut self.body, &mut self.names) else { return };
        let Some(&shape) = jobs.shape_of.get(&(send, true)) else { return };
        let texts = names.of(rank, ActionId(receive - self.workload.actions(rank).start));
        let shape = &mut jobs.detail.shapes[shape as usize];
        let when = match posted <= taken {
            true => format!("posted at {}", Duration(posted)),
            false => format!("unexpected: posted at {} only", Duration(posted)),
        };
        let times = shape.tip.lines().next_back().unwrap_or_default();
        shape.tip = format!("{}\n{times}, {when}", texts.tip);
        shape.line = texts.line;
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        self.latest = self.latest.max(time);
        let Some(lane) = self.lane_of[rank as usize] else { return };
        self.ended[lane as usize] += 1;
        if !is_marker(self.workload, action) {
            if let Kept::Summary(density) = &mut self.body {
                density.last(lane as usize, time);
            }
            return;
        }
        match &mut self.body {
            Kept::Summary(density) => density.mark(lane as usize, time),
            Kept::Detail(jobs) => {
                let tag = self.workload.record(action).tag;
                let line = self.names.as_mut().and_then(|names| {
                    let number = action - self.workload.actions(rank).start;
                    names.of(rank, ActionId(number)).line
                });
                let line = line.map_or(String::new(), |line| format!(", line {line}"));
                let tip = format!("rank {rank}{line}: marker, tag {tag}, {}", Duration(time));
                jobs.detail.marks.push(Mark { lane, at: time, tip });
            }
        }
    }
}

/// Returns the texts of an action without a program.
fn of_record(record: &Record) -> (String, String) {
    match record.kind {
        Act::Send => send(record.size, record.peer),
        Act::Recv => receive(record.size, record.peer),
        Act::Calc => {
            (format!("calc {}", Duration(record.size.saturating_mul(1000))), "calc".to_owned())
        }
        Act::Local => ("operation".to_owned(), String::new()),
        Act::Dummy => ("nop".to_owned(), String::new()),
    }
}

/// Adds a wait wherever nothing is under way on a rank that has not ended.
pub(crate) fn add_waits(detail: &mut Detail) {
    let mut order: Vec<usize> = (0..detail.shapes.len()).collect();
    order.sort_by_key(|&at| (detail.shapes[at].lane, detail.shapes[at].begin));
    let mut waits = Vec::new();
    let (mut lane, mut end) = (u32::MAX, 0);
    for at in order {
        let shape = &detail.shapes[at];
        if shape.lane != lane {
            (lane, end) = (shape.lane, 0);
        }
        if shape.begin > end {
            let time = Duration(shape.begin - end);
            waits.push(Shape {
                lane,
                slot: 0,
                kind: Kind::Waiting,
                begin: end,
                end: shape.begin,
                busy: shape.begin,
                label: format!("waits {time}"),
                short: String::new(),
                tip: format!("then {}", shape.label),
                line: None,
                state: State::Done,
                critical: false,
            });
        }
        end = end.max(shape.end);
    }
    detail.shapes.extend(waits);
}

/// Marks a chain back from the last end: a receive comes after its send, another action after the
/// last one of its rank that ended before.
pub(crate) fn chain_back(detail: &mut Detail) {
    let mut by_end: Vec<Vec<u32>> = vec![Vec::new(); detail.lanes.len()];
    for (at, shape) in (0..).zip(&detail.shapes) {
        by_end[shape.lane as usize].push(at);
    }
    for lane in &mut by_end {
        lane.sort_by_key(|&at| detail.shapes[at as usize].end);
    }
    let message_to: FxHashMap<u32, u32> =
        (0..).zip(&detail.messages).map(|(at, message)| (message.to, at)).collect();
    let all = 0..detail.shapes.len() as u32;
    let mut next = all.max_by_key(|&at| (detail.shapes[at as usize].end, !at));
    while let Some(at) = next {
        let shape = &mut detail.shapes[at as usize];
        if std::mem::replace(&mut shape.critical, true) {
            break;
        }
        let (lane, begin) = (shape.lane as usize, shape.begin);
        let before = |end: u64| {
            let of_lane = &by_end[lane];
            let count = of_lane.partition_point(|&at| detail.shapes[at as usize].end <= end);
            of_lane[..count].last().copied().filter(|&before| before != at)
        };
        let own = before(begin);
        let own_end = own.map_or(0, |own| detail.shapes[own as usize].end);
        next = match message_to.get(&at) {
            // The message decides if it left after the rank had nothing else to do.
            Some(&message) => {
                let from = detail.messages[message as usize].from;
                if detail.shapes[from as usize].begin >= own_end || own.is_none() {
                    detail.messages[message as usize].critical = true;
                    Some(from)
                } else {
                    own
                }
            }
            None => own,
        };
    }
}
