//! Writes traces in the Chrome trace event form, which Perfetto and chrome://tracing open.
//!
//! A rank is a process of the trace. Actions that are under way at the same time are in different
//! lanes, and a lane is a thread of the trace. This is needed because viewers nest or drop slices
//! that overlap in one thread. Asynchronous slices are no alternative, since arrows between ranks
//! bind only to slices of threads. Each event is one line.

use super::names::Names;
use super::recorder::recorded;
use super::slices::{Shown, Slice, SliceMessage, Slices};
use goal_asm::Nisa;
use goal_engine::trace::{Kind, Point};
use goal_lang::ANY;
use goal_shm::Segment;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::atomic::Ordering;

/// The thread of a rank that shows where its instances begin and end.
const INSTANCES: u32 = 0;

/// An event in the Chrome trace format. Times are microseconds from the start of the job.
#[derive(Debug, Default, Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'a str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// The name of the flow to which the event belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The binding of a flow's end. `e` binds it to the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    /// The scope of an instant event.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    args: Args,
}

#[derive(Debug, Default, Serialize)]
struct Args {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// The tag of the message; the inner `None` becomes `null`, which stands for any tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unfinished: bool,
}

/// The numbers of records that a trace does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Omitted {
    /// The number of records that were overwritten because there was no room.
    pub lost: u64,
    /// The number of records that belong to no action of their rank. No engine writes such records.
    pub foreign: u64,
}

/// Writes the trace of a job that has ended. Returns the numbers of records that the trace leaves
/// out.
///
/// # Errors
/// The error of `out`.
pub fn write(segment: &Segment, nisa: &Nisa, out: &mut dyn Write) -> io::Result<Omitted> {
    let origin_ns = segment.start_barrier().opened_ns.load(Ordering::SeqCst);
    let mut writer = Writer { out, flows: Flows::new(segment), is_first: true };
    let mut omitted = Omitted::default();
    writer.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut names: Option<Names<'_>> = None;
    for rank in 0..segment.num_ranks() {
        let section = nisa.section_id(rank);
        let names = match &mut names {
            Some(names) if names.is_of(section) => &*names,
            names => names.insert(Names::new(nisa, section)),
        };
        let (before, records) = recorded(segment, rank);
        omitted.lost = omitted.lost.saturating_add(before);
        writer.describe(rank)?;
        let mut slices = Slices::new(nisa, section, names, origin_ns);
        let mut last = 0;
        for record in records {
            last = record.since(origin_ns);
            if let Some(shown) = slices.add(&record) {
                writer.show(rank, names, shown)?;
            }
        }
        omitted.foreign += slices.foreign();
        for slice in slices.unfinished() {
            writer.slice(rank, names, &slice, last)?;
        }
    }
    let Omitted { lost, foreign } = omitted;
    write!(
        writer.out,
        "\n],\"otherData\":{{\"lost_records\":{lost},\"foreign_records\":{foreign}}}}}"
    )?;
    writer.out.flush()?;
    Ok(omitted)
}

/// Computes the names of flows. Each message has a number that is unique in the job.
#[derive(Debug)]
struct Flows {
    ranks: u64,
    instances: u64,
    sequences: u64,
}

impl Flows {
    fn new(segment: &Segment) -> Self {
        let mut flows = Self { ranks: segment.num_ranks().into(), instances: 1, sequences: 1 };
        for rank in 0..segment.num_ranks() {
            for record in recorded(segment, rank).1 {
                flows.instances = flows.instances.max(u64::from(record.instance) + 1);
                if matches!(record.point(), Some(Point::Started | Point::Matched)) {
                    flows.sequences = flows.sequences.max(u64::from(record.detail) + 1);
                }
            }
        }
        flows
    }

    fn id(&self, pair: Pair, instance: u32, sequence: u32) -> String {
        let pair = u64::from(pair.source) * self.ranks + u64::from(pair.destination);
        let instance = pair.wrapping_mul(self.instances).wrapping_add(instance.into());
        format!("{:#x}", instance.wrapping_mul(self.sequences).wrapping_add(sequence.into()))
    }
}

