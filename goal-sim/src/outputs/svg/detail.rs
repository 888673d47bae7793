//! Pictures with each job and each message.

use super::super::decimal::Duration;
use super::super::names::{Name, Names};
use super::frame::{Frame, width_of};
use super::{MARKER, NAME_CHARS_MAX, Row, Work, marker_entry, shortened};
use goal_loggops::Workload;
use goal_loggops::model::Job;
use goalc::graph::escaped_xml;
use rustc_hash::FxHashMap;

/// The share of a row's height that bars take.
const BAR: f64 = 0.7;
/// The height of the line of a busy interface.
const THIN: f64 = 4.0;
const MESSAGE: &str = "#6c757d";

/// The jobs and messages of a small program.
pub(super) struct Detail<'a> {
    rows: Vec<Row>,
    names: Names<'a>,
    bars: Vec<Bar>,
    messages: Vec<Message>,
    marks: Vec<Mark>,
    /// By send, the row and the time at which its message leaves.
    leaves: FxHashMap<u32, (usize, u64)>,
}

/// A job of a processor. Times are in picoseconds.
struct Bar {
    row: usize,
    work: Work,
    start: u64,
    end: u64,
    /// The time at which its interface is free.
    interface_end: u64,
    name: String,
    /// The statement and the times.
    tip: String,
}

/// A marker of a rank, at a time in picoseconds.
struct Mark {
    rank: u32,
    time: u64,
    tip: String,
}

/// A message from row to row. Times are in picoseconds.
struct Message {
    from: (usize, u64),
    to: (usize, u64),
}

impl<'a> Detail<'a> {
    pub(super) fn new(rows: Vec<Row>, names: Names<'a>) -> Self {
        let (bars, messages, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, names, bars, messages, marks, leaves: FxHashMap::default() }
    }

    pub(super) fn add(&mut self, workload: &Workload, job: &Job, row: usize, work: Work) {
        let (start, end) = (job.start, job.cpu.map_or(job.start, |cpu| cpu.end));
        let record = workload.record(job.action);
        let sender = if job.is_message { workload.rank_of(job.action) } else { job.rank };
        let name = self.names.of(sender, job.action);
        let statement = match work {
            Work::Computing => name.kind.to_owned(),
            Work::Sending => format!("send {} B to {}", record.size, record.peer),
            Work::Receiving => format!("recv {} B from {sender}", record.size),
        };
        let tip = tip(&name, &statement, job.rank, [start, end]);
        let name = match (work, name.label) {
            (Work::Sending, _) => format!("to {}", record.peer),
            (Work::Receiving, _) => format!("from {sender}"),
            (Work::Computing, Some(label)) => shortened(label, NAME_CHARS_MAX),
            (Work::Computing, None) => statement,
        };
        match work {
            Work::Sending => _ = self.leaves.insert(job.action, (row, end)),
            Work::Receiving => {
                if let Some((from, left)) = self.leaves.remove(&job.action) {
                    // With O, the processor may be busy until after the message has arrived.
                    let from = (from, left.min(job.ready));
                    self.messages.push(Message { from, to: (row, start) });
                }
            }
            Work::Computing => {}
        }
        let interface_end = job.side.map_or(end, |side| side.end);
        self.bars.push(Bar { row, work, start, end, interface_end, name, tip });
    }

    /// Adds a marker that a rank reaches at a time.
    pub(super) fn mark(&mut self, workload: &Workload, rank: u32, action: u32, time: u64) {
        let name = self.names.of(rank, action);
        let tag = workload.record(action).tag;
        let tip = format!("rank {rank}: marker, tag {tag}{}, {}", names_of(&name), Duration(time));
        self.marks.push(Mark { rank, time, tip });
    }

    pub(super) fn draw(self, frame: &mut Frame) {
        let height = match self.rows.len() {
            0..=8 => 40.0,
            9..=16 => 28.0,
            _ => 20.0,
        };
        let gap = if self.rows.len() <= 16 { height * 0.4 } else { 6.0 };
        frame.legend(&self.legend());
        let names: Vec<String> = (0..self.rows.len()).map(|row| self.name(row)).collect();
        let tops = frame.rows(&names, height, gap, "#f1f3f5");
        frame.axis();
        let shape = Shape { tops: &tops, height };
        for bar in self.bars.iter().filter(|bar| bar.interface_end > bar.end) {
            shape.interface(frame, bar);
        }
        frame.raw(format_args!("<g stroke=\"{MESSAGE}\" fill=\"none\">\n"));
        self.messages.iter().for_each(|message| shape.message(frame, message));
        frame.raw(format_args!("</g>\n"));
        for bar in self.bars.iter().filter(|bar| bar.end > bar.start) {
            shape.bar(frame, bar);
        }
        for mark in &self.marks {
            let of_rank = |row: &usize| self.rows[*row].rank == mark.rank;
            (0..self.rows.len()).filter(of_rank).for_each(|row| shape.mark(frame, row, mark));
        }
        frame.caption(&[]);
    }

    /// Returns the name of a row, with the processor if its rank has several.
    fn name(&self, row: usize) -> String {
        let Row { rank, cpu } = self.rows[row];
        let is_of_rank = |other: Option<&Row>| other.is_some_and(|other| other.rank == rank);
        let before = row.checked_sub(1).and_then(|row| self.rows.get(row));
        match is_of_rank(before) || is_of_rank(self.rows.get(row + 1)) {
            true => format!("rank {rank} cpu {cpu}"),
            false => format!("rank {rank}"),
        }
    }

