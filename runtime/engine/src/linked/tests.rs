//! Compares linked runs of random programs with the reference interpreter, and looks at the limits
//! of boards.
#![allow(unsafe_code)] // binds memory of the tests

use super::{Lanes, Lines, Link, Linked, Look, Next, Place, Refusal, Ring, Run, Unlinkable};
use crate::memory::Zeroed;
use crate::testing::{nisa, program};
use crate::{Schedule, Seed};
use goal_asm::Nisa;
use goal_lang::{Action, Body, Op, Payload, Piece, Program, Space};
use goal_smith::Shape;
use std::cell::RefCell;
use std::sync::Arc;

/// Links the schedules of all ranks of a file.
pub(super) fn link_of(nisa: &Nisa, lines: &Lines) -> Result<Link, Refusal> {
    let ranks: Vec<u32> = (0..nisa.num_ranks()).collect();
    let sections: Vec<_> = ranks.iter().map(|&rank| nisa.section(rank)).collect();
    Link::new(&sections, &ranks, lines)
}

/// Cells in memory: for each rank the lines, each with its word and its bytes.
struct Boards {
    written: Vec<RefCell<Vec<Option<Cell>>>>,
    own: usize,
    /// The readers of all messages.
    readers: std::cell::Cell<u64>,
}

#[derive(Clone)]
struct Cell {
    position: u64,
    signature: u16,
    bytes: Vec<u8>,
}

pub(super) const LINES: Lines = Lines { rings: [64, 1024], of: |bytes| bytes.div_ceil(64).max(1) };

impl Boards {
    fn new(ranks: u32) -> Self {
        Self::with_ring(ranks, LONG.rings[1])
    }

    /// Boards with this number of lines.
    fn with_ring(ranks: u32, lines: u64) -> Self {
        let ring = |_| RefCell::new(vec![None; lines as usize]);
        let written = (0..ranks).map(ring).collect();
        Self { written, own: 0, readers: Default::default() }
    }
}

/// A place of a message of the rank with these lines.
struct At<'l> {
    lines: &'l RefCell<Vec<Option<Cell>>>,
    position: u64,
}

impl<'l> Lanes for &'l Boards {
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        readers: u64,
        fill: impl FnOnce(&mut [u8]),
    ) {
        self.readers.set(self.readers.get() | readers);
        self.put_quietly(position, signature, len, fill);
    }

    fn put_quietly(&self, position: u64, signature: u16, len: usize, fill: impl FnOnce(&mut [u8])) {
        let mut bytes = vec![0; len];
        fill(&mut bytes);
        let cell = Cell { position, signature, bytes };
        let mut lines = self.written[self.own].borrow_mut();
        let at = position as usize % lines.len();
        lines[at] = Some(cell);
    }

    type Place = At<'l>;

    fn place(&self, writer: u32, position: u64) -> At<'l> {
        At { lines: &self.written[writer as usize], position }
    }
}

impl Place for At<'_> {
    fn look(&self, signature: u16) -> Look {
        let lines = self.lines.borrow();
        match &lines[self.position as usize % lines.len()] {
            Some(cell) if cell.position != self.position => Look::Missing,
            Some(cell) if cell.signature != signature => Look::Other(cell.signature),
            Some(_) => Look::Arrived,
            None => Look::Missing,
        }
    }

    fn read<R>(&self, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let lines = self.lines.borrow();
        let cell = lines[self.position as usize % lines.len()].as_ref().expect("it has arrived");
        assert_eq!(cell.bytes.len(), len);
        read(&cell.bytes)
    }
}

/// A rank with the memory of its linked run.
struct Rank {
    run: Run,
    memory: Zeroed,
}

impl Rank {
    fn new(nisa: &Arc<Nisa>, link: &Link, rank: u32) -> Result<Self, Unlinkable> {
        Self::in_job(nisa, link, &Vec::from_iter(0..nisa.num_ranks()), rank)
    }

