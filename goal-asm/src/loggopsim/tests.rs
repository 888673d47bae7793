use super::*;
use crate::nisa::ReadAt;
use goal_lang::limits::{Limit, Limits};
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Payload, Placement, Program, ProgramBuilder, StatedOrder,
    topological_order,
};
use goal_smith::Shape;
use std::io;
use std::sync::Mutex;

fn two_ranks() -> Program {
    let placement = Placement { cpu: 2, nic: 1 };
    let mut first = BodyBuilder::default();
    let calc = first.action(Action::Calc { nanos: 100, placement: Placement::default() });
    let send = first.action(Action::Send {
        payload: Payload::Pattern { size: 8 },
        to: 1,
        tag: 3,
        placement,
    });
    let after = first.action(Action::Calc { nanos: 5, placement });
    first.requires(send, calc);
    first.irequires(after, send);
    first.requires(after, calc);
    let mut second = BodyBuilder::default();
    second.action(Action::Recv {
        payload: Payload::Pattern { size: 8 },
        from: goal_lang::ANY,
        tag: 3,
        placement,
    });
    let mut program = ProgramBuilder::default();
    program.rank_with(first.finish());
    program.rank_with(second.finish());
    program.finish()
}

fn written(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(program, &mut bytes).expect("written");
    bytes
}

#[test]
fn programs_return() {
    let program = two_ranks();
    let bytes = written(&program);
    assert_eq!(bytes.len(), 14 + 2 * 24 + 2 * 4 + 4 * 39 + 3 * 4);
    assert_eq!(bytes[12..14], [2, 1]);
    let again = read(&bytes, &Limits::default()).expect("read");
    assert_eq!(again.num_ranks(), 2);
    for rank in 0..2 {
        assert!(again.body_of(rank).same_graph(program.body_of(rank)), "rank {rank}");
    }
    assert!(losses(&program).is_none());
}

/// A rank with a marker, which a send of no bytes to a number of no rank is.
fn marker(to: u32) -> Program {
    let mut rank = BodyBuilder::default();
    rank.action(Action::Marker { to, tag: 7, placement: Placement { cpu: 2, nic: 1 } });
    let mut program = ProgramBuilder::default();
    program.rank_with(rank.finish());
    program.finish()
}

#[test]
fn markers_return() {
    for to in goal_lang::MARKERS {
        let program = marker(to);
        assert!(losses(&program).is_none());
        let bytes = written(&program);
        assert_eq!(bytes[12..14], [2, 1]);
        let again = read(&bytes, &Limits::default()).expect("read");
        assert!(again.body_of(0).same_graph(program.body_of(0)));
        assert!(is_written_as(&again, &bytes));
    }
}

#[test]
fn a_marker_has_no_bytes_and_a_number_of_its_own() {
    let bytes = written(&marker(9_999_999));
    // One rank with one root comes before the record.
    let record = 14 + 16 + 8 + 4;
    for (field, value, wanted) in [
        (node::BYTES, 8, "there is no rank 9999999 among 1"),
        (node::PEER, 98, "there is no rank"),
        (node::TYPE..node::TYPE + 1, node::RECV, "there is no rank 9999999 among 1"),
    ] {
        let mut changed = bytes.clone();
        changed[record + field.start] = value;
        let error = read(&changed, &Limits::default()).expect_err(wanted);
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn what_has_no_place_is_counted() {
    let mut program = two_ranks();
    program.bodies[1].actions.push(Action::Nop);
    let loss = losses(&program);
    assert_eq!(loss, Loss { operations: 1, ..Loss::default() });
    let again = read(&written(&program), &Limits::default()).expect("read");
    assert_eq!(
        again.bodies[1].actions[1],
        Action::Calc { nanos: 0, placement: Placement::default() }
    );
}

#[test]
fn every_prefix_is_refused() {
    let bytes = written(&two_ranks());
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length], &Limits::default()).is_err(), "{length} bytes");
    }
}

#[test]
fn changed_bytes_are_read_or_refused() {
    let bytes = written(&two_ranks());
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            if let Ok(program) = read(&changed, &Limits::default()) {
                goal_opt::verify(&program).expect("what is read is valid");
            }
        }
    }
}

