//! Keeps the state of a run: its started and complete actions, and its memory. The caller decides
//! which message a receive takes.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use goal_lang::pattern::MessageKey;
use goal_lang::{
    Action, ActionId, Body, Datatype, Function, LocalOperation, Op, Operand, Payload, Piece,
    Program, Reduction, Space, overlaps_itself, partly_overlap,
};

use crate::error::{Cause, Failure, Place, Stuck, Wait, Waiting};
use crate::matching::{Content, Envelope, Message};
use crate::memory::{Bytes, Memory};
use crate::ops;
use crate::options::Options;
use crate::outcome::{Matches, Outcome, Taken};

/// An action: its rank, and its place in the rank's body.
pub(crate) type Vertex = (u32, ActionId);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Status {
    Waiting,
    Started,
    Complete,
}

#[derive(Debug, Clone, Hash)]
struct Rank {
    memory: Memory,
    status: Vec<Status>,
    /// The number of unmet dependencies of each action.
    unmet: Vec<u32>,
}

/// What is still to do after an action was started.
pub(crate) enum Started {
    /// Nothing, as the action was local.
    Local,
    /// This message was sent and must be delivered.
    Sent(Message),
    /// A receive was posted and waits for its message.
    Posted(Envelope),
}

#[derive(Debug, Clone)]
pub(crate) struct State<'p> {
    program: &'p Program,
    options: &'p Options,
    ranks: Vec<Rank>,
    /// The number of messages so far, by source and destination.
    sequences: BTreeMap<(u32, u32), u64>,
    /// The actions that have not started although their dependencies are met.
    pub(crate) ready: Vec<Vertex>,
    incomplete: u64,
    messages: u64,
    bytes: u64,
    verified_bytes: u64,
    matches: Option<Matches>,
}

/// Hashes the part of the state on which later steps depend.
impl Hash for State<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.ranks.hash(hasher);
        self.sequences.hash(hasher);
    }
}

impl<'p> State<'p> {
    /// Returns the state before the first step. If `record` is true, the matching is recorded.
    pub(crate) fn new(program: &'p Program, options: &'p Options, record: bool) -> Self {
        let tracked = |body: &Body| {
            body.scratch > 0
                || body.actions.iter().any(|action| matches!(action, Action::Wtime { .. }))
        };
        let tracked = program.bodies.iter().any(tracked);
        let mut ready = Vec::new();
        let mut ranks = Vec::new();
        for rank in 0..program.num_ranks() {
            let body = program.body_of(rank);
            let unmet = body.indegrees();
            ready.extend(body.ids().filter(|id| unmet[id.index()] == 0).map(|id| (rank, id)));
            let memory = Memory::new(program, rank, tracked);
            ranks.push(Rank { memory, status: vec![Status::Waiting; body.len()], unmet });
        }
        Self {
            incomplete: ranks.iter().map(|rank| rank.status.len() as u64).sum(),
            program,
            options,
            ranks,
            sequences: BTreeMap::new(),
            ready,
            messages: 0,
            bytes: 0,
            verified_bytes: 0,
            matches: record.then(Matches::default),
        }
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.incomplete == 0
    }

    pub(crate) fn has_started(&self, (rank, id): Vertex) -> bool {
        self.ranks[rank as usize].status[id.index()] != Status::Waiting
    }

    pub(crate) fn is_complete(&self, (rank, id): Vertex) -> bool {
        self.ranks[rank as usize].status[id.index()] == Status::Complete
    }