    /// Returns the shapes that the picture has, and their names.
    fn legend(&self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        let is_seen = |work| self.bars.iter().any(|bar| bar.work == work && bar.end > bar.start);
        for work in Work::ALL.into_iter().filter(|&work| is_seen(work)) {
            entries.push((work.swatch(), work.name().to_owned()));
        }
        if !self.messages.is_empty() {
            let line = format!("<path d=\"M0,-5L18,5\" stroke=\"{MESSAGE}\" fill=\"none\"/>");
            entries.push((line, "message".to_owned()));
        }
        if self.bars.iter().any(|bar| bar.interface_end > bar.end) {
            let (sending, receiving) = (Work::Sending.colour(), Work::Receiving.colour());
            let lines = format!(
                "<path d=\"M0,-3H18\" stroke=\"{sending}\" stroke-width=\"{THIN}\"/>\
                 <path d=\"M0,4H18\" stroke=\"{receiving}\" stroke-width=\"{THIN}\"/>"
            );
            entries.push((lines, "interface busy with a message".to_owned()));
        }
        if !self.marks.is_empty() {
            entries.push(marker_entry());
        }
        entries
    }
}

/// Returns the text that a viewer shows for a bar under the pointer. `name` is that of the action,
/// or of the send whose message is taken in.
fn tip(name: &Name<'_>, statement: &str, rank: u32, [start, end]: [u64; 2]) -> String {
    let names = names_of(name);
    format!("rank {rank}: {statement}{names}, {} to {}", Duration(start), Duration(end))
}

/// Returns the label and the line of an action in parentheses.
fn names_of(name: &Name<'_>) -> String {
    let label = name.label.map(|label| shortened(label, NAME_CHARS_MAX));
    let line = name.line.map(|line| format!("line {line}"));
    let names: Vec<String> = label.into_iter().chain(line).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// The places of rows.
struct Shape<'a> {
    tops: &'a [f64],
    height: f64,
}

impl Shape<'_> {
    /// Returns the upper and the lower end of a row's bars.
    fn bar_ends(&self, row: usize) -> [f64; 2] {
        let top = self.tops[row] + self.height * (1.0 - BAR) / 2.0;
        [top, top + self.height * BAR]
    }

    fn bar(&self, frame: &mut Frame, bar: &Bar) {
        let [top, bottom] = self.bar_ends(bar.row);
        let (x, height) = (frame.x(bar.start), bottom - top);
        let width = frame.x(bar.end) - x;
        let (colour, tip) = (bar.work.colour(), escaped_xml(&bar.tip));
        // An edge would hide a narrow bar.
        let edge = if width < 3.0 { "" } else { " stroke=\"#ffffff\" stroke-width=\"0.5\"" };
        frame.raw(format_args!(
            "<rect x=\"{x:.2}\" y=\"{top:.1}\" width=\"{:.2}\" height=\"{height:.1}\" \
             fill=\"{colour}\"{edge}><title>{tip}</title></rect>\n",
            width.max(0.5)
        ));
        if width_of(&bar.name) + 4.0 <= width && height >= 13.0 {
            let fill = if bar.work == Work::Sending { "#ffffff" } else { "#000000" };
            let middle = format!("text-anchor=\"middle\" font-size=\"12\" fill=\"{fill}\"");
            frame.text(x + width / 2.0, (top + bottom) / 2.0 + 4.0, &bar.name, &middle);
        }
    }

    /// Draws the time for which an interface is still busy once the processor is not.
    fn interface(&self, frame: &mut Frame, bar: &Bar) {
        let [top, bottom] = self.bar_ends(bar.row);
        let (from, to, colour) = (frame.x(bar.end), frame.x(bar.interface_end), bar.work.colour());
        let y = (top + bottom) / 2.0 + if bar.work == Work::Sending { -THIN } else { THIN };
        frame.raw(format_args!(
            "<path d=\"M{from:.2},{y:.1}H{to:.2}\" stroke=\"{colour}\" stroke-width=\"{THIN}\"/>\n"
        ));
    }

    /// Draws a marker over the whole height of a row.
    fn mark(&self, frame: &mut Frame, row: usize, mark: &Mark) {
        let (x, top, height) = (frame.x(mark.time), self.tops[row], self.height);
        let tip = escaped_xml(&mark.tip);
        frame.raw(format_args!(
            "<path d=\"M{x:.2},{top:.1}v{height:.1}\" {MARKER}><title>{tip}</title></path>\n"
        ));
    }

    /// Draws a message between the facing sides of two bars.
    fn message(&self, frame: &mut Frame, message: &Message) {
        let Message { from: (from, left), to: (to, taken) } = *message;
        let side = |row: usize, is_lower: bool| self.bar_ends(row)[usize::from(is_lower)];
        // A message of a rank to itself stays below its row.
        let (y1, y2) = (side(from, to >= from), side(to, to <= from));
        let (x1, x2) = (frame.x(left), frame.x(taken));
        frame.raw(format_args!("<path d=\"M{x1:.2},{y1:.1}L{x2:.2},{y2:.1}\"/>\n"));
    }
}