/// The source and the destination of a message.
struct Pair {
    source: u32,
    destination: u32,
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    flows: Flows,
    is_first: bool,
}

impl Writer<'_> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    /// Writes the names of a rank's process and of its thread for instances.
    fn describe(&mut self, rank: u32) -> io::Result<()> {
        let metadata = |name, args| Event { name, ph: "M", pid: rank, args, ..Event::default() };
        let named = |name: String| Args { name: Some(name), ..Args::default() };
        self.event(&metadata("process_name", named(format!("rank {rank}"))))?;
        let index = Args { sort_index: Some(rank), ..Args::default() };
        self.event(&metadata("process_sort_index", index))?;
        self.event(&metadata("thread_name", named("instances".to_owned())))
    }

    fn show(&mut self, rank: u32, names: &Names<'_>, shown: Shown) -> io::Result<()> {
        match shown {
            Shown::Lane(lane) => {
                let args = Args { name: Some(format!("lane {lane}")), ..Args::default() };
                self.event(&Event {
                    name: "thread_name",
                    ph: "M",
                    pid: rank,
                    tid: lane,
                    args,
                    ..Event::default()
                })
            }
            Shown::Instance { number, time, is_end } => self.event(&Event {
                name: if is_end { "schedule end" } else { "schedule start" },
                cat: "schedule",
                ph: "i",
                pid: rank,
                tid: INSTANCES,
                ts: Some(micros(time)),
                s: Some("p"),
                args: Args { instance: Some(number), ..Args::default() },
                ..Event::default()
            }),
            Shown::Slice(slice) => self.slice(rank, names, &slice, 0),
        }
    }

    /// Writes a slice. If the slice has a message, writes its end of the message's arrow too. A
    /// slice that has not ended lasts until `last`.
    fn slice(&mut self, rank: u32, names: &Names<'_>, slice: &Slice, last: u64) -> io::Result<()> {
        let end = slice.end.unwrap_or(last);
        let has_message = matches!(slice.kind, Kind::Send | Kind::Recv);
        let (peer, matched) = match slice.message {
            SliceMessage::Taken { source, time, .. } => (source, Some(micros(time))),
            SliceMessage::Sent(_) | SliceMessage::Unknown => (slice.peer, None),
        };
        let args = Args {
            instance: Some(slice.instance),
            number: slice.number,
            line: names.line(slice.number),
            peer: (has_message && peer != ANY).then_some(peer),
            bytes: has_message.then_some(slice.bytes),
            tag: slice.tag.map(|tag| (tag != ANY).then_some(tag)),
            ready: slice.ready.map(micros),
            matched,
            unfinished: slice.end.is_none(),
            ..Args::default()
        };
        let event = Event { pid: rank, tid: slice.lane, ..Event::default() };
        let name = names.name(slice.kind, slice.number);
        self.event(&Event {
            name: &name,
            cat: slice.kind.name(),
            ph: "X",
            ts: Some(micros(slice.start)),
            // This saturates, because another host may have sent any times.
            dur: Some(micros(end.saturating_sub(slice.start))),
            args,
            ..event
        })?;
        let (ph, pair, sequence, time) = match slice.message {
            SliceMessage::Unknown => return Ok(()),
            SliceMessage::Sent(sequence) => {
                ("s", Pair { source: rank, destination: slice.peer }, sequence, slice.start)
            }
            // The event must lie before the end of the slice. At the time of its end a slice does
            // not surround an event any more.
            SliceMessage::Taken { source, sequence, time } => (
                "f",
                Pair { source, destination: rank },
                sequence,
                time.min(end.saturating_sub(1)).max(slice.start),
            ),
        };
        self.event(&Event {
            name: "message",
            cat: "message",
            ph,
            pid: rank,
            tid: slice.lane,
            ts: Some(micros(time)),
            id: Some(self.flows.id(pair, slice.instance, sequence)),
            bp: (ph == "f").then_some("e"),
            ..Event::default()
        })
    }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}