    /// Starts an action. The caller must have removed it from `ready`.
    pub(crate) fn start(&mut self, vertex: Vertex) -> Result<Started, Failure> {
        let (rank, id) = vertex;
        let body = self.program.body_of(rank);
        self.ranks[rank as usize].status[id.index()] = Status::Started;
        for &waiter in body.irequires.row(id) {
            self.release((rank, waiter));
        }
        let action = *body.action(id);
        self.check_scratch(vertex, &action)?;
        match action {
            Action::Send { payload, to, tag, .. } => {
                if let Some(reduction) = body.reduction(&action) {
                    let first = reduction.a.expect("a send has both operands");
                    let first = self.ranks[rank as usize].memory.gather(&[first]);
                    self.reduce(vertex, &reduction, &first)?;
                }
                return Ok(Started::Sent(self.send(vertex, payload, to, tag)?));
            }
            Action::Recv { from, tag, .. } => return Ok(Started::Posted(Envelope { from, tag })),
            Action::Calc { .. } | Action::Nop | Action::Marker { .. } => {}
            Action::Wtime { addr, space } => {
                let bytes = self.options.wtime.to_le_bytes().to_vec();
                let time = Bytes { unspecified: vec![true; bytes.len()], bytes };
                let memory = &mut self.ranks[rank as usize].memory;
                memory.scatter(&[Piece { addr, size: 8, space }], &time);
            }
            Action::Exec { .. } | Action::ExecVector { .. } | Action::User { .. } => {
                let local = body.local_operation(&action).expect("the action is a local operation");
                self.compute(vertex, &local).map_err(|cause| self.failure(vertex, cause))?;
            }
        }
        self.complete(vertex);
        Ok(Started::Local)
    }

    /// Gives a message to a posted receive. Moves its bytes and completes the receive. Also
    /// completes the send if it has waited for this.
    pub(crate) fn take(&mut self, recv: Vertex, message: Message) -> Result<(), Failure> {
        let (rank, id) = recv;
        let body = self.program.body_of(rank);
        let Action::Recv { payload, .. } = *body.action(id) else {
            unreachable!("a receive takes a message")
        };
        let send = (message.source, message.send);
        let received = body.payload_size(payload);
        if received != message.size {
            let sender = Place::new(self.program, send.0, send.1);
            return Err(
                self.failure(recv, Cause::SizeMismatch { sender, sent: message.size, received })
            );
        }
        self.messages += 1;
        self.bytes += message.size;
        match (body.reduction(body.action(id)), body.payload_operand(payload)) {
            (Some(reduction), _) => {
                let bytes = self.content(&message);
                self.reduce(recv, &reduction, &bytes)?;
            }
            (None, Some(buffer)) => {
                let bytes = self.content(&message);
                self.ranks[rank as usize].memory.scatter(buffer.pieces(), &bytes);
            }
            (None, None) if message.content == Content::Pattern => {
                self.verified_bytes += message.size
            }
            (None, None) => {}
        }
        if let Some(matches) = &mut self.matches {
            let Message { source, sequence, .. } = message;
            matches.receives.insert(recv, Taken { source, sequence });
        }
        if !self.is_complete(send) {
            self.complete(send);
        }
        self.complete(recv);
        Ok(())
    }

    /// Returns the outcome of a run that has come to its end.
    pub(crate) fn outcome(self, unreceived: u64) -> Outcome {
        let memories: Vec<Bytes> =
            self.ranks.into_iter().map(|rank| rank.memory.into_memory()).collect();
        let flags = |bytes: &Bytes| {
            if bytes.unspecified.contains(&true) { bytes.unspecified.clone() } else { Vec::new() }
        };
        Outcome {
            unspecified: memories.iter().map(flags).collect(),
            memory: memories.into_iter().map(|memory| memory.bytes).collect(),
            messages: self.messages,
            bytes: self.bytes,
            verified_bytes: self.verified_bytes,
            unreceived,
            matches: self.matches.unwrap_or_default(),
        }
    }

    /// Returns the memory of every rank, with 0 for unspecified bytes.
    pub(crate) fn memory(&self) -> Vec<Vec<u8>> {
        let specified = |rank: &Rank| {
            let Bytes { bytes, unspecified } = rank.memory.memory();
            let flag = |at: usize| unspecified.get(at).copied().unwrap_or(false);
            bytes.iter().enumerate().map(|(at, &byte)| if flag(at) { 0 } else { byte }).collect()
        };
        self.ranks.iter().map(specified).collect()
    }