    /// The rank `me` of a communicator of `ranks`, which are ranks of the job.
    fn in_job(nisa: &Arc<Nisa>, link: &Link, ranks: &[u32], me: u32) -> Result<Self, Unlinkable> {
        let rank = ranks[me as usize];
        let schedule = Arc::new(Schedule::new(Arc::clone(nisa), rank, Seed::default()));
        let (linked, bindings) = Linked::new(Arc::clone(&schedule), link, ranks, me, 7, 0)?;
        let mut run = Run::new(Arc::new(linked), bindings).expect("there is memory");
        let memory = Zeroed::new(schedule.memory_size() as usize);
        // SAFETY: the memory lives as long as the run, and nobody else has it.
        unsafe {
            schedule.reset(memory.region().whole().as_mut_slice());
            run.bind(&memory.region().split(schedule.buffers()));
        }
        Ok(Self { run, memory })
    }

    /// Sets the memory to its initial values.
    fn reset(&self) {
        // SAFETY: no run is under way.
        self.run.linked().schedule.reset(unsafe { self.memory.region().whole().as_mut_slice() });
    }

    /// Goes on with the next block if one has ended. Returns false if the run has ended.
    fn goes_on(&mut self, fit: impl Fn(u64, u64) -> u64) -> bool {
        !self.run.has_ended() || self.run.next_block(fit)
    }

    fn memory(&self) -> Vec<u8> {
        // SAFETY: no run is under way.
        unsafe { self.memory.region().whole().as_slice() }.to_vec()
    }
}

/// Runs a file twice on linked ranks that are polled in random order. Returns their memory. Ranks
/// write only where their peers have read, and now and then a rank has no room yet.
pub(super) fn run(nisa: &Arc<Nisa>, link: &Link, random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let ring = LONG.rings[1];
    let fit =
        |at: u64, lines: u64| if at % ring + lines <= ring { at } else { at + ring - at % ring };
    let mut boards = Boards::new(nisa.num_ranks());
    let ranks = (0..nisa.num_ranks()).map(|rank| Rank::new(nisa, link, rank));
    let mut ranks: Vec<Rank> = ranks.collect::<Result<_, _>>().expect("it was linked");
    let first = random.u64(..1 << 40) / ring * ring;
    let mut next = first;
    for _ in 0..2 {
        let base = fit(next, link.lines()[0].into());
        for rank in &mut ranks {
            rank.reset();
            rank.run.rewind();
        }
        for (own, rank) in ranks.iter_mut().enumerate() {
            boards.own = own;
            // Tiny runs take the short way now and then.
            match rank.run.is_tiny() && random.bool() {
                true => drop(rank.run.start_tiny(&&boards, base)),
                false => rank.run.start(base),
            }
            next = rank.run.end_of_blocks(fit);
        }
        let mut turns = 0;
        while ranks.iter_mut().map(|rank| rank.goes_on(fit)).fold(false, |any, one| any | one) {
            assert!(turns < 10_000 + 100 * (next - first), "ranks still wait");
            turns += 1;
            let at = random.usize(..ranks.len());
            boards.own = at;
            let read = (0..ranks.len()).filter(|&other| other != at).map(|other| {
                let run = &ranks[other].run;
                if run.has_ended() { run.end() } else { run.base() }
            });
            let read = read.min().unwrap_or(base);
            let few = ranks[at].run.base() + random.u64(..4);
            let writable = if random.bool() { read + ring } else { few.min(read + ring) };
            if ranks[at].run.is_tiny() && random.bool() {
                let run = &mut ranks[at].run;
                let has_ended = run.read_tiny(&&boards, |place| place.look(7) == Look::Arrived);
                assert!(run.has_ended() || !has_ended);
                continue;
            }
            if ranks[at].run.is_long() {
                ranks[at].run.execute_ready(&&boards, writable).expect("no other schedule runs");
                continue;
            }
            let which = if random.bool() { u64::MAX } else { ranks[at].run.initial() };
            ranks[at].run.execute(&&boards, writable, which).expect("no other schedule runs");
        }
    }
    ranks.iter().map(Rank::memory).collect()
}

