//! The translation of a schedule for the kernel.
//!
//! An action becomes one or more of the engine's actions, each of which is an operation, a send or
//! both. A message that is gathered from pieces is copied piece by piece; so is one that is
//! scattered. A message of more frames than the engine counts is sent in portions, each a message
//! of the engine, and its receive waits for all of them. A receive that others wait for the start
//! of begins with an action that does nothing. All other actions end when they begin, so those that
//! wait for their start wait for their end. The rank's process is handed what the kernel can't do,
//! or not in time: a long operation on floating-point numbers, a computation, the time.
//!
//! Memory of a part: the rank's memory, scratch memory, the bytes of patterns, gathered operands;
//! then two copies, one for even runs and one for odd ones, of all places where messages land and
//! of all bytes that sends keep.

use crate::analysis::{acks, numbers, portion_bytes, portions, refused, segments, touched};
use crate::graph::{Exec, Graph, Node, Payload, Work, is_long};
use crate::image::PartImage;
use crate::layout::{
    ALTERNATES_A, ALTERNATES_B, ALTERNATES_C, ActionEntry, HANDED_OVER, NONE, PartEntry,
    RECEIVE_HELD, ReceiveEntry, SEND_ACK, SendEntry,
};
use crate::limits::{ACTIONS_MAX, DEPENDENTS_MAX, FRAGMENT_BYTES_MAX, PART_BYTES, PEERS_MAX};
use crate::matching::{Match, Matching, matching};
use crate::reason::{Reason, Refusal};
use goal_asm::Nisa;
use goal_lang::{Op, Piece, Space};
use std::ops::Range;

/// A message of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The rank that sends it, and the number of the send in the rank's section.
    pub send: (u32, u32),
    /// The rank that receives it, and the number of the receive in the rank's section.
    pub receive: (u32, u32),
    /// Its number among the messages from the one rank to the other.
    pub sequence: u64,
}

/// A schedule of all ranks that the kernel can execute.
#[derive(Debug)]
pub struct Plan {
    graphs: Vec<Graph>,
    matching: Matching,
    /// By rank and action, the number of its send or receive among those that leave the rank.
    numbers: Vec<Vec<u32>>,
    /// Pairs (receiver, sender) whose sender waits for acknowledgements before the next run but
    /// one, ascending.
    acks: Vec<(u32, u32)>,
    fragment: u32,
}

impl Plan {
    /// Translates a schedule. A frame has at most `fragment` bytes of payload: a multiple of 8 that
    /// all hosts of the job agree on.
    ///
    /// # Errors
    /// Every action that the kernel cannot execute.
    ///
    /// # Panics
    /// If `fragment` is no multiple of 8 between 8 and 8192.
    pub fn of(nisa: &Nisa, fragment: u32) -> Result<Self, Vec<Refusal>> {
        Self::translated(nisa, fragment, false)
    }

    /// The same for a job whose calc takes no time: such actions do nothing.
    ///
    /// # Errors
    /// As [`Plan::of`].
    ///
    /// # Panics
    /// As [`Plan::of`].
    pub fn without_calc(nisa: &Nisa, fragment: u32) -> Result<Self, Vec<Refusal>> {
        Self::translated(nisa, fragment, true)
    }

