//! The harnesses for binary formats. Each function takes any bytes, and panics if a promise of
//! `goal_asm` is broken.

use goal_asm::loggopsim::{RankFile, RankRecords, Ranks};
use goal_asm::nisa::{MAGIC, reseal};
use goal_asm::{EncodeOptions, Nisa, encode, loggopsim};
use goal_lang::limits::Limits;
use goal_lang::{Action, ActionId, Body, Bytes, Payload, Pieces, Program};
use std::sync::Arc;

/// Checks a NISA file: a file that the verifier accepts is a valid program, which is the same after
/// it was encoded and decoded. Checksums are corrected first if the structure allows, so that
/// changed bytes reach the checks behind them. Returns true if the file was accepted.
pub fn nisa(bytes: &[u8]) -> bool {
    let mut sealed = bytes.to_vec();
    reseal(&mut sealed);
    if !sealed.starts_with(&MAGIC) {
        assert!(load(sealed).is_none(), "accepted without its magic number");
        return false;
    }
    let Some(nisa) = load(sealed) else { return false };
    let program = nisa.decode();
    goal_opt::verify(&program).expect("what the verifier of NISA accepts, that of programs does");
    let again = load(encoded(&program)).expect("what was encoded verifies").decode();
    assert_same(&program, &again);
    true
}

/// Checks a LogGOPSim binary: a file that can be read is a valid program. It keeps its order when
/// it is written and read again, and a second time gives equal bytes. Ranks that are read one by
/// one are those of the program. Returns true if the file was accepted.
pub fn loggopsim(bytes: &[u8]) -> bool {
    let program = loggopsim::read(bytes, &Limits::default()).ok();
    assert_ranks(bytes, program.as_ref());
    let Some(program) = program else { return false };
    goal_opt::verify(&program).expect("what is read is valid");
    if program.has_collectives() {
        // They have no place in what is written.
        return true;
    }
    let mut written = Vec::new();
    loggopsim::write(&program, &mut written).expect("written");
    let again =
        loggopsim::read(&written, &Limits::default()).expect("what was written can be read");
    assert_same(&program, &again);
    assert!(loggopsim::are_same(&program, &again), "another order");
    let mut twice = Vec::new();
    loggopsim::write(&again, &mut twice).expect("written");
    assert!(written == twice, "written again, it is another file");
    true
}

/// Checks what the readers of single ranks find: the ranks of `program`, or an error if there is
/// none.
fn assert_ranks(bytes: &[u8], program: Option<&Program>) {
    let checked = Ranks::check(bytes, &Limits::default());
    assert_eq!(checked.is_ok(), program.is_some(), "one reader accepts what the other refuses");
    if let Ok(ranks) = checked {
        for rank in 0..ranks.num_ranks() {
            assert_rows(ranks.rank(rank), program.map(|program| program.body_of(rank)));
        }
    }
    let Ok(mut file) = RankFile::open(bytes.to_vec(), &Limits::default()) else {
        assert!(program.is_none(), "the table of ranks is refused");
        return;
    };
    let mut all = true;
    for rank in 0..file.num_ranks() {
        match file.rank(rank) {
            Ok(records) => assert_rows(records, program.map(|program| program.body_of(rank))),
            Err(_) => all = false,
        }
    }
    assert_eq!(all, program.is_some(), "one reader accepts what the other refuses");
}

/// Reads all of a rank as it lies in a file, and compares it with a body.
fn assert_rows(rank: RankRecords<'_>, body: Option<&Body>) {
    let row = |waiters: &[ActionId]| waiters.iter().map(|waiter| waiter.0).collect::<Vec<u32>>();
    for index in 0..rank.len() {
        let waiters: Vec<u32> = rank.waiters(index).collect();
        let start_waiters: Vec<u32> = rank.start_waiters(index).collect();
        let Some(body) = body else { continue };
        let id = ActionId::new(index);
        assert_eq!(rank.action(index), *body.action(id));
        assert_eq!(waiters, row(body.stated_requires().row(id)));
        assert_eq!(start_waiters, row(body.stated_irequires().row(id)));
    }
}

/// Checks that a valid program is the same after it was encoded and decoded, whatever the number of
/// threads, and that its file is. Returns the file.
pub fn program(program: &Program) -> Vec<u8> {
    let bytes = encoded(program);
    let mut parallel = Vec::new();
    encode(program, &EncodeOptions { threads: 2, ..EncodeOptions::default() }, None, &mut parallel)
        .expect("fits");
    assert!(bytes == parallel, "the bytes depend on the number of threads");
    let again = load(bytes.clone()).expect("what was encoded verifies").decode();
    assert_same(program, &again);
    assert!(encoded(&again) == bytes, "a decoded program encodes to other bytes");
    bytes
}

fn encoded(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    bytes
}

fn load(bytes: Vec<u8>) -> Option<Nisa> {
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default()).ok()
}

fn assert_same(left: &Program, right: &Program) {
    assert_eq!(left.num_ranks(), right.num_ranks());
    for rank in 0..left.num_ranks() {
        let (left_body, right_body) = (left.body_of(rank), right.body_of(rank));
        let same = in_action_order(left_body).same_graph(&in_action_order(right_body));
        assert!(same, "rank {rank} has another graph");
        assert_eq!(left_body.debug.labels, right_body.debug.labels, "rank {rank}");
        let sorted = |program: &Program| {
            let mut image = program.image_of(rank).filter(|image| !image.is_empty())?.clone();
            image.init.sort_by_key(|datum| datum.addr);
            image.expect.sort_by_key(|datum| datum.addr);
            Some(image)
        };
        assert_eq!(sorted(left), sorted(right), "rank {rank}");
    }
}

/// Sorts the table of pieces into the order in which actions name them, because a file keeps no
/// other order.
fn in_action_order(body: &Body) -> Body {
    let mut ordered = body.clone();
    ordered.pieces.clear();
    let mut moved = |pieces: &mut Pieces| {
        let first = ordered.pieces.len() as u32;
        ordered.pieces.extend_from_slice(body.slice(*pieces));
        pieces.first = if pieces.len > 0 { first } else { 0 };
    };
    for action in &mut ordered.actions {
        match action {
            Action::Send { payload: Payload::Vector(pieces), .. }
            | Action::Recv { payload: Payload::Vector(pieces), .. } => moved(pieces),
            Action::Send { payload: Payload::Reduced { operands, .. }, .. } => {
                let mut pieces = Pieces { first: *operands, len: 2 };
                moved(&mut pieces);
                *operands = pieces.first;
            }
            Action::Recv { payload: Payload::Reduced { operands, .. }, .. } => {
                let mut pieces = Pieces { first: *operands, len: 1 };
                moved(&mut pieces);
                *operands = pieces.first;
            }
            Action::ExecVector { operands, .. } => operands.iter_mut().for_each(&mut moved),
            Action::User { operands, .. } => operands.iter_mut().for_each(&mut moved),
            _ => {}
        }
    }
    ordered
}