/// Runs a file of one block on the short ring until its runs have gone round the ring. Ranks are
/// ahead of each other as far as there is room, and execute each run in one of the ways that the
/// library knows. Each run ends with the memory `wanted`.
fn go_round(nisa: &Arc<Nisa>, link: &Link, random: &mut fastrand::Rng, wanted: &[Vec<u8>]) {
    let (ring, lines) = (LINES.rings[0], u64::from(link.lines()[0]));
    let fit =
        |at: u64, lines: u64| if at % ring + lines <= ring { at } else { at + ring - at % ring };
    let mut boards = Boards::with_ring(nisa.num_ranks(), ring);
    let ranks = (0..nisa.num_ranks()).map(|rank| Rank::new(nisa, link, rank));
    let mut ranks: Vec<Rank> = ranks.collect::<Result<_, _>>().expect("it was linked");
    let all = 2 * ring / lines.max(1) + 2;
    let mut left = vec![all; ranks.len()];
    let mut next = vec![random.u64(..1 << 40) / ring * ring; ranks.len()];
    let mut turns = 0;
    while left.iter().any(|&left| left > 0) || ranks.iter().any(|rank| !rank.run.has_ended()) {
        assert!(turns < 20_000 * all, "ranks still wait");
        turns += 1;
        let at = random.usize(..ranks.len());
        boards.own = at;
        let read = (0..ranks.len()).filter(|&other| other != at).map(|other| {
            let run = &ranks[other].run;
            if run.has_ended() { next[other] } else { run.base() }
        });
        let writable = read.min().expect("there are others") + ring;
        let rank = &mut ranks[at];
        if rank.run.has_ended() {
            assert!(left[at] == all || rank.memory() == wanted[at], "rank {at}");
            if left[at] == 0 {
                continue;
            }
            left[at] -= 1;
            rank.reset();
            let base = fit(next[at], lines);
            next[at] = base + lines;
            let run = &mut rank.run;
            match random.u32(..3) {
                0 if run.is_tiny() && next[at] <= writable => drop(run.start_tiny(&&boards, base)),
                1 if run.is_simple() && next[at] <= writable => {
                    run.start(base);
                    run.put_first(&&boards);
                }
                _ => run.start(base),
            }
            continue;
        }
        let run = &mut rank.run;
        let before = run.first_pending();
        match random.u32(..3) {
            0 if run.is_tiny() => {
                run.read_tiny(&&boards, |place| place.look(7) == Look::Arrived);
            }
            1 if run.is_simple() => {
                let next = run.read_next(&&boards, |place| place.look(7) == Look::Arrived);
                assert_eq!(run.first_pending() != before, next == Next::Read);
            }
            _ => {
                run.execute(&&boards, writable, u64::MAX).expect("no other schedule runs");
            }
        }
    }
}

/// Replaces what a linked run does not know. Messages without an address get bytes of their own
/// behind all others.
fn make_linkable(body: &mut Body) {
    let mut end = body.extent(Space::Memory);
    let mut payload_of = |pieces: &[Piece], payload, is_send| match payload {
        Payload::Pattern { size } => {
            end += size;
            Payload::Buffer(Piece { addr: end - size, size, space: Space::Memory })
        }
        Payload::Reduced { operands, .. } if is_send => Payload::Buffer(pieces[operands as usize]),
        Payload::Reduced { op: Op::Div, datatype, operands } => {
            Payload::Reduced { op: Op::Sum, datatype, operands }
        }
        other => other,
    };
    for action in &mut body.actions {
        match action {
            Action::Send { payload, .. } => *payload = payload_of(&body.pieces, *payload, true),
            Action::Recv { payload, .. } => *payload = payload_of(&body.pieces, *payload, false),
            Action::Exec { op, .. } if *op == Op::Div => *op = Op::Sum,
            Action::Exec { .. } => {}
            _ => *action = Action::Nop,
        }
    }
}

