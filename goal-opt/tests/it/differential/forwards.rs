//! Programs that forward received data: broadcasts, scatters and reductions along random trees, one
//! after the other.

use goal_lang::{ParseOptions, Program, SourceMap};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// The size of one of the areas of a rank's memory that operations use.
const AREA: u64 = 64;
const AREAS: u64 = 3;

/// A program whose messages are parts of received ones. Each action requires the earlier ones of
/// its rank that access the same bytes, and some more, so there is one outcome.
pub(crate) fn forwards(seed: u64) -> Program {
    let mut random = fastrand::Rng::with_seed(seed);
    let ranks = random.usize(2..=5);
    let mut forwards =
        Forwards { ranks: (0..ranks).map(|_| Rank::default()).collect(), random, tags: 1 };
    for _ in 0..forwards.random.usize(1..=3) {
        if forwards.random.u8(..3) == 0 { forwards.reduction() } else { forwards.broadcast() }
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, entry) in forwards.ranks.iter().enumerate() {
        let _ = write!(text, "rank {rank} {{\nscratch {}\ninit 0 = UInt8", AREA * AREAS);
        (0..AREA * AREAS).for_each(|at| text += &format!(" {}", (at * 7 + rank as u64 * 31) % 251));
        let _ = writeln!(text, "\n{}}}", entry.text);
    }
    let mut sources = SourceMap::default();
    sources.add("forwards.goal", Arc::new(text.clone().into_bytes()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program;
    program.unwrap_or_else(|| panic!("seed {seed} makes no program:\n{text}"))
}

/// A buffer within an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Buffer {
    in_scratch: bool,
    start: u64,
    size: u64,
}

impl Buffer {
    fn area(self) -> (bool, u64) {
        (self.in_scratch, self.start / AREA)
    }

    fn range(self) -> Range<u64> {
        self.start..self.start + self.size
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{},{}", if self.in_scratch { "@" } else { "" }, self.start, self.size)
    }
}

#[derive(Default)]
struct Rank {
    text: String,
    actions: usize,
    touched: Vec<(usize, Buffer, bool)>,
    /// By direction and other rank, the last message with tag 0.
    channels: HashMap<(bool, usize), usize>,
}

struct Forwards {
    random: fastrand::Rng,
    ranks: Vec<Rank>,
    tags: u32,
}

impl Forwards {
    /// Sends data of the root, or a part of it, to all ranks. Some ranks change it before they
    /// forward it.
    fn broadcast(&mut self) {
        let order = self.order();
        let size = 4 * self.random.u64(4..=14);
        let is_scatter = self.random.bool();
        let mut has = vec![self.buffer(size, None, false)];
        for at in 1..order.len() {
            let parent = self.parent(at);
            let mut from = has[parent];
            if is_scatter && from.size >= 16 {
                let size = 4 * self.random.u64(2..=from.size / 4);
                let start = from.start + 4 * self.random.u64(..=(from.size - size) / 4);
                from = Buffer { start, size, ..from };
            }
            let into = self.buffer(from.size, None, true);
            self.message(order[parent], order[at], from, into);
            has.push(into);
            if self.random.u8(..3) == 0 {
                let result = self.buffer(from.size, Some(into), true);
                self.exec(order[at], into, result);
                has[at] = result;
            }
        }
    }

    /// Adds the data of all ranks along a tree.
    fn reduction(&mut self) {
        let order = self.order();
        let size = 4 * self.random.u64(4..=14);
        let sums: Vec<Buffer> = order.iter().map(|_| self.buffer(size, None, false)).collect();
        for at in (1..order.len()).rev() {
            let parent = self.parent(at);
            let into = self.buffer(size, Some(sums[parent]), true);
            self.message(order[at], order[parent], sums[at], into);
            self.exec(order[parent], into, sums[parent]);
        }
    }

    fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        self.random.shuffle(&mut order);
        order
    }

    /// The parent of a position of the tree. Chains are as likely as all other trees.
    fn parent(&mut self, at: usize) -> usize {
        if self.random.bool() { at - 1 } else { self.random.usize(..at) }
    }

    /// A buffer in another area than `other`.
    fn buffer(&mut self, size: u64, other: Option<Buffer>, may_be_scratch: bool) -> Buffer {
        loop {
            let in_scratch = may_be_scratch && self.random.bool();
            let start = AREA * self.random.u64(..AREAS) + 4 * self.random.u64(..=(AREA - size) / 4);
            let buffer = Buffer { in_scratch, start, size };
            if other.is_none_or(|other| other.area() != buffer.area()) {
                return buffer;
            }
        }
    }

    fn message(&mut self, source: usize, destination: usize, from: Buffer, into: Buffer) {
        let mut tag = 0;
        if self.random.bool() {
            tag = self.tags;
            self.tags += 1;
        }
        let scattered = |random: &mut fastrand::Rng, buffer: Buffer| {
            if random.u8(..4) > 0 {
                return buffer.to_string();
            }
            let size = random.u64(1..buffer.size);
            let rest = Buffer { start: buffer.start + size, size: buffer.size - size, ..buffer };
            format!("[{} {rest}]", Buffer { size, ..buffer })
        };
        let sent = scattered(&mut self.random, from);
        let send = format!("send {sent} to {destination} tag {tag}");
        self.act(source, &send, &[(from, false)], (tag == 0).then_some((true, destination)));
        let with_sum = self.random.u8(..4) == 0;
        let recv = match with_sum {
            true => format!("recv {into} from {source} tag {tag} with sumInt32"),
            false => format!("recv {} from {source} tag {tag}", scattered(&mut self.random, into)),
        };
        if with_sum && into.in_scratch {
            // Scratch memory is undefined at the start.
            let filled = self.buffer(into.size, Some(into), false);
            let copy = format!("exec copyInt32 with {filled} {into}");
            self.act(destination, &copy, &[(filled, false), (into, true)], None);
        }
        self.act(destination, &recv, &[(into, true)], (tag == 0).then_some((false, source)));
    }

    fn exec(&mut self, rank: usize, from: Buffer, into: Buffer) {
        let name = if into.in_scratch || self.random.bool() { "copyInt32" } else { "sumInt32" };
        self.act(
            rank,
            &format!("exec {name} with {from} {into}"),
            &[(from, false), (into, true)],
            None,
        );
    }

    /// Adds an action after those that access the same bytes, after the message before it in its
    /// channel, and sometimes after others.
    fn act(
        &mut self,
        rank: usize,
        statement: &str,
        touched: &[(Buffer, bool)],
        channel: Option<(bool, usize)>,
    ) {
        let Self { random, ranks, .. } = self;
        let rank = &mut ranks[rank];
        let id = rank.actions;
        rank.actions += 1;
        let _ = writeln!(rank.text, "a{id}: {statement}");
        for &(earlier, before, wrote) in &rank.touched {
            let conflicts = touched.iter().any(|&(buffer, writes)| {
                let (x, y) = (buffer.range(), before.range());
                let overlap =
                    buffer.in_scratch == before.in_scratch && x.start < y.end && y.start < x.end;
                overlap && (writes || wrote)
            });
            if conflicts {
                let _ = writeln!(rank.text, "a{id} requires a{earlier}");
            }
        }
        rank.touched.extend(touched.iter().map(|&(buffer, writes)| (id, buffer, writes)));
        if let Some(channel) = channel
            && let Some(before) = rank.channels.insert(channel, id)
        {
            let _ = writeln!(rank.text, "a{id} irequires a{before}");
        }
        if id > 0 && random.u8(..4) == 0 {
            let kind = ["requires", "irequires"][random.usize(..2)];
            let _ = writeln!(rank.text, "a{id} {kind} a{}", random.usize(..id));
        }
    }
}
