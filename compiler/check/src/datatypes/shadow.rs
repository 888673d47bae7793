//! The memories of all ranks, with the datatype of each byte instead of its value.

use super::trail::{Mismatch, Trail, Typed};
use crate::limits::{RANGE_STEPS_MAX, RANGE_STEPS_PER_PIECE};
use crate::ranges::Ranges;
use goal_lang::{Action, ActionId, BodyId, Datatype, Function, Op, Operand, Piece, Space};
use goal_opt::whole::{Vertex, Whole};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The known datatypes of a buffer, in ascending ranges of its bytes. Offsets count through the
/// pieces of the buffer, one piece after the other.
type Parts = Vec<(Range<u64>, Typed)>;

/// The statements of a mismatch: of the writer, the send, the receive and the reader. `None` as the
/// writer stands for `init`.
type Place = [Option<(BodyId, ActionId)>; 4];

pub(super) struct Shadow<'a> {
    whole: &'a Whole<'a>,
    /// By vertex of a send or receive, the matching receive or send, if every run matches these
    /// two. Otherwise [`Vertex::NONE`].
    partners: &'a [Vertex],
    /// By rank, the datatypes of its memory and of its scratch memory.
    spaces: Vec<[Ranges<Option<Typed>>; 2]>,
    /// By send, the datatypes of its message, from the end of the send until the receive takes the
    /// message. A send whose message was taken before the send ended has an empty entry.
    under_way: FxHashMap<Vertex, Parts>,
    /// The number of ranges that may still be visited.
    steps_left: u64,
    mismatches: Vec<Mismatch>,
    /// The statements of the mismatches so far. A mismatch of the same statements, on another rank
    /// with the same body, is not recorded again.
    places: FxHashSet<Place>,
    trail: Trail,
}

impl<'a> Shadow<'a> {
    /// Makes the state before the first action. `effort` is the bound on the work as a multiple of
    /// the default.
    pub(super) fn new(whole: &'a Whole<'a>, partners: &'a [Vertex], effort: u64) -> Self {
        let mut spaces = Vec::new();
        spaces.resize_with(whole.program.ranks.len(), <[Ranges<Option<Typed>>; 2]>::default);
        for (rank, spaces) in (0..).zip(&mut spaces) {
            for datum in whole.program.image_of(rank).map_or(&[][..], |image| &image.init) {
                let range = datum.addr..datum.addr.saturating_add(datum.bytes.len() as u64);
                spaces[Space::Memory as usize]
                    .set(range, Some(Typed::new(datum.datatype, Vertex::NONE)));
            }
        }
        Self {
            whole,
            partners,
            spaces,
            under_way: FxHashMap::default(),
            steps_left: RANGE_STEPS_MAX.saturating_mul(effort),
            mismatches: Vec::new(),
            places: FxHashSet::default(),
            trail: Trail::default(),
        }
    }

    /// Follows the datatypes through one action. Returns false if the bound on visited ranges is
    /// reached.
    pub(super) fn step(&mut self, vertex: Vertex) -> bool {
        let body = self.whole.body(vertex);
        let action = self.whole.action(vertex);
        body.visit_pieces(action, |_| self.steps_left += RANGE_STEPS_PER_PIECE);
        match *action {
            Action::Send { .. } => self.send(vertex),
            Action::Recv { .. } => self.receive(vertex),
            Action::Wtime { addr, space } => {
                self.write(vertex, &[Piece { addr, size: 8, space }], Some(Datatype::Float64));
            }
            _ => self.local(vertex),
        }
        self.steps_left > 0
    }

    /// Returns the mismatches, and the trail with the ways of their bytes.
    pub(super) fn found(self) -> (Vec<Mismatch>, Trail) {
        (self.mismatches, self.trail)
    }

    fn send(&mut self, send: Vertex) {
        if let Some(reduction) = self.whole.body(send).reduction(self.whole.action(send)) {
            reduction.a.into_iter().chain([reduction.b]).for_each(|piece| {
                self.read(send, &[piece], reduction.datatype);
            });
            self.write(send, &[reduction.b], Some(reduction.datatype));
        }
        // If there is no entry, the receive has not taken the message yet.
        if self.partners[send.index()] != Vertex::NONE && self.under_way.remove(&send).is_none() {
            let parts = self.sent(send);
            if !parts.is_empty() {
                self.under_way.insert(send, parts);
            }
        }
    }

    /// Returns the datatypes of the bytes that `send` sends.
    fn sent(&mut self, send: Vertex) -> Parts {
        let (body, action) = (self.whole.body(send), self.whole.action(send));
        let Action::Send { payload, .. } = *action else { return Vec::new() };
        match (body.reduction(action), body.payload_operand(payload)) {
            (Some(reduction), _) => {
                vec![(0..reduction.b.size, Typed::new(reduction.datatype, send))]
            }
            (None, Some(buffer)) => self.gather(send, buffer),
            (None, None) => Vec::new(),
        }
    }

    fn receive(&mut self, recv: Vertex) {
        let (body, action) = (self.whole.body(recv), self.whole.action(recv));
        let parts =
            self.partners[recv.index()].some().map_or_else(Vec::new, |send| self.taken(send, recv));
        let Action::Recv { payload, .. } = *action else { return };
        match (body.reduction(action), body.payload_operand(payload)) {
            (Some(reduction), _) => {
                parts.iter().for_each(|(_, typed)| self.compare(typed, recv, reduction.datatype));
                self.read(recv, &[reduction.b], reduction.datatype);
                self.write(recv, &[reduction.b], Some(reduction.datatype));
            }
            (None, Some(buffer)) => self.scatter(recv, buffer, &parts),
            (None, None) => {}
        }
    }

