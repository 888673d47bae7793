//! Diagrams of traces in the form of Chrome's trace events, as `goal-run --trace` writes them.
//!
//! Threat: a trace may come from anywhere. Its events are read one by one, their numbers are
//! bounded, and times saturate. Names are texts, which renderers escape.

use crate::density::{Density, Work};
use crate::diagram::{Axis, Body, Detail, Diagram, Kind, Lane, Message, Shape, State, Summary};
use crate::error::DrawError;
use crate::label::{receive, send};
use crate::limits::{LABEL_CHARS_MAX, ROWS_MAX, SHAPES_MAX, SLICES_MAX, TRACE_RANKS_MAX};
use crate::options::{Options, RankSet};
use crate::sim::{add_waits, chain_back};
use crate::slots;
use crate::unit::{Duration, shortened};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The longest time in microseconds that is read, some 200 days.
const MICROS_MAX: f64 = 1e13;

/// An event of a trace, with what is read of it.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    #[serde(default)]
    cat: String,
    ph: String,
    #[serde(default)]
    pid: u64,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    id: serde_json::Value,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
struct Args {
    line: Option<u32>,
    peer: Option<u32>,
    bytes: Option<u64>,
    matched: Option<f64>,
    #[serde(default)]
    unfinished: bool,
}

/// A slice of a rank. Times are picoseconds.
struct Slice {
    rank: u32,
    kind: Kind,
    begin: u64,
    end: u64,
    name: String,
    line: Option<u32>,
    peer: Option<u32>,
    bytes: u64,
    unfinished: bool,
}

/// The content of a trace.
#[derive(Default)]
struct Read {
    slices: Vec<Slice>,
    /// By rank and thread, the last slice.
    last: FxHashMap<(u32, u64), u32>,
    /// By the name of a flow, its ends.
    flows: FxHashMap<String, [Option<u32>; 2]>,
    ranks: u32,
    too_long: bool,
}

/// Draws a trace. `name` is the name of its file.
///
/// # Errors
/// If the text is no trace, a rank is not there, or there are too many slices.
pub fn by_trace(name: &str, json: &[u8], options: &Options) -> Result<Diagram, DrawError> {
    let mut read = Read::default();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let wrong = |error: serde_json::Error| DrawError::NoTrace(shortened(&error.to_string(), 120));
    deserializer.deserialize_any(Whole(&mut read)).map_err(wrong)?;
    if read.too_long {
        return Err(DrawError::LongTrace);
    }
    let ranks = RankSet::select(options.ranks.as_ref(), read.ranks)?;
    let lane_of: FxHashMap<u32, u32> =
        (0..).zip(&ranks).map(|(lane, &rank)| (rank, lane)).collect();
    let Read { slices, flows, .. } = read;
    let count = slices.iter().filter(|slice| lane_of.contains_key(&slice.rank)).count();
    let end = slices.iter().map(|slice| slice.end).max().unwrap_or(0).max(1);
    let mut notes = Vec::new();
    let unfinished = slices.iter().filter(|slice| slice.unfinished).count();
    if unfinished > 0 {
        notes.push(format!("{unfinished} actions had not ended."));
    }
    if ranks.len() < read.ranks as usize {
        notes.push(format!("{} of {} ranks are drawn.", ranks.len(), read.ranks));
    }
    let is_small = count <= SHAPES_MAX && ranks.len() <= ROWS_MAX;
    let body = is_small.then(|| detail(&slices, &flows, &ranks, &lane_of, options)).flatten();
    let body =
        body.map_or_else(|| Body::Summary(summary(&slices, &ranks, &lane_of, end)), Body::Detail);
    if let Body::Summary(summary) = &body {
        notes.extend(summary.outliers(Axis::Measured));
        notes.push(format!(
            "{count} actions are summed up: too many to draw one by one. --ranks 0-7 draws some."
        ));
    }
    let plural = if read.ranks == 1 { "" } else { "s" };
    Ok(Diagram {
        title: format!(
            "{}: {} rank{plural}, ends at {}",
            shortened(name, 60),
            read.ranks,
            Duration(end)
        ),
        subtitle: format!("a run: {} actions, times as measured", slices.len()),
        axis: Axis::Measured,
        end,
        finish: (unfinished == 0).then_some(end),
        ranks: read.ranks,
        body,
        findings: Vec::new(),
        notes,
    })
}

fn summary(slices: &[Slice], ranks: &[u32], lane_of: &FxHashMap<u32, u32>, end: u64) -> Summary {
    let mut density = Density::new(ranks.to_vec(), 1);
    for slice in slices {
        let Some(&lane) = lane_of.get(&slice.rank) else { continue };
        let work = match slice.kind {
            Kind::Send => Work::Sending,
            Kind::Receive => Work::Receiving,
            _ => Work::Computing,
        };
        density.add(lane as usize, work, slice.begin, slice.end);
    }
    density.finish(end)
}