/// Runs random programs of a shape, and compares their memory with the interpreter's. Returns the
/// links of those that can be linked.
fn compare(seeds: u64, shape: impl Fn(u64) -> Shape) -> Vec<Link> {
    let mut links = Vec::new();
    for seed in 0..goal_filetest::seeds(seeds) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut program = goal_smith::program(seed, &shape(seed));
        goal_opt::run(
            &mut program,
            &goal_opt::Pipeline::new(goal_opt::Level::O1),
            &mut goal_opt::Timings::default(),
            |_, _| {},
        )
        .expect("a valid program");
        program.bodies.iter_mut().for_each(make_linkable);
        let program = goal_smith::on_buffers(&program);
        let nisa = nisa(&program);
        let Ok(link) = link_of(&nisa, &LINES) else { continue };
        let options = goal_interp::Options::default();
        let expected = goal_interp::run(&program.flattened(), &options).expect("no deadlock");
        let memory = run(&nisa, &link, &mut random);
        assert_eq!(expected.first_difference(&memory), None, "seed {seed}: (rank, address)");
        if link.ring() == Ring::Short && link.lines().len() == 1 {
            go_round(&nisa, &link, &mut random, &memory);
        }
        links.push(link);
    }
    links
}

#[test]
fn random_programs_end_with_the_interpreters_memory() {
    let links = compare(3000, |seed| Shape { ranks: (2, 5), ..Shape::linked(seed) });
    assert!(links.len() > 300, "only {} programs can be linked", links.len());
}

#[test]
fn long_random_programs_end_with_the_interpreters_memory() {
    let events = |seed| (30, [100, 300, 900][seed as usize / 3 % 3]);
    let shape = |seed| Shape { ranks: (2, 5), events: events(seed), ..Shape::linked(seed) };
    let links = compare(300, shape);
    let long = links.iter().filter(|link| link.lines().len() > 1).count();
    assert!(long > 30, "only {long} programs of several blocks can be linked");
}

/// A file of two ranks that exchange 8 bytes.
fn exchange() -> Arc<Nisa> {
    let text = "num_ranks 2
        rank 0 { send 0,8 to 1  recv 8,8 from 1 }
        rank 1 { send 0,8 to 0  recv 8,8 from 0 }";
    nisa(&goal_smith::on_buffers(&program(text)))
}

#[test]
fn tiny_runs_end_with_the_interpreters_memory() {
    let all = |bytes: u32| {
        let rank = |me: u32| {
            let peers = (0..3).filter(|&peer| peer != me);
            let each = peers.map(|peer| {
                format!("send 0,{bytes} to {peer}; recv {},{bytes} from {peer};", 8 + 8 * peer)
            });
            format!("rank {me} {{ {} }}", each.collect::<String>())
        };
        format!("num_ranks 3 {}", (0..3).map(rank).collect::<String>())
    };
    let sum = "num_ranks 2
        rank 0 { scratch 8; s: send 0,8 to 1; r: recv @0,8 from 1;
            e: exec sumInt64 with @0,8 0,8; requ e -> r; requ e -> s; }
        rank 1 { s: send 0,8 to 0; r: recv 8,8 from 0; }";
    for text in [&all(0), &all(8), sum] {
        let program = goal_smith::on_buffers(&program(text));
        let nisa = nisa(&program);
        let link = link_of(&nisa, &LINES).expect("it can be linked");
        assert!(Rank::new(&nisa, &link, 0).is_ok_and(|rank| rank.run.is_tiny()), "{text}");
        let options = goal_interp::Options::default();
        let expected = goal_interp::run(&program.flattened(), &options).expect("no deadlock");
        for seed in 0..50 {
            let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(seed));
            assert_eq!(expected.first_difference(&memory), None, "seed {seed}: {text}");
        }
    }
}