    fn translated(nisa: &Nisa, fragment: u32, skips_calc: bool) -> Result<Self, Vec<Refusal>> {
        assert!(
            fragment.is_multiple_of(8) && (8..=FRAGMENT_BYTES_MAX).contains(&fragment),
            "fragments of {fragment} bytes"
        );
        let ranks = nisa.num_ranks();
        if ranks > PEERS_MAX {
            let reason = Reason::ManyRanks(ranks);
            return Err(vec![Refusal { rank: 0, action: None, line: None, reason }]);
        }
        let graphs: Vec<Graph> = (0..ranks).map(|rank| Graph::of(nisa, rank, skips_calc)).collect();
        // The analyses take time and memory for each action, so these limits come first.
        let long = graphs.iter().enumerate().filter_map(|(rank, graph)| {
            let count = graph.nodes.len();
            let reason = Reason::ManyActions(count as u64);
            let refusal = Refusal { rank: rank as u32, action: None, line: None, reason };
            (count > ACTIONS_MAX as usize).then_some(refusal)
        });
        let long: Vec<Refusal> = long.collect();
        if !long.is_empty() {
            return Err(long);
        }
        let refusal = |(rank, action, reason): (u32, u32, Reason)| Refusal {
            rank,
            action: Some(action),
            line: nisa.debug(rank).line(action as usize),
            reason,
        };
        let refusals: Vec<Refusal> = refused(&graphs).into_iter().map(refusal).collect();
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let matching = matching(&graphs)
            .map_err(|misfits| misfits.into_iter().map(refusal).collect::<Vec<_>>())?;
        let numbers = numbers(&graphs, &matching, fragment);
        let acks = acks(&graphs, &matching);
        let plan = Self { graphs, matching, numbers, acks, fragment };
        let parts = (0..ranks).filter_map(|rank| {
            let reason = plan.build(rank).err()?;
            Some(Refusal { rank, action: None, line: None, reason })
        });
        let refusals: Vec<Refusal> = parts.collect();
        if refusals.is_empty() { Ok(plan) } else { Err(refusals) }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        self.graphs.len() as u32
    }

    /// Returns the most bytes of payload of a frame.
    pub fn fragment(&self) -> u32 {
        self.fragment
    }

    /// Returns the messages of a run, each with the send and the receive that were matched.
    pub fn messages(&self) -> impl Iterator<Item = Message> {
        let of_rank = |(rank, graph): (usize, &'_ Graph)| {
            let matches = self.matching.matches[rank].iter();
            let sends = graph.nodes.iter().zip(matches).enumerate();
            let message = |(action, (node, other)): (usize, (&Node, &Option<Match>))| {
                let Work::Send { .. } = node.work else { return None };
                let Match { rank: to, action: receive, key } = (*other)?;
                let send = (rank as u32, action as u32);
                Some(Message { send, receive: (to, receive), sequence: key.sequence })
            };
            sends.filter_map(message).collect::<Vec<_>>()
        };
        self.graphs.iter().enumerate().flat_map(of_rank)
    }

    /// Returns the bytes of a rank's memory that its actions read, and those that they write: each
    /// ascending and apart.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn touched(&self, rank: u32) -> [Vec<Range<u64>>; 2] {
        touched(&self.graphs[rank as usize])
    }

    /// Returns the part of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn part(&self, rank: u32) -> PartImage {
        self.build(rank).expect("the limits were checked")
    }

    fn build(&self, rank: u32) -> Result<PartImage, Reason> {
        let mut builder = Builder::new(self, rank);
        builder.actions();
        builder.acknowledgements();
        builder.image()
    }

    fn fragments(&self, bytes: u32) -> u16 {
        bytes.div_ceil(self.fragment).max(1) as u16
    }
}

/// A place in the part's memory: in the rank's own and what follows it, among the operands that
/// were gathered, or in what alternates.
#[derive(Debug, Clone, Copy)]
enum Place {
    Fixed(u64),
    Gathered(u64),
    Alternating(u64),
}

/// The work of an action of the engine, before its dependents are known.
#[derive(Debug, Clone, Copy)]
struct Step {
    op: u8,
    datatype: u8,
    places: [Place; 3],
    bytes: u64,
    send: u32,
    /// The rank's process does it.
    handed: bool,
}

const NOTHING: Step =
    Step { op: 0, datatype: 0, places: [Place::Fixed(0); 3], bytes: 0, send: NONE, handed: false };

fn copied(from: Place, to: Place, bytes: u64) -> Step {
    if bytes == 0 {
        return NOTHING;
    }
    let datatype = goal_lang::Datatype::UInt8 as u8;
    Step {
        op: Op::Copy as u8,
        datatype,
        places: [from, from, to],
        bytes,
        send: NONE,
        handed: false,
    }
}