/// Returns the slices one by one, unless too many are under way together.
fn detail(
    slices: &[Slice],
    flows: &FxHashMap<String, [Option<u32>; 2]>,
    ranks: &[u32],
    lane_of: &FxHashMap<u32, u32>,
    options: &Options,
) -> Option<Detail> {
    let lanes = ranks.iter().map(|&rank| Lane { rank, slots: 1 }).collect();
    let mut detail = Detail { lanes, ..Detail::default() };
    let mut place_of = FxHashMap::default();
    for (at, slice) in (0_u32..).zip(slices) {
        let Some(&lane) = lane_of.get(&slice.rank) else { continue };
        place_of.insert(at, detail.shapes.len() as u32);
        let name = shortened(&slice.name, LABEL_CHARS_MAX);
        let (label, short) = match (slice.kind, slice.peer) {
            (Kind::Send, Some(peer)) => send(slice.bytes, peer),
            (Kind::Receive, Some(peer)) => receive(slice.bytes, peer),
            _ => (name.clone(), String::new()),
        };
        let line = slice.line.map_or(String::new(), |line| format!(", line {line}"));
        let [begin, end] = [slice.begin, slice.end].map(Duration);
        detail.shapes.push(Shape {
            lane,
            slot: 0,
            kind: slice.kind,
            begin: slice.begin,
            end: slice.end,
            busy: slice.end,
            label,
            short,
            tip: format!("rank {}{line}: {name}\n{begin} to {end}", slice.rank),
            line: slice.line,
            state: if slice.unfinished { State::Blocked } else { State::Done },
            critical: false,
        });
    }
    let mut messages: Vec<Message> = flows
        .values()
        .filter_map(|ends| {
            let [from, to] = [ends[0]?, ends[1]?];
            let (from, to) = (*place_of.get(&from)?, *place_of.get(&to)?);
            Some(Message { from, to, received: true, critical: false })
        })
        .collect();
    messages.sort_by_key(|message| (message.from, message.to));
    detail.messages = messages;
    slots::place(&mut detail.lanes, &mut detail.shapes);
    let rows: usize = detail.lanes.iter().map(|lane| lane.slots as usize).sum();
    if rows > ROWS_MAX {
        return None;
    }
    if options.critical_path {
        chain_back(&mut detail);
    }
    add_waits(&mut detail);
    Some(detail)
}

impl Read {
    fn add(&mut self, event: Event) {
        let Ok(rank) = u32::try_from(event.pid) else { return };
        if rank >= TRACE_RANKS_MAX {
            return;
        }
        match event.ph.as_str() {
            "M" => self.ranks = self.ranks.max(rank + 1),
            "X" => self.slice(rank, event),
            "s" | "f" => {
                let Some(&slice) = self.last.get(&(rank, event.tid)) else { return };
                let end = usize::from(event.ph == "f");
                if self.flows.len() < SLICES_MAX {
                    self.flows.entry(event.id.to_string()).or_default()[end] = Some(slice);
                }
            }
            _ => {}
        }
    }

    fn slice(&mut self, rank: u32, event: Event) {
        let kind = match event.cat.as_str() {
            "send" => Kind::Send,
            "recv" => Kind::Receive,
            "calc" => Kind::Calculation,
            "exec" | "user" => Kind::Operation,
            "nop" | "wtime" | "marker" => Kind::Nop,
            _ => return,
        };
        if self.slices.len() >= SLICES_MAX {
            self.too_long = true;
            return;
        }
        let Args { line, peer, bytes, matched, unfinished } = event.args;
        let [posted, end] = [picos(event.ts), picos(event.ts + event.dur)];
        // A receive is under way from the moment at which it met its message.
        let begin = match matched {
            Some(matched) if kind == Kind::Receive => picos(matched).clamp(posted, end.max(posted)),
            _ => posted,
        };
        self.ranks = self.ranks.max(rank + 1);
        self.last.insert((rank, event.tid), self.slices.len() as u32);
        self.slices.push(Slice {
            rank,
            kind,
            begin,
            end: end.max(begin),
            name: shortened(&event.name, LABEL_CHARS_MAX),
            line,
            peer,
            bytes: bytes.unwrap_or(0),
            unfinished,
        });
    }
}

/// Returns a time in picoseconds. What is no time is 0.
fn picos(micros: f64) -> u64 {
    if micros.is_nan() { 0 } else { (micros.clamp(0.0, MICROS_MAX) * 1e6).round() as u64 }
}

/// Reads the object around the events, or the events alone.
struct Whole<'r>(&'r mut Read);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `traceEvents`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_trace = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                is_trace = true;
                map.next_value_seed(Events(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        match is_trace {
            true => Ok(()),
            false => Err(serde::de::Error::missing_field("traceEvents")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Events(self.0).visit_seq(seq)
    }
}

/// Reads events one by one.
struct Events<'r>(&'r mut Read);

impl<'de> serde::de::DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(event) = seq.next_element::<Event>()? {
            self.0.add(event);
        }
        Ok(())
    }
}