    /// Returns the datatypes of the message that `recv` takes. If `send` has not ended, they are
    /// still in the buffer of `send`.
    fn taken(&mut self, send: Vertex, recv: Vertex) -> Parts {
        let mut parts = match self.under_way.remove(&send) {
            Some(parts) => parts,
            None => {
                let parts = self.sent(send);
                if !parts.is_empty() {
                    self.under_way.insert(send, Vec::new());
                }
                parts
            }
        };
        for (_, typed) in &mut parts {
            typed.message = [send, recv];
            typed.read = false;
        }
        self.trail.extend(&mut parts, &[send, recv]);
        parts
    }

    fn local(&mut self, vertex: Vertex) {
        let body = self.whole.body(vertex);
        let Some(local) = body.local_operation(self.whole.action(vertex)) else { return };
        let operands = [local.a, local.b];
        match local.function {
            Function::User(_) => {
                operands.iter().for_each(|operand| self.write(vertex, operand.pieces(), None))
            }
            Function::Predefined(Op::Copy, _) => {
                let mut parts = self.gather(vertex, local.a);
                self.trail.extend(&mut parts, &[vertex]);
                self.scatter(vertex, local.result(), &parts);
            }
            Function::Predefined(_, datatype) => {
                operands.iter().for_each(|operand| self.read(vertex, operand.pieces(), datatype));
                self.write(vertex, local.result().pieces(), Some(datatype));
            }
        }
    }

    fn ranges(
        &mut self,
        vertex: Vertex,
        piece: &Piece,
    ) -> (&mut Ranges<Option<Typed>>, Range<u64>) {
        let ranges = &mut self.spaces[self.whole.rank(vertex) as usize][piece.space as usize];
        (ranges, piece.addr..piece.addr.saturating_add(piece.size))
    }

    fn write(&mut self, vertex: Vertex, pieces: &[Piece], datatype: Option<Datatype>) {
        for piece in pieces {
            let (ranges, range) = self.ranges(vertex, piece);
            ranges.set(range, datatype.map(|datatype| Typed::new(datatype, vertex)));
            self.pay(1);
        }
    }

    /// Reads the bytes of `pieces` as elements of `datatype`. Reports a mismatch for received
    /// bytes, at their first read, if they were written as another datatype.
    fn read(&mut self, vertex: Vertex, pieces: &[Piece], datatype: Datatype) {
        for piece in pieces {
            let mut received = Vec::new();
            let (ranges, range) = self.ranges(vertex, piece);
            let parts = ranges.update(range, &None, |_, typed| {
                if let Some(typed) = typed
                    && !typed.read
                {
                    received.push(*typed);
                    typed.read = true;
                }
            });
            self.pay(parts);
            received.iter().for_each(|typed| self.compare(typed, vertex, datatype));
        }
    }

    fn compare(&mut self, typed: &Typed, reader: Vertex, read_as: Datatype) {
        if typed.message[0] == Vertex::NONE || typed.datatype == read_as {
            return;
        }
        let [send, recv] = typed.message;
        let place = [typed.writer, send, recv, reader].map(|vertex| {
            let vertex = vertex.some()?;
            Some((
                self.whole.program.ranks[self.whole.rank(vertex) as usize].body,
                self.whole.id(vertex),
            ))
        });
        if self.places.insert(place) {
            self.mismatches.push(Mismatch { typed: *typed, reader, read_as });
        }
    }

    /// Returns the datatypes of the bytes of a buffer.
    fn gather(&mut self, vertex: Vertex, buffer: Operand<'_>) -> Parts {
        let mut parts = Vec::new();
        let mut offset = 0;
        for piece in buffer.pieces() {
            let (ranges, range) = self.ranges(vertex, piece);
            let start = range.start;
            for (part, typed) in ranges.parts(range) {
                parts.extend(
                    typed.map(|typed| {
                        (part.start - start + offset..part.end - start + offset, typed)
                    }),
                );
            }
            offset += piece.size;
        }
        self.pay(buffer.pieces().len() as u64 + parts.len() as u64);
        parts
    }

    /// Stores the datatypes of the bytes that a buffer receives.
    fn scatter(&mut self, vertex: Vertex, buffer: Operand<'_>, parts: &[(Range<u64>, Typed)]) {
        let mut offset = 0;
        for piece in buffer.pieces() {
            let end = offset + piece.size;
            let first = parts.partition_point(|(part, _)| part.end <= offset);
            let (ranges, range) = self.ranges(vertex, piece);
            ranges.set(range, None);
            let mut stored = 1;
            for (part, typed) in parts[first..].iter().take_while(|(part, _)| part.start < end) {
                let (from, to) = (part.start.max(offset) - offset, part.end.min(end) - offset);
                ranges.set(piece.addr + from..piece.addr + to, Some(*typed));
                stored += 1;
            }
            self.pay(stored);
            offset = end;
        }
    }

    fn pay(&mut self, steps: u64) {
        self.steps_left = self.steps_left.saturating_sub(steps);
    }
}