struct Builder<'a> {
    plan: &'a Plan,
    rank: u32,
    graph: &'a Graph,
    steps: Vec<Step>,
    /// By action of the engine, what is counted before it runs.
    initial: Vec<u32>,
    dependents: Vec<Vec<u32>>,
    origins: Vec<u32>,
    independent: Vec<u32>,
    /// By action of the section, the first and the last of its actions, and the one that a message
    /// releases.
    entries: Vec<u32>,
    exits: Vec<u32>,
    arrivals: Vec<u32>,
    receives: Vec<ReceiveEntry>,
    sends: Vec<SendEntry>,
    held: u32,
    acks: u32,
    constants: Vec<u8>,
    gathered: u64,
    alternating: u64,
    /// The landing places of messages of the rank to itself, by the receive's action.
    landings: Vec<Option<u64>>,
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

impl<'a> Builder<'a> {
    fn new(plan: &'a Plan, rank: u32) -> Self {
        let graph = &plan.graphs[rank as usize];
        let none = vec![NONE; graph.nodes.len()];
        Self {
            plan,
            rank,
            graph,
            steps: Vec::new(),
            initial: Vec::new(),
            dependents: Vec::new(),
            origins: Vec::new(),
            independent: Vec::new(),
            entries: none.clone(),
            exits: none.clone(),
            arrivals: none,
            receives: Vec::new(),
            sends: Vec::new(),
            held: 0,
            acks: 0,
            constants: Vec::new(),
            gathered: 0,
            alternating: 0,
            landings: vec![None; graph.nodes.len()],
        }
    }

    fn step(&mut self, origin: usize, step: Step) -> u32 {
        self.steps.push(step);
        self.initial.push(0);
        self.dependents.push(Vec::new());
        self.origins.push(origin as u32);
        self.steps.len() as u32 - 1
    }

    fn depends(&mut self, waiter: u32, on: u32) {
        self.dependents[on as usize].push(waiter);
        self.initial[waiter as usize] += 1;
    }

    /// Appends a chain of steps. Returns the first and the last.
    fn chain(&mut self, origin: usize, steps: Vec<Step>) -> (u32, u32) {
        let steps = if steps.is_empty() { vec![NOTHING] } else { steps };
        let first = self.steps.len() as u32;
        for (i, step) in steps.into_iter().enumerate() {
            let at = self.step(origin, step);
            if i > 0 {
                self.depends(at, at - 1);
            }
        }
        (first, self.steps.len() as u32 - 1)
    }

    fn alternate(&mut self, bytes: u64) -> u64 {
        self.alternating += aligned(bytes);
        self.alternating - aligned(bytes)
    }

    fn place(&self, piece: Piece) -> Place {
        Place::Fixed(match piece.space {
            Space::Memory => piece.addr,
            Space::Scratch => aligned(self.graph.memory) + piece.addr,
        })
    }

    fn constants_at(&self) -> u64 {
        aligned(self.graph.memory) + aligned(self.graph.scratch)
    }

    fn other(&self, action: usize) -> Match {
        self.plan.matching.matches[self.rank as usize][action].expect("messages are matched")
    }

    fn number(&self, rank: u32, action: u32) -> u32 {
        self.plan.numbers[rank as usize][action as usize]
    }

    fn exec(&mut self, exec: &Exec) -> Vec<Step> {
        let (op, datatype) = (exec.op as u8, exec.datatype as u8);
        if let Some(segments) = segments(exec) {
            let steps = segments.into_iter().filter(|[a, ..]| a.size > 0).map(|[a, b, c]| Step {
                op,
                datatype,
                places: [self.place(a), self.place(b), self.place(c)],
                bytes: a.size,
                send: NONE,
                handed: is_long(exec.op, exec.datatype, a.size),
            });
            return steps.collect();
        }
        // An element lies in two pieces: operands are gathered, and the result is scattered.
        let bytes: u64 = exec.a.iter().map(|piece| piece.size).sum();
        let gathered = self.gathered;
        self.gathered += 2 * aligned(bytes);
        let mut steps = Vec::new();
        for (pieces, start) in [(&exec.a, gathered), (&exec.b, gathered + aligned(bytes))] {
            let mut at = start;
            for &piece in pieces {
                steps.push(copied(self.place(piece), Place::Gathered(at), piece.size));
                at += piece.size;
            }
        }
        let [a, b] = [gathered, gathered + aligned(bytes)].map(Place::Gathered);
        let handed = is_long(exec.op, exec.datatype, bytes);
        steps.push(Step { op, datatype, places: [a, b, b], bytes, send: NONE, handed });
        let mut at = gathered + aligned(bytes);
        for &piece in &exec.c {
            steps.push(copied(Place::Gathered(at), self.place(piece), piece.size));
            at += piece.size;
        }
        steps
    }