#[test]
fn a_message_is_combined_where_it_lies() {
    // It arrives in scratch memory, and in the place of the result.
    for (place, sum) in [("@0", "@0,8 0,8"), ("8", "0,8 8,8")] {
        let text = format!(
            "num_ranks 2
            rank 0 {{ scratch 8; s: send 0,8 to 1; r: recv {place},8 from 1;
                e: exec sumInt64 with {sum}; requ e -> r; requ e -> s; }}
            rank 1 {{ send 0,8 to 0; recv 8,8 from 0; }}"
        );
        let nisa = nisa(&goal_smith::on_buffers(&program(&text)));
        let link = link_of(&nisa, &LINES).expect("it can be linked");
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), 0, Seed::default()));
        let (linked, _) = Linked::new(schedule, &link, &[0, 1], 0, 9, 0).expect("it was linked");
        assert_eq!(linked.blocks[0].all, 0b11, "{place}");
    }
}

#[test]
fn another_signature_is_a_mismatch() {
    let nisa = exchange();
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    let mut boards = Boards::new(2);
    boards.own = 1;
    (&boards).put(0, 8, 8, 1, |bytes| bytes.fill(1));
    boards.own = 0;
    let mut rank = Rank::new(&nisa, &link, 0).expect("it was linked");
    rank.run.start(0);
    let mismatch = super::Mismatch { writer: 1, signature: 8 };
    assert_eq!(rank.run.execute(&&boards, u64::MAX, u64::MAX), Err(mismatch));
    assert!(!rank.run.has_ended());
}

/// A schedule names ranks of the job, and its link names those of the communicator.
#[test]
fn readers_are_ranks_of_the_job() {
    let of_job = |peer: u32| {
        let text = format!(
            "num_ranks 70
            rank 9 {{ send 0,8 to {peer}  recv 8,8 from {peer} }}
            rank {peer} {{ send 0,8 to 9  recv 8,8 from 9 }}"
        );
        nisa(&goal_smith::on_buffers(&program(&text)))
    };
    let link = link_of(&exchange(), &LINES).expect("it can be linked");
    let mut rank = Rank::in_job(&of_job(5), &link, &[9, 5], 0).expect("it was linked");
    let boards = Boards::new(2);
    rank.run.start(0);
    assert_eq!(rank.run.execute(&&boards, u64::MAX, u64::MAX), Ok(false));
    assert_eq!(boards.readers.get(), 1 << 5);
    let mut awaited = Vec::new();
    rank.run.awaited(|writer, position| awaited.push((writer, position)));
    assert_eq!(awaited, [(1, 0)]);
    assert!(Rank::in_job(&of_job(64), &link, &[9, 64], 0).is_err(), "no mask has a bit for it");
}

#[test]
fn a_rank_without_room_waits_for_it() {
    let nisa = exchange();
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    let boards = Boards::new(2);
    let mut rank = Rank::new(&nisa, &link, 0).expect("it was linked");
    rank.run.start(64);
    assert_eq!(rank.run.execute(&&boards, 64, u64::MAX), Ok(false));
    assert!(rank.run.waits_for_room());
    let told: Vec<String> = rank.run.underway().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "send number 0 to rank 1, tag 0, 8 bytes, waits for its receive",
            "recv number 1 from rank 1, tag 0, waits for a message"
        ]
    );
    assert_eq!(rank.run.execute(&&boards, 65, u64::MAX), Ok(false));
    assert!(!rank.run.waits_for_room());
    let mut awaited = Vec::new();
    rank.run.awaited(|writer, position| awaited.push((writer, position)));
    assert_eq!(awaited, [(1, 64)]);
}

/// Boards with a long ring in which messages of several pieces have room.
pub(super) const LONG: Lines = Lines { rings: [64, 16384], of: LINES.of };