#[test]
fn hostile_counts_are_refused() {
    let mut bytes = written(&two_ranks());
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&bytes, &Limits::default()).expect_err("4 billion ranks");
    assert_eq!(error.limit(), Some(Limit::Ranks), "{error}");
    let mut bytes = written(&two_ranks());
    let start = 8 + u64::from_le_bytes(bytes[14..22].try_into().expect("eight bytes")) as usize;
    bytes[start..start + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&bytes, &Limits::default()).expect_err("4 billion operations");
    assert!(error.to_string().contains("4294967295 operations"), "{error}");
}

/// Two independent operations and three that wait for them, in an order of its own, one dependency
/// twice.
fn in_another_order() -> Program {
    let mut rank = BodyBuilder::default();
    let ids: Vec<_> = (0..5)
        .map(|nanos| rank.action(Action::Calc { nanos, placement: Placement::default() }))
        .collect();
    for waiter in [2, 3, 4] {
        rank.requires(ids[waiter], ids[0]);
        rank.irequires(ids[waiter], ids[1]);
    }
    let mut body = rank.finish();
    let mut order = StatedOrder { roots: vec![ids[1], ids[0]], ..StatedOrder::default() };
    order.requires.push(ids[0], [4, 2, 3, 2].map(|i| ids[i]));
    order.irequires.push(ids[1], [3, 4, 2].map(|i| ids[i]));
    body.debug.order = order.boxed();
    let mut program = ProgramBuilder::default();
    program.rank_with(body);
    program.finish()
}

#[test]
fn the_stated_order_is_that_of_the_file() {
    let program = in_another_order();
    let bytes = written(&program);
    let words = |at: usize, count: usize| -> Vec<u32> {
        let words = bytes[at..at + 4 * count].chunks_exact(4);
        words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    assert_eq!(words(30, 4), [5, 2, 1, 0]);
    let appendix = 30 + 16 + 5 * node::LENGTH;
    assert_eq!(words(appendix, 7), [4, 2, 3, 2, 3, 4, 2]);
    assert_eq!(
        words(46 + 2 * node::LENGTH, 1),
        [3],
        "three dependencies, one of them stated twice"
    );
    let again = read(&bytes, &Limits::default()).expect("read");
    assert_eq!(again.bodies[0].debug.order, program.bodies[0].debug.order);
    assert!(again.bodies[0].same_graph(&program.bodies[0]), "the graph is the canonical one");
    assert_eq!(written(&again), bytes);
}

/// A body's graph with roots and rows in random orders, and some dependencies stated again.
fn shuffled(program: &mut Program, random: &mut fastrand::Rng) {
    for body in &mut program.bodies {
        let mut order = StatedOrder::default();
        let indegrees = body.indegrees();
        order.roots = body.ids().filter(|id| indegrees[id.index()] == 0).collect();
        random.shuffle(&mut order.roots);
        if order.roots.is_sorted() {
            order.roots.clear();
        }
        for (csr, stated) in
            [(&body.requires, &mut order.requires), (&body.irequires, &mut order.irequires)]
        {
            for prerequisite in body.actions.iter().enumerate().map(|(i, _)| ActionId::new(i)) {
                let mut row = csr.row(prerequisite).to_vec();
                for _ in 0..random.usize(0..3) {
                    row.extend(random.choice(csr.row(prerequisite)).copied());
                }
                random.shuffle(&mut row);
                if !row.is_sorted_by(|a, b| a < b) {
                    stated.push(prerequisite, row);
                }
            }
        }
        body.debug.order = order.boxed();
        assert!(body.debug.order.as_ref().is_none_or(|order| order.fits(body)));
    }
}

#[test]
fn random_programs_are_read_and_written_again_to_the_same_bytes() {
    let mut orders = 0;
    for seed in 0..goal_filetest::seeds(500) {
        let mut program = goal_smith::program(seed, &Shape::default());
        program.strip();
        shuffled(&mut program, &mut fastrand::Rng::with_seed(seed));
        let bytes = written(&program);
        let again = read(&bytes, &Limits::default()).expect("read");
        goal_opt::verify(&again).expect("valid");
        assert!(written(&again) == bytes, "seed {seed}");
        assert!(is_written_as(&again, &bytes) && !is_written_as(&again, &bytes[1..]));
        assert!(!is_written_as(&again, &[&bytes[..], &[0]].concat()));
        for rank in 0..program.num_ranks() {
            let (body, again) = (program.body_of(rank), again.body_of(rank));
            assert_eq!(body.debug.order, again.debug.order, "seed {seed}, rank {rank}");
            assert_eq!((&body.requires, &body.irequires), (&again.requires, &again.irequires));
            orders += u32::from(body.debug.order.is_some());
        }
    }
    assert!(orders > 500, "{orders} orders");
}

#[test]
fn an_order_of_another_graph_is_a_fault() {
    let mut program = in_another_order();
    assert!(goal_opt::verify(&program).is_ok());
    program.bodies[0].irequires = Default::default();
    assert!(goal_opt::verify(&program).is_err());
    assert!(topological_order(&program.bodies[0]).is_ok());
}

#[test]
fn ranks_with_equal_bytes_share_a_body() {
    let calc = |nanos| {
        let mut rank = BodyBuilder::default();
        rank.action(Action::Calc { nanos, placement: Placement::default() });
        rank.finish()
    };
    let mut program = ProgramBuilder::default();
    [1, 1, 2, 1].into_iter().for_each(|nanos| program.rank_with(calc(nanos)));
    let bytes = written(&program.finish());
    let again = read(&bytes, &Limits::default()).expect("read");
    assert_eq!(again.bodies.len(), 2);
    assert_eq!(written(&again), bytes);
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes, &Limits::default()).expect_err("refused").to_string()
}