    fn actions(&mut self) {
        // A message of the rank to itself needs the place where it lands before its send is built.
        for action in 0..self.graph.nodes.len() {
            if let Work::Recv { payload, .. } = &self.graph.nodes[action].work
                && self.other(action).rank == self.rank
            {
                self.landings[action] = Some(self.alternate(payload.bytes()));
            }
        }
        for (action, node) in self.graph.nodes.iter().enumerate() {
            let (entry, exit) = match &node.work {
                Work::Nothing => self.chain(action, vec![NOTHING]),
                Work::Exec(exec) => {
                    let steps = self.exec(exec);
                    self.chain(action, steps)
                }
                Work::Send { payload, before, .. } => self.send(action, payload, before.as_ref()),
                Work::Recv { .. } => self.receive(action),
                Work::Handed(piece) => {
                    let place = piece.map_or(Place::Fixed(0), |piece| self.place(piece));
                    let bytes = piece.map_or(0, |piece| piece.size);
                    let places = [place; 3];
                    let handed = Step { places, bytes, handed: true, ..NOTHING };
                    // It takes long: those that wait for its start do not wait for its end.
                    match node.start_dependents.is_empty() {
                        true => self.chain(action, vec![handed]),
                        false => self.chain(action, vec![NOTHING, handed]),
                    }
                }
                Work::Refused(_) => unreachable!("refused before"),
            };
            self.entries[action] = entry;
            self.exits[action] = exit;
            self.initial[entry as usize] += node.sources;
            if node.sources == 0 {
                self.initial[entry as usize] += 1;
                self.independent.push(entry);
            }
        }
        for (action, node) in self.graph.nodes.iter().enumerate() {
            for &waiter in &node.dependents {
                self.dependents[self.exits[action] as usize].push(self.entries[waiter as usize]);
            }
            for &waiter in &node.start_dependents {
                self.dependents[self.entries[action] as usize].push(self.entries[waiter as usize]);
            }
            if let Work::Send { peer, .. } = node.work
                && peer == self.rank
            {
                let receive = self.other(action).action as usize;
                self.dependents[self.exits[action] as usize].push(self.arrivals[receive]);
            }
        }
        if self.steps.is_empty() {
            // An epoch ends with an action.
            self.step(0, NOTHING);
            self.initial[0] = 1;
            self.independent.push(0);
        }
    }