/// A file of two ranks that exchange `bytes` bytes, and copy their own. Rank 0 adds the message to
/// its own bytes.
fn large_exchange(bytes: u64) -> Program {
    let rank = |me: u64, receive: String| {
        let values: String = (0..bytes / 8).map(|at| format!(" {}", at * at + me)).collect();
        format!(
            "rank {me} {{
                scratch {bytes}
                init 0 = Int64{values}
                send 0,{bytes} to {}
                {receive}
                exec copyUInt8 with 0,{bytes} {},{bytes}
            }}",
            1 - me,
            2 * bytes
        )
    };
    let folds = format!(
        "l1: recv @0,{bytes} from 1
        l2: exec sumInt64 with @0,{bytes} 0,{bytes} {bytes},{bytes}
        l2 requires l1"
    );
    let takes = format!("recv {bytes},{bytes} from 0");
    program(&format!("num_ranks 2 {} {}", rank(0, folds), rank(1, takes)))
}

#[test]
fn messages_in_pieces_end_with_the_interpreters_memory() {
    let mut random = fastrand::Rng::with_seed(1);
    for bytes in [32 << 10, (32 << 10) + 8, 60_000, 64 << 10, 200_000] {
        let program = goal_smith::on_buffers(&large_exchange(bytes));
        let nisa = nisa(&program);
        let link = link_of(&nisa, &LONG).expect("it can be linked");
        let expected = goal_interp::run(&program.flattened(), &goal_interp::Options::default());
        let memory = run(&nisa, &link, &mut random);
        assert_eq!(expected.expect("no deadlock").first_difference(&memory), None, "{bytes} bytes");
    }
}

#[test]
fn a_rank_writes_all_pieces_before_it_waits() {
    let nisa = nisa(&goal_smith::on_buffers(&large_exchange(64 << 10)));
    let link = link_of(&nisa, &LONG).expect("it can be linked");
    let mut boards = Boards::new(2);
    let mut ranks = [0, 1].map(|rank| Rank::new(&nisa, &link, rank).expect("it was linked"));
    for (own, rank) in ranks.iter_mut().enumerate() {
        boards.own = own;
        rank.run.start(0);
        assert_eq!(rank.run.execute(&&boards, u64::MAX, u64::MAX), Ok(own == 1));
    }
    assert_eq!([0, 1].map(|own| written(&boards, own)), [2, 2]);
    // A report names the receive once.
    let told: Vec<String> = ranks[0].run.underway().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["recv number 1 from rank 1, tag 0, waits for a message"]);
    boards.own = 0;
    assert_eq!(ranks[0].run.execute(&&boards, u64::MAX, u64::MAX), Ok(true));
}

/// Returns the number of messages and pieces that rank `own` has written.
fn written(boards: &Boards, own: usize) -> usize {
    boards.written[own].borrow().iter().flatten().count()
}

#[test]
fn one_look_executes_all_that_can_go_on() {
    let text = "num_ranks 2
        rank 0 { scratch 65536; c: exec copyUInt8 with 0,65536 @0,65536; s: send @0,65536 to 1;
            requ s -> c; recv 65536,65536 from 1; }
        rank 1 { r: recv 0,65536 from 0; s: send 0,65536 to 0; requ s -> r; }";
    let nisa = nisa(&goal_smith::on_buffers(&program(text)));
    let link = link_of(&nisa, &LONG).expect("it can be linked");
    let mut boards = Boards::new(2);
    let mut ranks = [0, 1].map(|rank| Rank::new(&nisa, &link, rank).expect("it was linked"));
    ranks.iter_mut().for_each(|rank| rank.run.start(0));
    let initial = ranks[0].run.initial();
    assert_eq!(ranks[0].run.execute(&&boards, u64::MAX, initial), Ok(false));
    assert_eq!(written(&boards, 0), 2);
    boards.own = 1;
    assert_eq!(ranks[1].run.execute(&&boards, u64::MAX, u64::MAX), Ok(true));
    assert_eq!(written(&boards, 1), 2);
}