#[test]
fn bytes_that_belong_to_nothing_are_refused() {
    let bytes = written(&two_ranks());
    let mut longer = bytes.clone();
    longer.extend([0; 3]);
    let error = refusal(&longer);
    assert!(error.contains("3 bytes follow the last rank"), "{error}");
    // The second rank begins four bytes later.
    let mut gap = bytes.clone();
    let start =
        ORIGIN + u64::from_le_bytes(bytes[30..38].try_into().expect("eight bytes")) as usize;
    gap.splice(start..start, [0; 4]);
    for at in [30, 38] {
        let offset = u64::from_le_bytes(gap[at..at + 8].try_into().expect("eight bytes")) + 4;
        gap[at..at + 8].copy_from_slice(&offset.to_le_bytes());
    }
    assert!(refusal(&gap).contains("4 bytes before rank 1 belong to no rank"), "{}", refusal(&gap));
    // The last rank's appendix has one entry that no operation names.
    let mut entry = bytes.clone();
    entry.extend([0; 4]);
    let end = u64::from_le_bytes(entry[38..46].try_into().expect("eight bytes")) + 4;
    entry[38..46].copy_from_slice(&end.to_le_bytes());
    assert!(
        refusal(&entry).contains("entry 0 of the appendix of rank 1 belongs to no operation"),
        "{}",
        refusal(&entry)
    );
}

#[test]
fn what_a_simulator_would_trip_over_is_refused() {
    let mut none = written(&two_ranks());
    none.truncate(HEADER_SIZE);
    none[8..12].copy_from_slice(&0u32.to_le_bytes());
    assert!(refusal(&none).contains("a file of no ranks"), "{}", refusal(&none));
    let mut low = written(&two_ranks());
    low[12] = 1;
    assert!(refusal(&low).contains("names cpu 2 or nic 1"), "{}", refusal(&low));
    let mut used_up = written(&two_ranks());
    used_up[..8].copy_from_slice(&MAGIC_USED_UP.to_le_bytes());
    assert!(refusal(&used_up).contains("--save-mem"), "{}", refusal(&used_up));
}

/// Lists of dependents may lie anywhere in the appendix, as long as no two share an entry.
#[test]
fn lists_of_another_layout_are_read() {
    let program = in_another_order();
    let mut bytes = written(&program);
    let (first, appendix) = (46, 46 + 5 * node::LENGTH);
    let lists = bytes[appendix..].to_vec();
    bytes[appendix..appendix + 12].copy_from_slice(&lists[16..]);
    bytes[appendix + 12..].copy_from_slice(&lists[..16]);
    let at = first + node::FIRST_DEPENDENT.start;
    bytes[at..at + 4].copy_from_slice(&3u32.to_le_bytes());
    let at = first + node::LENGTH + node::FIRST_START_DEPENDENT.start;
    bytes[at..at + 4].copy_from_slice(&0u32.to_le_bytes());
    let again = read(&bytes, &Limits::default()).expect("read");
    assert!(are_same(&program, &again));
    bytes[at..at + 4].copy_from_slice(&2u32.to_le_bytes());
    assert!(refusal(&bytes).contains("share an entry"), "{}", refusal(&bytes));
}

