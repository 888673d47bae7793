//! Compares linked runs of random programs with the reference interpreter, and looks at the limits
//! of boards.
#![allow(unsafe_code)] // binds memory of the tests

use super::{Lanes, Lines, Link, Linked, Look, Run, Unlinkable};
use crate::memory::Zeroed;
use crate::testing::{nisa, program};
use crate::{Schedule, Seed};
use goal_asm::Nisa;
use goal_lang::Program;
use goal_smith::Shape;
use std::cell::RefCell;
use std::sync::Arc;

/// Cells in memory: for each rank the lines, each with its word and its bytes.
struct Boards {
    written: Vec<RefCell<Vec<Option<Cell>>>>,
    own: usize,
}

#[derive(Clone)]
struct Cell {
    position: u64,
    signature: u16,
    bytes: Vec<u8>,
}

const LINES: Lines = Lines { rings: [64, 1024], of: |bytes| bytes.div_ceil(64).max(1) };

impl Boards {
    fn new(ranks: u32) -> Self {
        let ring = |_| RefCell::new(vec![None; LONG.rings[1] as usize]);
        Self { written: (0..ranks).map(ring).collect(), own: 0 }
    }

    fn line(position: u64) -> usize {
        (position % LONG.rings[1]) as usize
    }
}

impl Lanes for Boards {
    fn put(
        &self,
        position: u64,
        signature: u16,
        len: usize,
        _readers: u64,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let mut bytes = vec![0; len];
        fill(&mut bytes);
        let cell = Cell { position, signature, bytes };
        let mut lines = self.written[self.own].borrow_mut();
        lines[Self::line(position)] = Some(cell);
    }

    fn look(&self, writer: u32, position: u64, signature: u16) -> Look {
        let lines = self.written[writer as usize].borrow();
        match &lines[Self::line(position)] {
            Some(cell) if cell.position != position => Look::Missing,
            Some(cell) if cell.signature != signature => Look::Other(cell.signature),
            Some(_) => Look::Arrived,
            None => Look::Missing,
        }
    }

    fn read<R>(&self, writer: u32, position: u64, len: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let lines = self.written[writer as usize].borrow();
        let cell = lines[Self::line(position)].as_ref().expect("it has arrived");
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
        let schedule = Arc::new(Schedule::new(Arc::clone(nisa), rank, Seed::default()));
        let ranks: Vec<u32> = (0..nisa.num_ranks()).collect();
        let (linked, bindings) = Linked::new(Arc::clone(&schedule), link, &ranks, rank, 7, 0)?;
        let mut run = Run::new(Arc::new(linked), bindings).expect("there is memory");
        let memory = Zeroed::new(schedule.memory_size() as usize);
        // SAFETY: the memory lives as long as the run, and nobody else has it.
        unsafe {
            schedule.reset(memory.region().whole().as_mut_slice());
            run.bind(&memory.region().split(schedule.buffers()));
        }
        Ok(Self { run, memory })
    }

    fn memory(&self) -> Vec<u8> {
        // SAFETY: no run is under way.
        unsafe { self.memory.region().whole().as_slice() }.to_vec()
    }
}

/// Runs a file on linked ranks that are polled in random order. Returns their memory.
fn run(nisa: &Arc<Nisa>, link: &Link, random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let mut boards = Boards::new(nisa.num_ranks());
    let ranks = (0..nisa.num_ranks()).map(|rank| Rank::new(nisa, link, rank));
    let mut ranks: Vec<Rank> = ranks.collect::<Result<_, _>>().expect("it was linked");
    let base = random.u64(..1 << 40) / 16384 * 16384;
    let end = base + u64::from(link.lines());
    ranks.iter_mut().for_each(|rank| rank.run.start(base, end));
    for _ in 0..10_000 {
        let at = random.usize(..ranks.len());
        boards.own = at;
        // Now and then a rank has no room yet.
        let writable = if random.bool() { u64::MAX } else { base + random.u64(..4) };
        let which = if random.bool() { u64::MAX } else { ranks[at].run.initial() };
        ranks[at].run.execute(&boards, writable, which).expect("no other schedule runs");
    }
    assert!(ranks.iter().all(|rank| rank.run.has_ended()), "ranks still wait");
    ranks.iter().map(Rank::memory).collect()
}

#[test]
fn random_programs_end_with_the_interpreters_memory() {
    let mut linked = 0;
    for seed in 0..goal_filetest::seeds(3000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let shape = Shape { ranks: (2, 5), ..Shape::linked(seed) };
        let mut program = goal_smith::program(seed, &shape);
        goal_opt::run(
            &mut program,
            &goal_opt::Pipeline::new(goal_opt::Level::O1),
            &mut goal_opt::Timings::default(),
            |_, _| {},
        )
        .expect("a valid program");
        let program = goal_smith::on_buffers(&program);
        let nisa = nisa(&program);
        let Some(link) = Link::new(&nisa, &LINES) else { continue };
        linked += 1;
        let options = goal_interp::Options::default();
        let expected = goal_interp::run(&program.flattened(), &options).expect("no deadlock");
        let memory = run(&nisa, &link, &mut random);
        assert_eq!(expected.first_difference(&memory), None, "seed {seed}: (rank, address)");
    }
    assert!(linked > 300, "only {linked} programs can be linked");
}