    /// Returns all actions that are not complete, and the conditions that they wait for.
    pub(crate) fn stuck(&self) -> Stuck {
        let mut started = Vec::new();
        let mut others = Vec::new();
        for rank in 0..self.program.num_ranks() {
            let body = self.program.body_of(rank);
            let status = &self.ranks[rank as usize].status;
            let requires = body.requires.transposed(body.len());
            let irequires = body.irequires.transposed(body.len());
            for id in body.ids().filter(|id| status[id.index()] != Status::Complete) {
                let place = Place::new(self.program, rank, id);
                if status[id.index()] == Status::Started {
                    let wait = match *body.action(id) {
                        Action::Send { to, tag, .. } => Wait::Receive { to, tag },
                        Action::Recv { from, tag, .. } => Wait::Message { from, tag },
                        _ => unreachable!("local actions are complete when started"),
                    };
                    started.push(Waiting { place, wait });
                    continue;
                }
                let unmet = |row: &[ActionId], met: fn(Status) -> bool| {
                    row.iter().copied().filter(|id| !met(status[id.index()])).collect::<Vec<_>>()
                };
                let ends = unmet(requires.row(id), |status| status == Status::Complete);
                let starts = unmet(irequires.row(id), |status| status != Status::Waiting);
                let wait = match (ends.is_empty(), starts.is_empty()) {
                    (false, _) => Wait::Ends(ends),
                    (true, false) => Wait::Starts(starts),
                    (true, true) => Wait::Order,
                };
                others.push(Waiting { place, wait });
            }
        }
        started.extend(others);
        Stuck { waiting: started }
    }

    fn failure(&self, (rank, id): Vertex, cause: Cause) -> Failure {
        Failure { place: Place::new(self.program, rank, id), cause }
    }

    fn complete(&mut self, (rank, id): Vertex) {
        self.ranks[rank as usize].status[id.index()] = Status::Complete;
        self.incomplete -= 1;
        for &waiter in self.program.body_of(rank).requires.row(id) {
            self.release((rank, waiter));
        }
    }

    fn release(&mut self, (rank, waiter): Vertex) {
        let unmet = &mut self.ranks[rank as usize].unmet[waiter.index()];
        *unmet -= 1;
        if *unmet == 0 {
            self.ready.push((rank, waiter));
        }
    }

    fn send(
        &mut self,
        send: Vertex,
        payload: Payload,
        to: u32,
        tag: u32,
    ) -> Result<Message, Failure> {
        let (rank, id) = send;
        if to >= self.program.num_ranks() {
            return Err(self.failure(send, Cause::PeerOutOfRange(to)));
        }
        let body = self.program.body_of(rank);
        let size = body.payload_size(payload);
        let next = self.sequences.entry((rank, to)).or_default();
        let sequence = *next;
        *next += 1;
        if let Some(matches) = &mut self.matches {
            matches.sends.insert(send, sequence);
        }
        let copies = self.options.eager.copies(size);
        let content = match body.payload_operand(payload) {
            None => Content::Pattern,
            Some(buffer) if copies => {
                Content::Copied(self.ranks[rank as usize].memory.gather(buffer.pieces()))
            }
            Some(_) => Content::InPlace,
        };
        if copies {
            self.complete(send);
        }
        Ok(Message { source: rank, send: id, destination: to, tag, size, sequence, content })
    }

    fn content(&self, message: &Message) -> Bytes {
        let &Message { source, destination, tag, sequence, send, size, .. } = message;
        match &message.content {
            Content::Copied(bytes) => bytes.clone(),
            Content::Pattern => {
                let mut bytes = vec![0; size as usize];
                MessageKey { source, destination, tag, sequence }.fill(0, &mut bytes);
                Bytes { bytes, unspecified: Vec::new() }
            }
            Content::InPlace => {
                let body = self.program.body_of(source);
                let Action::Send { payload, .. } = *body.action(send) else {
                    unreachable!("a message comes from a send")
                };
                let buffer = body.payload_operand(payload).expect("the message has an address");
                self.ranks[source as usize].memory.gather(buffer.pieces())
            }
        }
    }

    /// Combines the bytes of a message, as the first operand, with the second operand of its
    /// operation.
    fn reduce(
        &mut self,
        vertex: Vertex,
        reduction: &Reduction,
        first: &Bytes,
    ) -> Result<(), Failure> {
        let &Reduction { op, datatype, a, b } = reduction;
        let [a, b] = [a.unwrap_or(b), b].map(Operand::One);
        let local = LocalOperation { function: Function::Predefined(op, datatype), a, b, c: None };
        let combined = check_predefined(op, datatype, &local).and_then(|()| {
            let memory = &mut self.ranks[vertex.0 as usize].memory;
            let second = memory.gather(b.pieces());
            memory.scatter(b.pieces(), &combine(op, datatype, first, &second)?);
            Ok(())
        });
        combined.map_err(|cause| self.failure(vertex, cause))
    }