#[test]
fn the_page_has_a_row_for_every_field_of_a_record() {
    let page = include_str!("../../../docs/interop.md");
    let (_, rows) = page.split_once("A record:").expect("a table of the record");
    let one = |at: usize| at..at + 1;
    for field in [
        node::DEPENDENCIES,
        one(node::TYPE),
        node::PEER,
        node::BYTES,
        node::TAG,
        one(node::CPU),
        one(node::NIC),
        node::DEPENDENTS,
        node::FIRST_DEPENDENT,
        node::START_DEPENDENTS,
        node::FIRST_START_DEPENDENT,
    ] {
        let row = format!("\n| {} | {} |", field.start, field.len());
        assert!(rows.contains(&row), "no row {row:?}");
    }
    let types = format!("type: {} send, {} recv, {} calc", node::SEND, node::RECV, node::CALC);
    assert!(rows.contains(&types));
    assert!(page.contains(&format!("| {} *N* |", node::LENGTH)));
    assert!(page.contains(&format!("| {HEADER_SIZE} | {ENTRY_SIZE} *R* |")));
    assert!(page.contains(&format!("magic number {MAGIC}")));
}

/// Reads all ranks of a file one at a time, the last one first.
fn bodies(bytes: &[u8]) -> Result<Vec<Body>, RankFileError> {
    let mut file = RankFile::open(bytes.to_vec(), &Limits::default())?;
    let mut bodies = Vec::new();
    for rank in (0..file.num_ranks()).rev() {
        let count = file.num_actions(rank)?;
        let body = file.rank(rank)?.body();
        assert_eq!(body.len(), count as usize);
        bodies.push(body);
    }
    bodies.reverse();
    Ok(bodies)
}

#[test]
fn ranks_are_read_and_written_one_at_a_time_as_whole_files_are() {
    for seed in 0..goal_filetest::seeds(200) {
        let mut program = goal_smith::program(seed, &Shape::default());
        program.strip();
        shuffled(&mut program, &mut fastrand::Rng::with_seed(seed));
        let bytes = written(&program);
        let whole = read(&bytes, &Limits::default()).expect("read");
        let bodies = bodies(&bytes).expect("read");
        let mut out =
            RankWriter::new(io::Cursor::new(Vec::new()), whole.num_ranks()).expect("begun");
        for (rank, body) in (0..).zip(&bodies) {
            assert!(body.same_graph(whole.body_of(rank)), "seed {seed}, rank {rank}");
            assert_eq!(body.debug.order, whole.body_of(rank).debug.order, "seed {seed}");
            out.rank(body).expect("written");
        }
        assert!(out.finish().expect("written").into_inner() == bytes, "seed {seed}");
    }
}

#[test]
fn damaged_files_are_refused_one_rank_at_a_time_as_whole() {
    let bytes = written(&two_ranks());
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let whole = read(&changed, &Limits::default());
            assert_eq!(bodies(&changed).is_ok(), whole.is_ok(), "byte {at} is {value}");
        }
        assert!(bodies(&bytes[..at]).is_err(), "{at} bytes");
    }
}

/// A file that others write to while it is read.
#[derive(Debug)]
struct Changing(Mutex<Vec<u8>>);

impl ReadAt for &Changing {
    fn size(&self) -> io::Result<u64> {
        self.0.lock().expect("not poisoned").size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.lock().expect("not poisoned").read_exact_at(buffer, offset)
    }
}

#[test]
fn a_file_that_changes_is_checked_again_or_ends_too_early() {
    let bytes = written(&two_ranks());
    let changing = Changing(Mutex::new(bytes.clone()));
    let mut file = RankFile::open(&changing, &Limits::default()).expect("right");
    let before = file.rank(1).expect("right").body();
    let type_of_recv = bytes.len() - node::LENGTH + node::TYPE;
    changing.0.lock().expect("not poisoned")[type_of_recv] = 77;
    assert!(matches!(file.rank(1), Err(RankFileError::Format(_))));
    changing.0.lock().expect("not poisoned").truncate(type_of_recv);
    assert!(matches!(file.rank(1), Err(RankFileError::Io(_))));
    // The other rank is whole, and the body that was read is a copy.
    assert_eq!(file.rank(0).expect("right").len(), 3);
    assert_eq!(before.len(), 1);
}