/// A file of two ranks that exchange 8 bytes.
fn exchange() -> Arc<Nisa> {
    let text = "num_ranks 2
        rank 0 { send 0,8 to 1  recv 8,8 from 1 }
        rank 1 { send 0,8 to 0  recv 8,8 from 0 }";
    nisa(&goal_smith::on_buffers(&program(text)))
}

#[test]
fn another_signature_is_a_mismatch() {
    let nisa = exchange();
    let link = Link::new(&nisa, &LINES).expect("it can be linked");
    let mut boards = Boards::new(2);
    boards.own = 1;
    boards.put(0, 8, 8, 1, |bytes| bytes.fill(1));
    boards.own = 0;
    let mut rank = Rank::new(&nisa, &link, 0).expect("it was linked");
    rank.run.start(0, 1);
    let mismatch = super::Mismatch { writer: 1, signature: 8 };
    assert_eq!(rank.run.execute(&boards, u64::MAX, u64::MAX), Err(mismatch));
    assert!(!rank.run.has_ended());
}

#[test]
fn a_rank_without_room_waits_for_it() {
    let nisa = exchange();
    let link = Link::new(&nisa, &LINES).expect("it can be linked");
    let boards = Boards::new(2);
    let mut rank = Rank::new(&nisa, &link, 0).expect("it was linked");
    rank.run.start(64, 65);
    assert_eq!(rank.run.execute(&boards, 64, u64::MAX), Ok(false));
    assert!(rank.run.waits_for_room());
    let told: Vec<String> = rank.run.underway().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "send number 0 to rank 1, tag 0, 8 bytes, waits for its receive",
            "recv number 1 from rank 1, tag 0, waits for a message"
        ]
    );
    assert_eq!(rank.run.execute(&boards, 65, u64::MAX), Ok(false));
    assert!(!rank.run.waits_for_room());
    let mut awaited = Vec::new();
    rank.run.awaited(|writer, position| awaited.push((writer, position)));
    assert_eq!(awaited, [(1, 64)]);
}

/// Boards with a long ring in which messages of several pieces have room.
const LONG: Lines = Lines { rings: [64, 16384], of: LINES.of };

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
        let link = Link::new(&nisa, &LONG).expect("it can be linked");
        let expected = goal_interp::run(&program.flattened(), &goal_interp::Options::default());
        let memory = run(&nisa, &link, &mut random);
        assert_eq!(expected.expect("no deadlock").first_difference(&memory), None, "{bytes} bytes");
    }
}

#[test]
fn a_rank_writes_all_pieces_before_it_waits() {
    let nisa = nisa(&goal_smith::on_buffers(&large_exchange(64 << 10)));
    let link = Link::new(&nisa, &LONG).expect("it can be linked");
    let mut boards = Boards::new(2);
    let mut ranks = [0, 1].map(|rank| Rank::new(&nisa, &link, rank).expect("it was linked"));
    for (own, rank) in ranks.iter_mut().enumerate() {
        boards.own = own;
        rank.run.start(0, link.lines().into());
        assert_eq!(rank.run.execute(&boards, u64::MAX, u64::MAX), Ok(own == 1));
    }
    let pieces = |own: usize| boards.written[own].borrow().iter().flatten().count();
    assert_eq!([0, 1].map(pieces), [2, 2]);
    // A report names the receive once.
    let told: Vec<String> = ranks[0].run.underway().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["recv number 1 from rank 1, tag 0, waits for a message"]);
    boards.own = 0;
    assert_eq!(ranks[0].run.execute(&boards, u64::MAX, u64::MAX), Ok(true));
}

#[test]
fn what_can_not_be_linked_is_refused() {
    for (text, why) in [
        ("rank 0 { send 0,8 to 1 } rank 1 { recv 0,8 from any }", "a wildcard"),
        (
            "rank 0 { send 0,8 to 1 send 8,8 to 1 } rank 1 { recv 0,8 from 0 recv 8,8 from 0 }",
            "a tag twice",
        ),
        ("rank 0 { calc 5 } rank 1 { }", "a calc"),
        ("rank 0 { send 0,8 to 1 } rank 1 { }", "a message without its receive"),
        ("rank 0 { send 0,8 to 1 } rank 1 { recv 0,4 from 0 }", "another size"),
        ("rank 0 { send 0,8000000 to 1 } rank 1 { recv 0,8000000 from 0 }", "too many lines"),
    ] {
        let nisa = nisa(&program(&format!("num_ranks 2 {text}")));
        assert!(Link::new(&nisa, &LINES).is_none(), "{why}");
    }
}