/// The answer to a message must not wait for the sum that uses the message, since the sum waits for
/// what the peer sends after the answer.
#[test]
fn an_answer_waits_for_its_message_alone() {
    let text = "num_ranks 2
        rank 0 { scratch 8; r1: recv @0,8 from 1 tag 1; s: send 0,8 to 1 tag 2; requ s -> r1;
            r2: recv 8,8 from 1 tag 3; e: exec sumInt64 with @0,8 8,8; requ e -> r1; requ e -> r2; }
        rank 1 { send 0,8 to 0 tag 1; r: recv 8,8 from 0 tag 2; s: send 0,8 to 0 tag 3;
            requ s -> r; }";
    let program = goal_smith::on_buffers(&program(text));
    let nisa = nisa(&program);
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
    let expected = goal_interp::run(&program.flattened(), &goal_interp::Options::default());
    assert_eq!(expected.expect("no deadlock").first_difference(&memory), None);
}

#[test]
fn what_can_not_be_linked_is_refused() {
    for (text, told) in [
        (
            "rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from any }",
            "rank 1: recv number 0 from any rank, tag 0, has a wildcard",
        ),
        (
            "rank 0 { send 0,8 to 1 send 8,8 to 1 } rank 1 { recv 0,8 from 0 recv 8,8 from 0 }",
            "rank 0: send number 1 to rank 1, tag 0, 8 bytes, has the rank and the tag of an earlier send that it does not wait for",
        ),
        (
            "rank 0 { send 0,8 to 1 send 8,8 to 1 tag 1 }
             rank 1 { recv 0,8 from 0 recv 8,8 from 0 }",
            "rank 1: recv number 1 from rank 0, tag 0, has the rank and the tag of an earlier receive that it does not wait for",
        ),
        (
            "rank 0 { calc 5 } rank 1 { }",
            "rank 0: action number 0 is a calc, whose time only the engine awaits",
        ),
        (
            "rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }",
            "rank 0: send number 0 to rank 1, tag 0, 8 bytes, has several pieces, or a size only",
        ),
        (
            "rank 0 { send 0,8 to 1 } rank 1 { }",
            "rank 0: send number 0 to rank 1, tag 0, 8 bytes, has no receive",
        ),
        (
            "rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from 0 recv 8,8 from 0 tag 4 }",
            "rank 1: recv number 1 from rank 0, tag 4, has no send",
        ),
        (
            "rank 0 { send 0,8 to 1 } rank 1 { recv 0,4 from 0 }",
            "rank 0: send number 0 to rank 1, tag 0, 8 bytes, has another size than its receive: recv number 0 of rank 1 has 4 bytes",
        ),
        (
            "rank 0 { send 0,8000000 to 1 } rank 1 { recv 0,8000000 from 0 }",
            "rank 0: send number 0 to rank 1, tag 0, 8000000 bytes, is longer than 16384 bytes",
        ),
        (
            "rank 0 { nop exec divInt32 with 0,8 8,8 } rank 1 { }",
            "rank 0: action number 1 divides: only the engine can tell of a division by zero",
        ),
    ] {
        let nisa = nisa(&program(&format!("num_ranks 2 {text}")));
        let refusal = link_of(&nisa, &LINES).expect_err(told);
        assert_eq!(format!("rank {}: {refusal}", refusal.rank), told);
    }
}

#[test]
fn a_send_that_waits_for_a_receive_is_a_relay() {
    let relay = |text: &str| {
        let text =
            format!("num_ranks 2 rank 0 {{ {text} }} rank 1 {{ send 0,8 to 0 recv 8,8 from 0 }}");
        let nisa = nisa(&goal_smith::on_buffers(&program(&text)));
        let link = link_of(&nisa, &LINES).expect("it can be linked");
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), 0, Seed::default()));
        let linked = Linked::new(schedule, &link, &[0, 1], 0, 7, 0).expect("it fits");
        linked.0.relay()
    };
    assert_eq!(relay("send 0,8 to 1 recv 8,8 from 1"), None);
    assert_eq!(relay("s: send 0,8 to 1 r: recv 8,8 from 1 r requires s"), None);
    let told = "send number 2 to rank 1, tag 0, 8 bytes, waits for a receive";
    let text = "r: recv 8,8 from 1 n: nop s: send 0,8 to 1 n requires r s requires n";
    assert_eq!(relay(text).as_deref(), Some(told));
}
