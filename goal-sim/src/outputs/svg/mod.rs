//! Timelines as pictures.
//!
//! A small program is drawn with each job and each message ([`detail`]). A larger one is summed up
//! in bins of time, for ranks that lie side by side ([`bins`]). So the file does not grow with the
//! program.

mod bins;
mod detail;
mod frame;
mod summary;
#[cfg(test)]
mod tests;

use super::names::Names;
use super::tracks::{Part, Track, tracks};
use super::{Record, Sink};
use crate::Arguments;
use crate::parameters::Shown;
use crate::source::Subject;
use detail::Detail;
use frame::Frame;
use goal_loggops::model::{Job, Observer};
use goal_loggops::{Kind, Record as Entry, Workload};
use goalc::driver::Error;
use std::path::Path;
use summary::Summary;

/// Most rows of a picture.
const ROWS_MAX: usize = 32;

/// Most jobs that are drawn one by one.
const JOBS_MAX: usize = 1500;

/// The line of a marker in the palette of [`Work::colour`].
const MARKER: &str = "stroke=\"#d55e00\" stroke-width=\"1.5\"";

/// Most characters of a name in a picture.
const NAME_CHARS_MAX: usize = 24;

/// The work of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Computing,
    Sending,
    Receiving,
}

impl Work {
    const ALL: [Work; 3] = [Work::Computing, Work::Sending, Work::Receiving];

    fn name(self) -> &'static str {
        match self {
            Work::Computing => "computing",
            Work::Sending => "sending",
            Work::Receiving => "receiving",
        }
    }

    /// Returns a colour of the palette of Okabe and Ito (2008), which colour-blind people can tell
    /// apart.
    fn colour(self) -> &'static str {
        match self {
            Work::Computing => "#009e73",
            Work::Sending => "#0072b2",
            Work::Receiving => "#e69f00",
        }
    }

    /// Returns the shape of the legend.
    fn swatch(self) -> String {
        swatch(self.colour())
    }
}

/// Draws a picture at the end of a simulation.
pub(super) struct Picture<'a> {
    sink: Sink,
    workload: &'a Workload,
    /// By [`Held::place`], the row of a processor.
    ///
    /// [`Held::place`]: goal_loggops::model::Held::place
    row_of: Vec<usize>,
    latest: u64,
    title: Title,
    body: Body<'a>,
}

/// The texts above a picture.
struct Title {
    /// The name of the input.
    name: String,
    ranks: usize,
    /// The model and its parameters.
    machine: String,
}

enum Body<'a> {
    Detail(Detail<'a>),
    Summary(Summary),
}

impl<'a> Picture<'a> {
    pub(super) fn new(
        arguments: &Arguments,
        parameters: &Shown,
        subject: &'a Subject,
        sink: Sink,
    ) -> Self {
        let workload = &subject.workload;
        let tracks = tracks(workload);
        let title = Title {
            name: shortened(&name_of(&arguments.input.inputs[0]), 44),
            ranks: workload.num_ranks(),
            machine: shortened(&format!("model goal: {}", parameters.summary()), 120),
        };
        let (row_of, rows) = rows_of_processors(&tracks);
        if rows.len() <= ROWS_MAX && num_jobs(workload) <= JOBS_MAX {
            let body = Body::Detail(Detail::new(rows, Names::new(subject)));
            return Self { sink, workload, row_of, latest: 0, title, body };
        }
        let summary = Summary::new(workload.num_ranks(), &tracks);
        let row_of = tracks.iter().map(|track| summary.row_of(track.rank)).collect();
        Self { sink, workload, row_of, latest: 0, title, body: Body::Summary(summary) }
    }
}

impl Observer for Picture<'_> {
    fn start(&mut self, job: Job) {
        let Some(cpu) = job.cpu else { return };
        self.latest = self.latest.max(cpu.end);
        let work = match self.workload.record(job.action).kind {
            _ if job.is_message => Work::Receiving,
            Kind::Send => Work::Sending,
            Kind::Recv | Kind::Calc | Kind::Local | Kind::Dummy => Work::Computing,
        };
        let Some(&row) = self.row_of.get(cpu.place as usize) else { return };
        match &mut self.body {
            Body::Detail(detail) => detail.add(self.workload, &job, row, work),
            Body::Summary(summary) => summary.add(row, work, job.start, cpu.end),
        }
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        match &mut self.body {
            Body::Detail(detail) => detail.mark(self.workload, rank, action, time),
            Body::Summary(summary) => summary.mark(rank, time),
        }
    }
}

impl Record for Picture<'_> {
    fn finish(mut self: Box<Self>, finish: u64) -> Result<(), Error> {
        let end = self.latest.max(finish).max(1);
        let mut frame = Frame::new(&self.title, finish, end);
        match self.body {
            Body::Detail(detail) => detail.draw(&mut frame),
            Body::Summary(summary) => summary.draw(&mut frame),
        }
        self.sink.write(frame.finish().as_bytes());
        self.sink.finish()
    }
}

/// A row of one processor.
#[derive(Debug, Clone, Copy)]
struct Row {
    rank: u32,
    cpu: u16,
}

/// Returns the row of each track that is a processor, and the rows in the order of ranks and
/// processors.
fn rows_of_processors(tracks: &[Track]) -> (Vec<usize>, Vec<Row>) {
    let mut order: Vec<usize> =
        (0..tracks.len()).filter(|&at| tracks[at].part == Part::Processor).collect();
    order.sort_by_key(|&at| (tracks[at].rank, tracks[at].number));
    let mut row_of = vec![usize::MAX; tracks.len()];
    for (row, &at) in order.iter().enumerate() {
        row_of[at] = row;
    }
    let row = |at| {
        let Track { rank, number, .. } = tracks[at];
        Row { rank, cpu: number }
    };
    (row_of, order.into_iter().map(row).collect())
}

fn swatch(colour: &str) -> String {
    format!("<rect y=\"-6\" width=\"18\" height=\"12\" fill=\"{colour}\"/>")
}

/// Returns an upper bound on the jobs and markers of a program: a send and its message are two.
fn num_jobs(workload: &Workload) -> usize {
    let is_drawn = |record: &Entry| record.kind != Kind::Dummy || record.is_marker();
    (0..workload.len() as u32).filter(|&action| is_drawn(workload.record(action))).count()
}

/// Returns the shape and the name of markers in a legend.
fn marker_entry() -> (String, String) {
    (format!("<path d=\"M9,-7V7\" {MARKER}/>"), "marker".to_owned())
}

/// Returns the name of an input's file, without its folder.
fn name_of(path: &Path) -> String {
    match path.file_name() {
        Some(_) if path == Path::new("-") => "standard input".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}

/// Returns a text that has at most a number of characters.
fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some(_) => text.chars().take(chars_max - 3).chain("...".chars()).collect(),
        None => text.to_owned(),
    }
}