    fn compute(&mut self, (rank, _): Vertex, local: &LocalOperation<'_>) -> Result<(), Cause> {
        let options = self.options;
        let memory = &mut self.ranks[rank as usize].memory;
        let mut a = memory.gather(local.a.pieces());
        let mut b = memory.gather(local.b.pieces());
        let flags = a.unspecified.contains(&true) || b.unspecified.contains(&true);
        let (op, datatype) = match local.function {
            Function::Predefined(op, datatype) => (op, datatype),
            Function::User(number) => {
                let function = options
                    .user_functions
                    .get(&number)
                    .ok_or(Cause::UnknownUserFunction(number))?;
                function(&mut a.bytes, &mut b.bytes);
                a.unspecified.fill(flags);
                b.unspecified.fill(flags);
                memory.scatter(local.a.pieces(), &a);
                memory.scatter(local.b.pieces(), &b);
                return Ok(());
            }
        };
        check_predefined(op, datatype, local)?;
        memory.scatter(local.result().pieces(), &combine(op, datatype, &a, &b)?);
        Ok(())
    }

    fn check_scratch(&self, vertex: Vertex, action: &Action) -> Result<(), Failure> {
        let body = self.program.body_of(vertex.0);
        let mut within = true;
        body.visit_pieces(action, |piece| {
            let end = piece.addr.checked_add(piece.size);
            within &= piece.space == Space::Memory || end.is_some_and(|end| end <= body.scratch);
        });
        if within {
            Ok(())
        } else {
            Err(self.failure(vertex, Cause::ScratchOutOfRange(body.scratch)))
        }
    }
}

/// Returns the result of a predefined operation. An element of the result is specified if the
/// elements of both operands are.
fn combine(op: Op, datatype: Datatype, a: &Bytes, b: &Bytes) -> Result<Bytes, Cause> {
    let bytes = ops::apply(op, datatype, &a.bytes, &b.bytes)
        .map_err(|ops::DivisionByZero(element)| Cause::DivisionByZero { element })?;
    let unspecified = match op {
        Op::Copy => a.unspecified.clone(),
        // Without flags, every byte of an operand is specified.
        _ if a.unspecified.is_empty() => {
            spread(&vec![false; bytes.len()], &b.unspecified, datatype.width() as usize)
        }
        _ => spread(&a.unspecified, &b.unspecified, datatype.width() as usize),
    };
    Ok(Bytes { bytes, unspecified })
}

fn check_predefined(op: Op, datatype: Datatype, local: &LocalOperation<'_>) -> Result<(), Cause> {
    check_operands(local, datatype.width())?;
    if goal_lang::is_legal(op, datatype) { Ok(()) } else { Err(Cause::IllegalOperation) }
}

fn check_operands(local: &LocalOperation<'_>, width: u64) -> Result<(), Cause> {
    let operands: Vec<_> = [Some(local.a), Some(local.b), local.c].into_iter().flatten().collect();
    let sizes: Vec<u64> = operands.iter().map(|operand| operand.size()).collect();
    if sizes.iter().any(|&size| size != sizes[0] || size % width != 0) {
        return Err(Cause::OperandSize(sizes));
    }
    let apart = |i: usize, j: usize| !partly_overlap(operands[i].pieces(), operands[j].pieces());
    let all_apart = (0..operands.len()).all(|i| (0..i).all(|j| apart(i, j)));
    if all_apart && !overlaps_itself(local.result().pieces()) {
        Ok(())
    } else {
        Err(Cause::PartialOverlap)
    }
}

/// Returns the flags of a result. An element is unspecified if any byte of this element is
/// unspecified in either operand.
fn spread(a: &[bool], b: &[bool], width: usize) -> Vec<bool> {
    let elements = a.chunks(width).zip(b.chunks(width));
    elements.flat_map(|(a, b)| vec![a.contains(&true) || b.contains(&true); a.len()]).collect()
}