    /// Cuts a message that has a place at `start` into portions. Returns the number, the place and
    /// the bytes of each.
    fn portions(&self, start: u64, bytes: u64) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
        // If all messages together have no room, `image` refuses the part.
        let bytes = if self.alternating > PART_BYTES.into() { 0 } else { bytes as u32 };
        let (start, most) = (start as u32, portion_bytes(self.plan.fragment));
        (0..portions(bytes.into(), self.plan.fragment)).map(move |number| {
            let at = number * most;
            (number, start.wrapping_add(at), most.min(bytes - at))
        })
    }

    fn send(&mut self, action: usize, payload: &Payload, before: Option<&Exec>) -> (u32, u32) {
        let mut steps = before.map_or_else(Vec::new, |exec| self.exec(exec));
        let bytes = payload.bytes();
        let other = self.other(action);
        let is_local = other.rank == self.rank;
        let kept = match is_local {
            true => self.landings[other.action as usize].expect("placed before"),
            false => self.alternate(bytes),
        };
        match payload {
            Payload::Pattern(_) => {
                let at = self.constants_at() + self.constants.len() as u64;
                let start = self.constants.len();
                if start as u64 + bytes > PART_BYTES.into() {
                    // The part has no room for this: `image` says so.
                    self.alternating += u64::from(PART_BYTES);
                } else {
                    self.constants.resize(start + aligned(bytes) as usize, 0);
                    other.key.fill(0, &mut self.constants[start..start + bytes as usize]);
                }
                steps.push(copied(Place::Fixed(at), Place::Alternating(kept), bytes));
            }
            Payload::Pieces(pieces) => {
                let mut at = kept;
                for &piece in pieces {
                    let from = self.place(piece);
                    steps.push(copied(from, Place::Alternating(at), piece.size));
                    at += piece.size;
                }
            }
        }
        if steps.is_empty() {
            steps.push(NOTHING);
        }
        if !is_local {
            for (number, place, bytes) in self.portions(kept, bytes) {
                if number > 0 {
                    steps.push(NOTHING);
                }
                steps.last_mut().expect("one at least").send = self.sends.len() as u32;
                self.sends.push(SendEntry {
                    place,
                    bytes,
                    peer: other.rank,
                    peers_receive: self.number(other.rank, other.action) + number,
                    fragments: self.plan.fragments(bytes),
                    ..SendEntry::default()
                });
            }
        }
        self.chain(action, steps)
    }

    fn receive(&mut self, action: usize) -> (u32, u32) {
        let node = &self.graph.nodes[action];
        let Work::Recv { payload, combine, .. } = &node.work else { unreachable!("a receive") };
        let bytes = payload.bytes();
        let other = self.other(action);
        let landing = match self.landings[action] {
            Some(landing) => landing,
            None => self.alternate(bytes),
        };
        let mut steps = Vec::new();
        if let Payload::Pieces(pieces) = payload {
            let mut at = landing;
            for &piece in pieces {
                let (from, to) = (Place::Alternating(at), self.place(piece));
                at += piece.size;
                steps.push(match *combine {
                    Some((op, datatype)) if piece.size > 0 => Step {
                        op: op as u8,
                        datatype: datatype as u8,
                        places: [from, to, to],
                        bytes: piece.size,
                        send: NONE,
                        handed: is_long(op, datatype, piece.size),
                    },
                    _ => copied(from, to, piece.size),
                });
            }
        }
        let (mut entry, exit) = self.chain(action, steps);
        let arrival = entry;
        self.arrivals[action] = arrival;
        if !node.start_dependents.is_empty() {
            entry = self.step(action, NOTHING);
            self.depends(arrival, entry);
        }
        if other.rank == self.rank {
            self.initial[arrival as usize] += 1;
            return (entry, exit);
        }
        for (number, place, bytes) in self.portions(landing, bytes) {
            self.initial[arrival as usize] += 1;
            self.receives.push(ReceiveEntry {
                missing: [self.plan.fragments(bytes).into(); 2],
                place,
                bytes,
                action: arrival,
                peer: other.rank,
                peers_send: self.number(other.rank, other.action) + number,
                fragments: self.plan.fragments(bytes),
                ..ReceiveEntry::default()
            });
        }
        (entry, exit)
    }

    /// The number of the acknowledgement of a pair among all that its sender or receiver has.
    fn ack_number(&self, pair: (u32, u32), of: impl Fn(&(u32, u32)) -> bool) -> u32 {
        self.plan.acks.iter().filter(|other| of(other)).take_while(|other| **other != pair).count()
            as u32
    }

    /// The number of a rank's own sends or receives, without acknowledgements.
    fn messages(&self, rank: u32, is_send: bool) -> u32 {
        let graph = &self.plan.graphs[rank as usize];
        let numbers = graph.nodes.iter().zip(&self.plan.numbers[rank as usize]);
        let mine = numbers.filter(|(_, number)| **number != NONE).filter_map(|(node, _)| {
            let (payload, sends) = match &node.work {
                Work::Send { payload, .. } => (payload, true),
                Work::Recv { payload, .. } => (payload, false),
                _ => return None,
            };
            (sends == is_send).then(|| portions(payload.bytes(), self.plan.fragment))
        });
        mine.sum()
    }

    fn acknowledgements(&mut self) {
        for &pair in &self.plan.acks {
            let (receiver, sender) = pair;
            if receiver == self.rank {
                let number = self.ack_number(pair, |other| other.1 == sender);
                self.acks += 1;
                self.sends.push(SendEntry {
                    peer: sender,
                    peers_receive: self.messages(sender, false) + number,
                    fragments: 1,
                    flags: SEND_ACK,
                    ..SendEntry::default()
                });
            }
            if sender == self.rank {
                let number = self.ack_number(pair, |other| other.0 == receiver);
                self.held += 1;
                self.receives.push(ReceiveEntry {
                    missing: [1; 2],
                    action: NONE,
                    peer: receiver,
                    peers_send: self.messages(receiver, true) + number,
                    fragments: 1,
                    flags: RECEIVE_HELD,
                    ..ReceiveEntry::default()
                });
            }
        }
    }

    fn image(mut self) -> Result<PartImage, Reason> {
        let constants_at = self.constants_at();
        let gathered = constants_at + self.constants.len() as u64;
        let fixed = gathered + self.gathered;
        let bytes = fixed + 2 * self.alternating;
        if bytes > u64::from(PART_BYTES) {
            return Err(Reason::ManyBytes(bytes));
        }
        if self.steps.len() > ACTIONS_MAX as usize {
            return Err(Reason::ManyActions(self.steps.len() as u64));
        }
        let mut dependents: Vec<u32> = Vec::new();
        let mut actions: Vec<ActionEntry> = Vec::with_capacity(self.steps.len());
        for (number, step) in self.steps.iter().enumerate() {
            let place = |place: Place| match place {
                Place::Fixed(at) => at as u32,
                Place::Gathered(at) => (gathered + at) as u32,
                Place::Alternating(at) => (fixed + at) as u32,
            };
            let flags = [ALTERNATES_A, ALTERNATES_B, ALTERNATES_C];
            let alternating = step.places.iter().zip(flags);
            let alternating = alternating.filter(|(at, _)| matches!(at, Place::Alternating(_)));
            let own = &self.dependents[number];
            actions.push(ActionEntry {
                a: place(step.places[0]),
                b: place(step.places[1]),
                c: place(step.places[2]),
                bytes: step.bytes as u32,
                first_dependent: dependents.len() as u32,
                dependents: own.len() as u32,
                send: step.send,
                initial: self.initial[number],
                left: [self.initial[number]; 2],
                op: step.op,
                datatype: step.datatype,
                flags: alternating.map(|(_, flag)| flag).sum::<u8>()
                    | if step.handed { HANDED_OVER } else { 0 },
                ..ActionEntry::default()
            });
            dependents.extend(own);
        }
        let first_independent = dependents.len() as u32;
        dependents.extend(&self.independent);
        if dependents.len() > DEPENDENTS_MAX as usize {
            return Err(Reason::ManyDependents(dependents.len() as u64));
        }
        for receive in &mut self.receives {
            receive.place += fixed as u32;
        }
        for send in &mut self.sends {
            send.place += fixed as u32;
        }
        let part = PartEntry {
            actions: actions.len() as u32,
            first_independent,
            independent: self.independent.len() as u32,
            receives: self.receives.len() as u32,
            sends: self.sends.len() as u32,
            first_ack: self.sends.len() as u32 - self.acks,
            acks: self.acks,
            held_receives: self.held,
            stride: self.alternating as u32,
            left: [actions.len() as u32; 2],
            ..PartEntry::default()
        };
        Ok(PartImage {
            part,
            actions,
            dependents,
            receives: self.receives,
            sends: self.sends,
            constants_at: constants_at as u32,
            constants: self.constants,
            memory_bytes: self.graph.memory as u32,
            bytes: bytes as u32,
            origins: self.origins,
        })
    }
}
