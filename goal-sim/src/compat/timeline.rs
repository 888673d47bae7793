//! The timeline that a peer writes for its viewer: one line a box or an arrow.
//!
//! The lines go to the file as the simulation makes them, so memory does not grow with them.

use super::Peer;
use super::arguments::Settings;
use goal_loggops::peers::{Meeting, Pair, Parameters};
use goal_loggops::{Kind, Workload};
use goalc::driver::{Error, Output};
use std::io::{self, Write};

pub(super) struct Timeline<'w> {
    peer: Peer,
    workload: &'w Workload,
    parameters: Parameters,
    /// `G` as the peer writes it.
    gap_per_byte: i32,
    /// By send, its start, and from then on the time at which its message began to wait.
    began: Vec<u64>,
    out: Output,
    written: io::Result<()>,
}

/// The ends of a box, and the processor of a rank that it belongs to.
struct Span {
    rank: u32,
    cpu: u16,
    start: u64,
    end: u64,
}

impl<'w> Timeline<'w> {
    pub(super) fn new(
        peer: Peer,
        settings: &Settings,
        workload: &'w Workload,
        mut out: Output,
    ) -> Self {
        let written = writeln!(out, "numranks {};", workload.num_ranks());
        let gap_per_byte = settings.printed.gap_per_byte.trunc();
        let is_int = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&gap_per_byte);
        Self {
            peer,
            workload,
            parameters: settings.parameters.of_peer,
            gap_per_byte: if is_int { gap_per_byte as i32 } else { i32::MIN },
            began: vec![0; workload.len()],
            out,
            written,
        }
    }

    pub(super) fn calc(&mut self, action: u32, start: u64) {
        let record = self.workload.record(action);
        let span = Span {
            rank: self.workload.rank_of(action),
            cpu: record.cpu,
            start,
            end: start.wrapping_add(record.nanos()),
        };
        self.write_box("loclop", &span, "1 0 0");
    }

    pub(super) fn send(&mut self, send: u32, start: u64) {
        self.began[send as usize] = start;
        let record = self.workload.record(send);
        let p = self.parameters;
        let bytes = self.rest(send).wrapping_mul(p.overhead_per_byte);
        let end = start.wrapping_add(p.overhead).wrapping_add(bytes);
        let span = Span { rank: self.workload.rank_of(send), cpu: record.cpu, start, end };
        self.write_box("osend", &span, "0 0 1");
        self.write_box("noise", &Span { start: end, ..span }, "0 1 0");
    }

    pub(super) fn wait(&mut self, action: u32, time: u64) {
        self.began[action as usize] = time;
    }

    pub(super) fn meet(&mut self, meeting: Meeting) {
        let Meeting { pair: Pair { send, receive }, time, is_unexpected } = meeting;
        let [from, to] = [send, receive].map(|action| self.workload.rank_of(action));
        let p = self.parameters;
        let left = self.began[send as usize].wrapping_add(p.overhead);
        let o_end = time.wrapping_add(p.overhead);
        if is_unexpected {
            if self.size(receive) > p.eager_bytes_max {
                // The peers write the receiver as the source here.
                self.write_arrow([to, from], [left, time], self.size(receive));
            }
            let cpu = self.workload.record(receive).cpu;
            let span = Span { rank: to, cpu, start: time, end: o_end };
            return self.write_box("orecv", &span, "0 0 1");
        }
        self.write_arrow([from, to], [left, time], self.size(send));
        let rest = self.rest(send);
        let of_cpu = rest.wrapping_mul(p.overhead_per_byte);
        let of_wire = match self.peer {
            Peer::Loggopsim => rest.wrapping_mul(p.gap_per_byte),
            Peer::Atlahs => p.wire_ns(rest),
        };
        let span = Span {
            rank: to,
            cpu: self.workload.record(send).cpu,
            start: time.wrapping_add(of_wire).wrapping_sub(of_cpu),
            end: o_end.wrapping_add(of_cpu.max(of_wire)),
        };
        self.write_box("orecv", &span, "0 0 1");
        self.write_box("noise", &Span { start: span.end, ..span }, "0 1 0");
    }

    /// Returns the bytes of a message: at least 1 in ATLAHS.
    fn size(&self, action: u32) -> u64 {
        let record = self.workload.record(action);
        debug_assert!(matches!(record.kind, Kind::Send | Kind::Recv));
        match self.peer {
            Peer::Loggopsim => record.size,
            Peer::Atlahs => record.size.max(1),
        }
    }

    /// Returns the bytes behind the first one.
    fn rest(&self, action: u32) -> u64 {
        self.size(action).wrapping_sub(1)
    }

    /// Returns a time as the peer writes it. ATLAHS has 32 bits for it.
    fn shown(&self, time: u64) -> i128 {
        match self.peer {
            Peer::Loggopsim => time.into(),
            Peer::Atlahs => i128::from(time as i32),
        }
    }

    fn write_box(&mut self, kind: &str, span: &Span, color: &str) {
        let [start, end] = [span.start, span.end].map(|time| self.shown(time));
        let Span { rank, cpu, .. } = span;
        self.write(format_args!("{kind} {rank} {cpu} {start} {end} {color};\n"));
    }

    fn write_arrow(&mut self, [from, to]: [u32; 2], times: [u64; 2], size: u64) {
        let [start, end] = times.map(|time| self.shown(time));
        let (size, gap) = (size as i32, self.gap_per_byte);
        self.write(format_args!("transmission {from} {to} {start} {end} {size} {gap} 0 0 1;\n"));
    }

    fn write(&mut self, line: std::fmt::Arguments) {
        if self.written.is_ok() {
            self.written = self.out.write_fmt(line);
        }
    }

    /// Moves the file to its place.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.written.map_err(|error| Error::io(self.out.name(), error))?;
        self.out.finish()
    }
}
